"""Watch a training run, and say which checkpoints are really better than the best so far.

A run is evaluated again and again, and the highest of fifty noisy scores is always "a new best".
`Monitor` says at every check whether the improvement is real, and spends one significance level on
the whole run. In the end it says what the chosen checkpoint's score is worth once the choosing is
taken out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import integer, listed, real
from evalstats.errors import InputError, InputTypeError
from evalstats.inference import influence, intervals
from evalstats.metrics import Metric, as_metric
from evalstats.resampling.weights import Rng, as_seed
from evalstats.results.signatures import signature
from evalstats.statistics.segments import SegmentStatistics, group_codes
from evalstats.text.references import References
from evalstats.training.accumulator import Accumulator
from evalstats.training.curves import curve
from evalstats.training.records import Check, Chosen
from evalstats.training.selection import Bags, Contest
from evalstats.training.sequential import improvement_pvalue, spent_level

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STATE_VERSION = 1


@dataclass(frozen=True)
class _Best:
    """The last real improvement."""

    step: int
    score: float
    rows: NDArray[Any]  # (N, k)
    influence: NDArray[np.float64]  # (N,)


@dataclass(frozen=True)
class _State:
    """Everything that a check changes. Replaced as a whole, so that a check happens or does not."""

    checks: tuple[Check, ...] = ()
    best: _Best | None = None
    contest: Contest | None = None


class Monitor:
    """Say at every evaluation of a training run whether it is a real improvement.

    Parameters
    ----------
    references
        One entry per segment: a string, a list of strings with `None` for an absent one, or a
        `References`; `None` for metrics that need none (`Mean`, `Ratio`).
    metric : str or Metric
        Name or configured object.
    patience : int, optional
        `should_stop` after so many checks in a row without a real improvement; never by default.
    significance_level : float
        In (0, 1): bound on the probability that a run without any improvement reports one.
    expected_checks : int
        About how many checks there will be. Half of the level is spent on so many; there may be
        any number.
    confidence_level : float
        In (0, 1), of the intervals.
    groups : sequence, optional
        One label (a document, a speaker) per segment: whole groups are what varies.
    n_resamples : int
        Resamples behind the correction of the chosen checkpoint's score.
    rng : int or numpy.random.Generator, optional
        Their seed or generator.

    Raises
    ------
    InputError
        For bad input; the message names the argument.

    Notes
    -----
    *Real improvement.* Each check is compared with the best step: the first one, until a later one
    is a real improvement on it, and then that. The p-value is that of a paired one-sided t test on
    influence values (`evalstats.training.sequential.improvement_pvalue`), and look j may spend
    αH/((H+j-1)(H+j)) of the significance level α, H being `expected_checks`. On a plateau the
    step that all are compared with was not chosen among them, so that each look holds its level,
    and by Bonferroni's inequality the whole run claims an improvement with a probability of at
    most α. After a real improvement the best step is one that was chosen for a high score, which
    makes a later false claim less likely, not more. Small steps add up: what is compared is the
    score, not the last change.

    *The chosen checkpoint* (`chosen`) is the one with the best score of all. Its score is corrected
    by what resamples would choose, and how that scores on the segments they left out
    (`evalstats.training.selection`; Tsamardinos, Greasidou and Borboudakis, 2018). For this the
    state keeps, for each resample, the winner so far with its two scores: all checks count, and
    none of their statistics are kept.

    A check that is interrupted leaves everything as it was before.

    Examples
    --------
    >>> from evalstats.data import load_sample
    >>> sample = load_sample()
    >>> monitor = Monitor(sample.references, "bleu", patience=5)
    >>> for step, name in enumerate(("baseline", "slightly-better", "clearly-better")):
    ...     check = monitor.check(step, sample.systems[name])
    ...     print(f"{check.score:.2f} {check.pvalue:.2g} {check.improved}")
    38.95 1 False
    39.59 0.22 False
    43.98 2.1e-09 True
    >>> print(check)  # doctest: +ELLIPSIS
    step 2: BLEU 43.98 [41.89, 46.08], +5.03 against step 0, p = ...: real improvement
    >>> monitor.best_step, monitor.should_stop
    (2, False)
    >>> monitor.chosen.optimism
    0.0
    """

    def __init__(
        self,
        references: Any,
        metric: str | Metric = "bleu",
        *,
        patience: int | None = None,
        significance_level: float = 0.05,
        expected_checks: int = 20,
        confidence_level: float = 0.95,
        groups: Iterable[Hashable] | None = None,
        n_resamples: int = 250,
        rng: Rng = 12345,
    ) -> None:
        self.metric = as_metric(metric)
        if self.metric.uses_references and not isinstance(references, References):
            if references is None:
                raise InputTypeError(
                    f"references is None; {self.metric.name} needs one entry per segment"
                )
            references = References(references)
        if not self.metric.uses_references and references is not None:
            raise InputError(f"references must be None: {self.metric.name} does not use any")
        self.references: References | None = references
        self.patience = None if patience is None else integer(patience, "patience", 1)
        self.significance_level = _share(significance_level, "significance_level")
        self.expected_checks = integer(expected_checks, "expected_checks", 1)
        self.confidence_level = _share(confidence_level, "confidence_level")
        self.n_resamples = integer(n_resamples, "n_resamples", 1, 100_000)
        self.seed = as_seed(rng)
        self._codes: NDArray[np.intp] | None = None
        if groups is not None:
            labels = listed(groups, "groups", "labels, one a segment")
            self._codes = group_codes(labels, len(references or labels))
        self._bags: Bags | None = None
        self._state = _State()

    def check(self, step: int, hypotheses: Any) -> Check:
        """Score the outputs of one step and compare them with the best step so far.

        Parameters
        ----------
        step : int
            What the step is called, for example the number of updates.
        hypotheses
            N outputs, one a segment; or an `Accumulator` with ids, or a `SegmentStatistics` of one
            system, under the same metric.

        Returns
        -------
        Check

        Raises
        ------
        InputError
            For bad input; the monitor stays as it was.
        """
        step = integer(step, "step", 0)
        rows = self._rows(hypotheses)
        state = self._checked(self._state, step, rows)
        # The only change, and it is one assignment: an interruption comes before it or after it.
        self._state = state
        return state.checks[-1]

    @property
    def checks(self) -> tuple[Check, ...]:
        """All checks, in order."""
        return self._state.checks

    @property
    def last(self) -> Check | None:
        """The last check, `None` before the first."""
        return self._state.checks[-1] if self._state.checks else None

    @property
    def best_step(self) -> int | None:
        """The last real improvement, or the first step; `None` before the first check."""
        return self.last.best_step if self.last else None

    @property
    def should_stop(self) -> bool:
        """Whether the patience is used up."""
        return self.last is not None and self.last.should_stop

    @property
    def chosen(self) -> Chosen:
        """The checkpoint with the best score, corrected for the choosing.

        Raises
        ------
        InputError
            Before the first check.
        """
        contest = self._state.contest
        if contest is None:
            raise InputError("there is nothing to choose from yet; call check first")
        check = next(c for c in self.checks if c.step == contest.step and c.score == contest.score)
        optimism = contest.optimism(self.metric.higher_is_better)
        moved = -optimism if self.metric.higher_is_better else optimism
        return Chosen(
            step=contest.step,
            metric=self.metric.name,
            score=contest.score,
            standard_error=check.standard_error,
            corrected=contest.score + moved,
            low=check.low + moved,
            high=check.high + moved,
            optimism=optimism,
            agreement=contest.agreement,
            n_checks=len(self.checks),
            confidence_level=check.confidence_level,
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the run so far: `evalstats.plots.curve`; needs ``evalstats-text[plot]``.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw.

        Raises
        ------
        InputError
            Before the first check.
        MissingExtraError
            When matplotlib is not installed.
        """
        best = self._state.best
        if best is None:
            raise InputError("there is nothing to draw yet; call check first")
        return curve(self.checks, self.chosen, len(best.rows), self._unit, ax)

    @property
    def signature(self) -> str:
        """Everything that identifies the numbers, as ``key:value|key:value``."""
        options = self._options()
        return signature(
            self.metric.name,
            self.metric.signature,
            {
                "nrefs": None if self.references is None else self.references.label,
                "test": "paired-t",
                "alt": "improvement",
                "ci": "t",
                **{key: f"{options[key]:.10g}" for key in ("alpha", "checks", "level")},
                "n": str(self.n_resamples),
                "seed": str(self.seed),
                "unit": self._unit,
            },
        )

    @property
    def _unit(self) -> str:
        return "segment" if self._codes is None else "group"

    def state_dict(self) -> dict[str, Any]:
        """Return everything that the checks so far have left, as plain Python values for JSON.

        The checks, the statistics of the best step and a few numbers for each resample: about
        90 kB for BLEU on 2,000 segments and 0.5 kB for every check.
        """
        state = self._state
        return {
            "version": _STATE_VERSION,
            "options": self._options(),
            "checks": [check.to_dict() for check in state.checks],
            "best_rows": None if state.best is None else state.best.rows.tolist(),
            "contest": None if state.contest is None else state.contest.to_dict(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state_dict` returned, here or in another process.

        Parameters
        ----------
        state : mapping
            From a monitor with the same references, metric and options; `patience` and
            `confidence_level` may differ.

        Raises
        ------
        InputError
            For a state of another monitor, or something that is no state at all; this monitor
            stays as it was.
        """
        try:
            version, options = state["version"], dict(state["options"])
            checks = tuple(Check(**check) for check in state["checks"])
        except (KeyError, TypeError, ValueError) as error:
            raise _not_a_state(error) from None
        if version != _STATE_VERSION:
            raise InputError(f"state has version {version!r}, expected {_STATE_VERSION}")
        for key, mine in self._options().items():
            if key != "level" and options.get(key) != mine:
                raise InputError(
                    f"state is from a monitor with different {_OPTION_NAMES[key]}: "
                    f"{options.get(key)!r} there, {mine!r} here"
                )
        loaded = _State()
        if checks:
            try:
                rows = np.array(state["best_rows"])
                contest = Contest.from_dict(state["contest"])
                score, values, _ = self._estimated(rows)
                best = _Best(checks[-1].best_step, score, rows, values)
                loaded = _State(checks, best, contest)
            except (KeyError, TypeError, ValueError) as error:
                raise _not_a_state(error) from None
        self._state = loaded

    def _options(self) -> dict[str, Any]:
        return {
            "metric": f"{self.metric.name}|{self.metric.signature}",
            "segments": self._fingerprint(),
            "alpha": self.significance_level,
            "checks": self.expected_checks,
            "level": self.confidence_level,
            "n": self.n_resamples,
            "seed": self.seed,
        }

    def _fingerprint(self) -> str:
        """Return a digest of the references and the groups."""
        found = hashlib.sha256()
        if self.references is not None:
            for text in self.references.texts:
                encoded = text.encode("utf-8", "surrogatepass")
                found.update(f"{len(encoded)}:".encode() + encoded)
            found.update(self.references.counts.astype("<i8").tobytes())
        if self._codes is not None:
            found.update(self._codes.astype("<i8").tobytes())
        return found.hexdigest()[:16]

    def _rows(self, hypotheses: Any) -> NDArray[Any]:
        """Return the statistics of every segment or group, `(N, k)`."""
        if isinstance(hypotheses, Accumulator):
            hypotheses = self._collected(hypotheses)
        if isinstance(hypotheses, SegmentStatistics):
            table = self._given(hypotheses)
        else:
            rows = np.asarray(self.metric.statistics(hypotheses, self.references))
            table = SegmentStatistics(rows[None], ("hypotheses",), self.metric)
        expected = self._n_expected()
        if expected is not None and table.n_segments != expected:
            raise InputError(
                f"hypotheses has {table.n_segments} segments, expected {expected} as in the "
                f"references or in earlier checks"
            )
        if self._codes is not None:
            table = table.grouped(self._codes)
        if table.n_segments < 2:
            raise InputError(
                "at least 2 segments or groups are needed to say anything about uncertainty, got 1"
            )
        found: NDArray[Any] = table.values[0]
        return found

    def _collected(self, accumulator: Accumulator) -> SegmentStatistics:
        ids = accumulator.ids
        if ids is None or ids != list(range(len(ids))):
            raise InputError(
                "the Accumulator must have ids, the positions 0 to N - 1 of all segments among "
                "the references"
            )
        return accumulator.statistics()

    def _given(self, statistics: SegmentStatistics) -> SegmentStatistics:
        theirs, mine = (f"{m.name} {m.signature}" for m in (statistics.metric, self.metric))
        if theirs != mine:
            raise InputError(f"hypotheses must be statistics under {mine}, got {theirs}")
        if len(statistics.systems) != 1:
            raise InputError(
                f"hypotheses must be statistics of one system, got {len(statistics.systems)}"
            )
        return statistics

    def _n_expected(self) -> int | None:
        if self.references is not None:
            return len(self.references)
        if self._codes is not None:
            return len(self._codes)
        return None if self._state.best is None else len(self._state.best.rows)

    def _checked(self, state: _State, step: int, rows: NDArray[Any]) -> _State:
        """Return the state after one more check."""
        metric = self.metric
        if self._bags is None or self._bags.n_segments != len(rows):
            self._bags = Bags(len(rows), self.n_resamples, self.seed)
        score, own, error = self._estimated(rows)
        in_bag, out_of_bag = self._bags.scores(metric, rows)
        low, high = self._interval(score, error, len(rows))
        if state.best is None or state.contest is None:
            contest = Contest.opened(step, score, in_bag, out_of_bag)
            compared_with, improved, waited = None, False, 0
            best = _Best(step, score, rows, own)
            difference, bounds, pvalue, level = 0.0, (0.0, 0.0), 1.0, 0.0
        else:
            before, better = state.checks[-1], metric.higher_is_better
            contest = state.contest.entered(step, score, in_bag, out_of_bag, better)
            compared_with = state.best.step
            difference = score - state.best.score
            spread = influence.standard_error(own - state.best.influence)
            bounds = self._interval(difference, float(spread), len(rows))
            pvalue = improvement_pvalue(metric, state.best.rows, rows)
            level = spent_level(len(state.checks), self.significance_level, self.expected_checks)
            # Far from a linear score the p-value may see an improvement that the score does not.
            improved = pvalue <= level and (difference > 0 if better else difference < 0)
            best = _Best(step, score, rows, own) if improved else state.best
            waited = 0 if improved else before.checks_without_improvement + 1
        check = Check(
            step=step,
            metric=metric.name,
            score=score,
            low=low,
            high=high,
            standard_error=error,
            compared_with=compared_with,
            difference=difference,
            difference_low=bounds[0],
            difference_high=bounds[1],
            pvalue=pvalue,
            level=level,
            improved=improved,
            best_step=best.step,
            best_score=best.score,
            highest_step=contest.step,
            highest_score=contest.score,
            checks_without_improvement=waited,
            should_stop=self.patience is not None and waited >= self.patience,
            higher_is_better=metric.higher_is_better,
            confidence_level=self.confidence_level,
        )
        return _State((*state.checks, check), best, contest)

    def _estimated(self, rows: NDArray[Any]) -> tuple[float, NDArray[np.float64], float]:
        """Return the score, each segment's influence on it `(N,)`, and its standard error."""
        metric = self.metric
        score = float(metric.score(np.sum(rows, axis=0, dtype=np.float64)))
        (values,) = influence.influence_values(metric, rows[None])
        error = float(influence.standard_error(values))
        if not np.all(np.isfinite((score, error))):
            raise InputError(
                f"{metric.name} or its gradient is not finite; define the score for every total, "
                f"for example where a denominator is 0"
            )
        return score, values, error

    def _interval(self, observed: float, error: float, n_segments: int) -> tuple[float, float]:
        low, high = intervals.student_t(
            np.float64(observed), np.float64(error), n_segments, self.confidence_level
        )
        return float(low), float(high)


_OPTION_NAMES = {
    "metric": "metric",
    "segments": "references or groups",
    "alpha": "significance_level",
    "checks": "expected_checks",
    "n": "n_resamples",
    "seed": "rng",
}


def _not_a_state(error: Exception) -> InputError:
    return InputError(f"state must be what state_dict returned: {error!r}")


def _share(value: object, name: str) -> float:
    level = real(value, name, 0.0)
    if not 0 < level < 1:
        raise InputError(f"{name} must be between 0 and 1, got {value}")
    return level
