"""All contact with sacreBLEU's private names, in one place.

sacreBLEU's split into segment statistics, sums and scores is the right one, but it is private
(leading underscores). What is used here is held by a contract test that runs over the oldest and
the newest supported version. sacreBLEU is imported when first needed: it costs 100 ms.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

from evalstats.checks import shown
from evalstats.errors import Argument, InputError, MissingExtraError

#: Where sacreBLEU's own tokenisers need a package, what to install for it.
_EXTRAS = {
    "ja-mecab": "sacrebleu[ja]",
    "ko-mecab": "sacrebleu[ko]",
    "spm": "sentencepiece",
    "flores101": "sentencepiece",
    "flores200": "sentencepiece",
    "spBLEU-1K": "sentencepiece",
}


@cache
def version() -> str:
    """Return the installed sacreBLEU's version without importing it."""
    from importlib import metadata

    try:
        return metadata.version("sacrebleu")
    except metadata.PackageNotFoundError:  # a frozen app
        import sacrebleu

        return str(sacrebleu.__version__)


def tokenizer_names() -> tuple[str, ...]:
    """Return the names of all tokenisers of the installed sacreBLEU."""
    from sacrebleu.metrics.bleu import BLEU

    return tuple(BLEU.TOKENIZERS)


def check_tokenizer(name: str) -> None:
    """Raise where `tokenizer` would, without the download of a model: a file may name any."""
    from importlib import util

    known = name in tokenizer_names() and _EXTRAS.get(name) == "sentencepiece"
    if not (known and util.find_spec("sentencepiece")):
        tokenizer(name)


@cache
def tokenizer(name: str) -> Callable[[str], str]:
    """Make sacreBLEU's tokeniser; raise for one it does not have, or whose extra is missing.

    Kept, since some of them load a model.
    """
    from sacrebleu.metrics import bleu

    names = tokenizer_names()
    if name not in names:
        raise InputError(
            f"must be one of {', '.join(names)}; got {shown(name)}", argument="tokenize"
        )
    try:
        made: Callable[[str], str] = bleu._get_tokenizer(name)()
    except (ImportError, RuntimeError) as error:
        extra = _EXTRAS.get(name, "sacrebleu's extra for it")
        raise MissingExtraError(
            Argument("tokenize", name),
            f" needs a package that is not installed: pip install '{extra}' "
            f"({str(error).strip().splitlines()[0]})",
        ) from error
    except OSError as error:
        raise InputError(
            Argument("tokenize", name), f" needs a model that could not be downloaded ({error})"
        ) from error
    return made


def chinese_ranges() -> list[tuple[str, str]]:
    """Return the ranges of characters that sacreBLEU's zh tokeniser sets apart."""
    from sacrebleu.tokenizers import tokenizer_zh

    ranges: list[tuple[str, str]] = tokenizer_zh._UCODE_RANGES
    return ranges


@cache
def tercom_tokenizer(
    normalized: bool, no_punct: bool, asian_support: bool, case_sensitive: bool
) -> Callable[[str], str]:
    """Make sacreBLEU's tokeniser of TER, without the cache that it keeps of every line."""
    from sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer

    made = TercomTokenizer(normalized, no_punct, asian_support, case_sensitive)
    return partial(TercomTokenizer.__call__.__wrapped__, made)
