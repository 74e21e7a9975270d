"""The schema of options: names, allowed values, defaults, and help.

This table is used for checks, the command line and its help, for defaults in signatures, and for a
table in the pages.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, get_args

#: Methods of intervals and of p-values.
Method = Literal["bootstrap", "t"]
Alternative = Literal["two-sided", "greater", "less"]
AdjustmentName = Literal["max-t", "holm", "benjamini-hochberg", "none"]
N_RESAMPLES, SEED = 9999, 12345


class Setting(NamedTuple):
    """An option: its name, allowed values, default, and a help text.

    Its kind is a list of words, with "|" between them, or a placeholder in capitals: a LEVEL or a
    SHARE between 0 and 1, POINTS of a metric, a number N, a NAME. Its flag follows from its name,
    unless another is given.
    """

    name: str
    kind: str
    default: Any
    sentence: str
    flag: str = ""

    @property
    def words(self) -> tuple[str, ...]:
        """The allowed words, or none."""
        return tuple(self.kind.split("|")) if self.kind.islower() else ()

    @property
    def typed(self) -> str:
        """Its flags and their value, as typed."""
        flag = self.flag or f"--{self.name.replace('_', '-')}"
        return f"{flag} {self.kind}".rstrip()

    @property
    def help(self) -> str:
        """Its help text with the default, if there is one."""
        if self.default is None or self.default is False:
            return self.sentence
        shown = f"default: {self.default:,}" if self.name == "n_resamples" else None
        shown = shown or f"default: {self.default}"
        return f"{self.sentence} ({shown})" if self.sentence else shown


def _words(kind: Any) -> str:
    return "|".join(get_args(kind))


SETTINGS = {
    setting.name: setting
    for setting in (
        Setting(
            "groups",
            "NAME|FILE...",
            None,
            "label such as document, or file of labels (pass two if items are grouped in two ways)",
        ),
        Setting(
            "strata",
            "NAME|FILE",
            None,
            "label, such as domain, or a file of labels; items are resampled within each stratum",
        ),
        Setting(
            "aggregate",
            "micro|macro",
            None,
            "compute a total over strata or tasks: from all items (micro), or as the mean (macro)",
        ),
        Setting(
            "paired_runs",
            "",
            False,
            "pair runs with the same number, which share a prompt or a seed",
        ),
        Setting("baseline", "NAME", None, "name (or path) of the system to compare against"),
        Setting("method", _words(Method), "bootstrap", "method for intervals and tests"),
        Setting(
            "alternative",
            _words(Alternative),
            "two-sided",
            "direction to test: greater means a higher score, even if lower is better",
        ),
        Setting(
            "adjustment",
            _words(AdjustmentName),
            "max-t",
            "adjustment of p-values for several comparisons",
            flag="--adjustment, --adjust",
        ),
        Setting("confidence_level", "LEVEL", 0.95, "level of intervals and verdicts"),
        Setting("significance_level", "LEVEL", 0.05, "error rate of a single test"),
        Setting("margin", "POINTS", None, "smallest loss or difference that matters, in points"),
        Setting("recovery", "SHARE", None, "share of the baseline's score to keep, such as 0.9"),
        Setting("n_resamples", "N", N_RESAMPLES, "number of resamples", flag="--resamples"),
        Setting("rng", "N", SEED, "random seed", flag="--seed"),
        Setting("executor", "N", None, "number of threads, or an executor"),
    )
}
#: Defaults in signatures.
DEFAULTS = {name: setting.default for name, setting in SETTINGS.items()} | {"progress": None}
