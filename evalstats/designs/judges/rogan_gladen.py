"""The rate of yes under a judge who errs, whose errors people's labels of a sample show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.checks import flag, is_missing, listed, shown
from evalstats.errors import InputError
from evalstats.metrics.base import Floats, Metric, keep
from evalstats.metrics.confusion import checked_pair
from evalstats.metrics.ratios import ratio, ratio_gradient

#: Sensitivity and specificity of less together, less 1, hardly tell yes from no.
_LITTLE = 0.2
#: Fewer labels of one kind say little of the judge's errors on it.
_FEW = 10


@dataclass(frozen=True)
class RoganGladen(Metric):
    r"""The rate of yes that people would find, from a judge of all items and labels of some.

    .. math:: \frac{p + \mathrm{spec} - 1}{\mathrm{sens} + \mathrm{spec} - 1}

    (Rogan and Gladen, 1978) with p the share of yes by the judge among all items, sens the share of
    yes by the judge where people say yes, and spec the share of no where people say no. It is
    clipped to [0, 1]; its influence values, and so errors and intervals by t, are those of the
    quotient before. Where people say yes nowhere or no nowhere, or where sens and spec sum to 1,
    the score is the share of yes among people's labels.

    The labelled items must be a random sample of the items, and as hard as the others: then sens
    and spec hold for all. A note says where the judge hardly tells yes from no, with sens + spec -
    1 below 0.2; the rate is then uncertain, and intervals are rough.

    Parameters
    ----------
    pairs : bool
        Whether an item is a pair of the judge's 0 or 1 and people's, `None` where there is no
        label, and there are no references: for several systems, each with labels of its own
        outputs. Otherwise outputs are the judge's, and references people's.

    Other values than 0 and 1 raise an `InputError` in `statistics`, and so does no label at all.

    Notes
    -----
    The page on metrics has how often intervals hold the rate, and equal systems differ. With few
    labels of one kind intervals are too short, and a note says so.

    Examples
    --------
    >>> rate = RoganGladen()
    >>> rows = rate.statistics([1, 1, 0, 1, 0, 1, 0, 0], [1, 0, 0, 1, 1, 1, 0, None])
    >>> rows[0].tolist()   # items, judged yes, labelled yes, both yes, labelled no, both no
    [1, 1, 1, 1, 0, 0]
    >>> print(rate.score(rows.sum(axis=0)).round(4))
    0.4
    """

    pairs: bool = False

    name = "corrected rate"
    columns = ("items", "judged yes", "labelled yes", "both yes", "labelled no", "both no")
    counts = True
    reads_text: ClassVar[bool] = False
    doubt = (
        f"the judge hardly tells yes from no (sensitivity + specificity - 1 is below {_LITTLE:g}), "
        f"or fewer than {_FEW} labels are yes, or no, so that rates are uncertain and intervals "
        f"too short (of four labels of no .84 held where .95 should); label more items, or judge "
        f"better"
    )

    def __post_init__(self) -> None:
        pairs = flag(self.pairs, "pairs")
        keep(self, pairs=pairs, entry_depth=int(pairs), uses_references=not pairs)

    @property
    def signature(self) -> str:
        """Identity: the estimator, and how labels come."""
        return "rogan-gladen" + ("|pairs:yes" if self.pairs else "")

    def statistics(self, hypotheses: Any, references: Any = None) -> NDArray[np.int64]:
        """Return `(N, 6)`, the `columns` of each of N items."""
        if self.pairs:
            rows = [
                listed(row, f"hypotheses[{i}]", "the judge's and people's 0 or 1")
                for i, row in enumerate(listed(hypotheses, "hypotheses", "pairs"))
            ]
            for i, row in enumerate(rows):
                if len(row) != 2:
                    raise InputError(
                        f"hypotheses[{i}] must be a pair, the judge's 0 or 1 and people's or None, "
                        f"got {shown(row)}"
                    )
            judged, labelled = [row[0] for row in rows], [row[1] for row in rows]
        else:
            judged, labelled = checked_pair(hypotheses, references, "people's 0, 1 or None")
        names = ("hypotheses", "hypotheses") if self.pairs else ("hypotheses", "references")
        yes = _marks(judged, names[0], False) == 1
        labels = _marks(labelled, names[1], True)
        if not np.any(labels >= 0):
            raise InputError(
                f"{names[1]} has no label; give people's 0 or 1 for a random sample of the items",
            )
        people, nobody = labels == 1, labels == 0
        parts = (np.ones_like(yes), yes, people, people & yes, nobody, nobody & ~yes)
        return np.stack(parts, axis=-1).astype(np.int64)

    def check_statistics(self, statistics: NDArray[Any]) -> None:
        """Refuse parts that are more than their whole."""
        super().check_statistics(statistics)
        items, yes, people, both, nobody, neither = (statistics[..., j] for j in range(6))
        more = (yes > items) | (people + nobody > items) | (both > people) | (neither > nobody)
        self._refuse(more, "has parts that are more than their whole")

    def score(self, totals: ArrayLike) -> Floats:
        """Return the rate of yes, `(..., 6) -> (...)`, in [0, 1]."""
        sums = np.asarray(totals, dtype=np.float64)
        top, bottom, defined = _sides(sums)
        labelled = ratio(sums[..., 2], sums[..., 2] + sums[..., 4], 0.0)
        return np.where(defined, np.clip(ratio(top, bottom, 0.0), 0.0, 1.0), labelled)

    def gradient(self, totals: ArrayLike) -> Floats:
        """Return the gradient of the quotient before it is clipped, `(..., 6) -> (..., 6)`."""
        sums = np.asarray(totals, dtype=np.float64)
        items, yes, people, both, nobody, neither = (sums[..., j] for j in range(6))
        top, bottom, defined = _sides(sums)
        by_top, by_bottom = ratio_gradient(top, np.where(defined, bottom, 0.0), 1.0)
        by_yes, by_items = ratio_gradient(yes, items, 1.0)
        by_both, by_people = ratio_gradient(both, people, 1.0)
        by_neither, by_nobody = ratio_gradient(neither, nobody, 1.0)
        corrected = np.stack(
            [
                by_top * by_items,
                by_top * by_yes,
                by_bottom * by_people,
                by_bottom * by_both,
                (by_top + by_bottom) * by_nobody,
                (by_top + by_bottom) * by_neither,
            ],
            axis=-1,
        )
        # Of the share of labels, where that is the score.
        by_part, by_whole = ratio_gradient(people, people + nobody, 1.0)
        share = np.zeros_like(corrected)
        share[..., 2], share[..., 4] = by_part + by_whole, by_whole
        return np.where(defined[..., None], corrected, share)

    def doubtful(self, totals: Floats) -> NDArray[np.bool_]:
        """Return of which systems the judge, or few labels, hardly tell yes from no, `(S,)`."""
        _, bottom, defined = _sides(totals)
        is_few = np.minimum(totals[..., 2], totals[..., 4]) < _FEW
        return np.asarray(~defined | (bottom < _LITTLE) | is_few)


def _sides(sums: Floats) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Return p + spec - 1, sens + spec - 1, and where their quotient is defined, `(...)` each."""
    items, yes, people, both, nobody, neither = (sums[..., j] for j in range(6))
    judged, sens, spec = (ratio(*x, 0.0) for x in ((yes, items), (both, people), (neither, nobody)))
    bottom = sens + spec - 1
    defined = (items > 0) & (people > 0) & (nobody > 0) & (np.abs(bottom) > 1e-12)
    return judged + spec - 1, bottom, defined


def _marks(values: list[Any], name: str, may_lack: bool) -> NDArray[np.int64]:
    """Return 0 and 1 for no and yes, -1 where there is no label, `(N,)`."""
    codes = np.full(len(values), -1, dtype=np.int64)
    for i, value in enumerate(values):
        if may_lack and is_missing(value):
            continue
        try:
            known = bool(value in (0, 1))
        except (TypeError, ValueError):
            known = False
        if not known:
            what = "0, 1 or None" if may_lack else "0 or 1"
            raise InputError(f"{name}[{i}] must be {what}, got {shown(value)}")
        codes[i] = int(value)
    return codes
