"""TER (Snover et al., 2006), the counts of sacreBLEU's Tercom implementation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import flag
from evalstats.metrics.base import Floats, keep, signature_of
from evalstats.metrics.error_rates import ErrorRate
from evalstats.text import sacrebleu
from evalstats.text.ids import learn_ids, look_up_ids, shared_ids
from evalstats.text.ragged import Ragged
from evalstats.text.references import References, as_pairs
from evalstats.text.tercom.counts import translation_edits
from evalstats.text.tokenization import tercom_tokens, tokenize_blocks


@dataclass(frozen=True)
class TER(ErrorRate):
    r"""Translation edit rate: edits, shifts of whole phrases included, per reference word.

    .. math:: 100 \cdot \sum \mathrm{edits} \,/\, \sum \mathrm{ref\_len}

    with the edits against the reference that needs fewest and the average length of the references
    (Snover, Dorr, Schwartz, Micciulla and Makhoul, 2006). Lower is better; above 100 is possible.
    Parameters, defaults and numbers are sacreBLEU's (Post, 2018).

    Parameters
    ----------
    normalized : bool
        Tokenise punctuation and undo XML entities.
    no_punct : bool
        Remove punctuation.
    asian_support : bool
        With `normalized`, split CJK text into characters; with `no_punct`, remove its punctuation.
    case_sensitive : bool
        Keep case; by default everything is lowercased.

    Examples
    --------
    >>> ter = TER()
    >>> rows = ter.statistics(["on the mat sat the cat"], ["the cat sat on the mat"])
    >>> rows.tolist()
    [[2.0, 6.0]]
    >>> print(ter.score(rows.sum(axis=0)).round(2))
    33.33
    """

    normalized: bool = False
    no_punct: bool = False
    asian_support: bool = False
    case_sensitive: bool = False

    name = "TER"

    def __post_init__(self) -> None:
        for name in ("normalized", "no_punct", "asian_support", "case_sensitive"):
            keep(self, **{name: flag(getattr(self, name), name)})

    @property
    def signature(self) -> str:
        """Identity in the form of sacreBLEU's signatures."""
        return signature_of(
            case="mixed" if self.case_sensitive else "lc",
            tok="tercom",
            norm=self.normalized,
            punct=not self.no_punct,
            asian=self.asian_support,
            sacrebleu=sacrebleu.version(),
        )

    def statistics(self, hypotheses: Any, references: Any = None) -> Floats:
        """Return `(N, 2)`: edits, and the average reference length, which may be a fraction."""
        texts, refs = as_pairs(hypotheses, references)
        hyp_ids, ref_ids = self._words(texts, refs)
        edits = translation_edits(hyp_ids.take(refs.owner), ref_ids)
        fewest = np.minimum.reduceat(edits, refs.first)
        lengths = np.add.reduceat(ref_ids.lengths, refs.first) / refs.counts
        return np.stack([fewest, lengths], axis=1)

    def _refuse_fractions(self, statistics: NDArray[Any]) -> None:
        """Refuse parts of edits; the average length of several references may have some."""
        super()._refuse_fractions(statistics[..., :1])

    def _words(self, texts: list[str], refs: References) -> tuple[Ragged, Ragged]:
        """Return the ids of the words of hypotheses and of all references."""
        if not (self.normalized or self.no_punct):
            # The tokeniser only lowercases and splits at whitespace.
            return shared_ids(refs, texts, tokenize_blocks, "none", not self.case_sensitive)
        options = (self.normalized, self.no_punct, self.asian_support, self.case_sensitive)
        ids, vocabulary = refs.prepared(
            ("tercom", *options),
            # sacreBLEU tokenises references twice, and that is not always the same as once
            # ("Squire's," becomes three tokens, then four).
            lambda refs: learn_ids([tercom_tokens(refs.texts, *options, twice=True)]),
        )
        return look_up_ids([tercom_tokens(texts, *options)], vocabulary), ids
