"""What names say: which direction a metric has, which columns are none, what was probably meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from evalstats.checks import choice, label, shown
from evalstats.errors import InputTypeError

_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORD = re.compile(r"[^\W\d_]+\d*[^\W\d_]*|\d+")


def words(name: str) -> frozenset[str]:
    """Return the words of a name: of "MetricX-24_hybrid", metricx, 24, hybrid."""
    return frozenset(_WORD.findall(name.casefold()))


_LOWER = words(
    "error errors err loss losses perplexity ppl bpb bits nll mae mse rmse ece brier ter wer cer "
    "der mer jer hter cpwer tcpwer orcwer tcorcwer mimower tcmimower dicpwer edits distance "
    "latency runtime penalty toxicity toxic failed failure failures"
)
_HIGHER = words(
    "acc accuracy bleu sacrebleu chrf comet cometkiwi xcomet bleurt bertscore gemba esa meteor "
    "rouge rougel rougelsum exact match em f1 precision recall auc auroc ndcg mrr mcc kappa "
    "correlation pass passed correct reward yisi success successes succeeded solved resolved win "
    "wins won"
)
#: Of these a name says no more than that it is one of scores.
_ANY = words("score scores scr mark marks rating ratings")
#: Numbers that are no scores, whatever else is in a table.
_NEVER = words(
    "id year date time timestamp length len words tokens characters chars n count index row line "
    "rank seed epoch run trial repeat step turn round number size version"
)
#: Words of columns of names that do not say what is named, and shorter words for what is.
_NO_NOUN = words("id ids uid uuid key index name names no number num row rows")
_NOUNS: dict[str, str | None] = dict.fromkeys(
    words(
        "segment item sample question instance example sentence utterance prompt problem line task "
        "scenario case paragraph document benchmark dataset testset"
    )
)
_NOUNS |= {"seg": "segment", "s": "segment", "utt": "utterance", "doc": "document"}
_NOUNS |= dict.fromkeys(("lp", "langpair", "languagepair", "language pair"), "language pair")
_LONGEST = 30
#: Made for scores that are better the lower, but often given with the sign turned.
_TURNED = ("metricx", "mqm")


def plain(name: str) -> str:
    """Return a name without case, blanks and punctuation: "Segment ID" is "segmentid"."""
    return "".join(c for c in name.casefold() if c.isalnum())


def direction(name: str, largest: float | None = None) -> bool | None:
    """Return whether more is better under a metric of this name; None where that is not known.

    `largest` is the largest of its scores: MetricX and MQM count errors, and where none of their
    scores is above 0 the sign was turned. A name with words for both directions says neither.

    >>> [direction(name) for name in ("word_perplexity", "WER norm", "chrF++", "judge", "score")]
    [False, False, True, None, True]
    """
    if name.endswith(("↑", "↓")):
        return name.endswith("↑")
    parts = words(name)
    stems = {*parts, *(word.rstrip("0123456789") for word in parts)}
    if any(word.startswith(_TURNED) for word in stems):
        return None if largest is None else largest <= 0 or (None if "mqm" in stems else False)
    lower = bool(stems & _LOWER) or name.casefold() == "per"
    higher = bool(stems & _HIGHER)
    if lower or higher:
        return higher if lower != higher else None
    return True if stems & _ANY else None


def is_metric(name: str) -> bool:
    """Return whether the words of a name are those of a metric: "mean BLEU" is one, "tower" not."""
    is_known = direction(name) is not None or any(w.startswith(_TURNED) for w in words(name))
    return is_known and not is_never(name)


def noun(column: str) -> str:
    """Return what a column of names has the names of; "item" where it does not say it.

    >>> [noun(name) for name in ("question_id", "Seg ID", "questionId", "id", "tweet")]
    ['question', 'segment', 'question', 'item', 'tweet']
    """
    apart = _CAPITAL.sub(" ", column.rpartition(".")[2]).casefold()
    name = " ".join(word for word in _WORD.findall(apart) if word not in _NO_NOUN)
    for stem in (name, *(name.removesuffix(end) for end in ("id", "no", "number", "name"))):
        if stem in _NOUNS:
            return _NOUNS[stem] or stem
    return name if 0 < len(name) <= _LONGEST else "item"


def is_never(name: str) -> bool:
    """Return whether a column of this name holds numbers that are no scores: "Line number"."""
    parts = words(name)
    return bool(parts) and parts <= _NEVER


def as_directions(directions: object) -> dict[str, bool]:
    """Return the directions that a caller gives, by pattern: ``{"judge": "higher"}``."""
    if directions is None:
        return {}
    if not isinstance(directions, Mapping):
        raise InputTypeError(
            f"must be a mapping from metrics to 'higher' or 'lower', got {shown(directions)}",
            argument="directions",
        )
    for name, value in directions.items():
        label(name, "names in directions")
        choice(value, ("higher", "lower"), f"directions[{name!r}]")
    return {name: value == "higher" for name, value in directions.items()}


def matches(value: str, patterns: Iterable[str]) -> bool:
    """Return whether a name is one of the patterns, or matches it as file names do in a shell."""
    return any(value == pattern or fnmatchcase(value, pattern) for pattern in patterns)
