"""Options of an analysis: which there are, their other spellings, and their ranges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evalstats.checks import integer, share
from evalstats.errors import InputError
from evalstats.inference.multiplicity import ADJUSTMENTS as _ADJUSTMENTS
from evalstats.inference.significance import ALTERNATIVES as ALTERNATIVES
from evalstats.resampling.executors import Tell, as_workers
from evalstats.resampling.totals import KINDS, MOST_RESAMPLES, as_kind
from evalstats.resampling.weights import as_seed

METHODS = ("auto", "expanded", "percentile", "basic", "bca", "studentized", "t", "hall")
#: Their corrections are derived for it, or they do not resample at all.
_OF_THE_PLAIN_BOOTSTRAP = ("bca", "studentized", "t", "hall")
TESTS = ("studentized", "ar", "bootstrap")
#: Of 0/1 scores only, for which "studentized" is McNemar's exact test.
MID_P = "mid-p"
ADJUSTMENTS = ("max-t", *_ADJUSTMENTS)
FAMILIES = ("metric", "all")
INTERVALS = ("individual", "simultaneous")
#: Other spellings, after lowercasing and with blanks for "-" and "_".
_SPELLINGS = {
    "expanded percentile": "expanded",
    "studentised": "studentized",
    "bootstrap t": "studentized",
    "approximate randomization": "ar",
    "approximate randomisation": "ar",
    "randomization": "ar",
    "bs": "bootstrap",
    "midp": MID_P,
    "mid p": MID_P,
    "paired bootstrap": "bootstrap",
    "two sided": "two-sided",
    "maxt": "max-t",
    "max t": "max-t",
    "step down max t": "max-t",
    "romano wolf": "max-t",
    "bh": "benjamini-hochberg",
    "fdr bh": "benjamini-hochberg",
    "benjamini hochberg": "benjamini-hochberg",
}


@dataclass(frozen=True)
class Plan:
    """The options that `estimate` and `compare` share, checked and in one spelling."""

    method: str
    confidence_level: float
    n_resamples: int
    seed: Any  # int, made of what was given as rng
    kind: str  # of weights
    n_draws: int | None
    executor: Any  # Executor, or number of threads
    progress: Any = None  # called as progress(done, total, label)

    def __post_init__(self) -> None:
        method = option(self.method, METHODS, "method")
        kind, n_draws = as_kind(option(self.kind, KINDS, "weights"), self.n_draws, None)
        if n_draws == 1:
            raise InputError("n_draws must be at least 2, got 1")
        if method in _OF_THE_PLAIN_BOOTSTRAP and (kind, n_draws) != ("multinomial", None):
            raise InputError(
                f"method {method!r} needs multinomial weights with N draws; with others use "
                f"{', '.join(m for m in METHODS if m not in _OF_THE_PLAIN_BOOTSTRAP)}"
            )
        vars(self).update(
            method=method,
            confidence_level=share(self.confidence_level, "confidence_level"),
            n_resamples=integer(self.n_resamples, "n_resamples", 2, MOST_RESAMPLES),
            seed=as_seed(self.seed),
            kind=kind,
            n_draws=n_draws,
            executor=as_workers(self.executor),
        )

    def tell(self, label: str) -> Tell:
        """Return what to call as ``tell(done, total)`` while work of this name goes on."""
        progress = self.progress
        return progress and (lambda done, total: progress(done, total, label))


def option(value: object, options: tuple[str, ...], name: str) -> str:
    """Return the option that was meant, or say which there are."""
    if isinstance(value, str):
        spelled = value.lower()
        spelled = _SPELLINGS.get(spelled.replace("-", " ").replace("_", " "), spelled)
        if spelled in options:
            return spelled
    raise InputError(f"{name} must be one of {', '.join(options)}; got {value!r}")
