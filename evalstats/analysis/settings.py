"""The schema of options: what each is called, may be, is by default, and what it says.

Options are checked by this table, typed at the command line and explained in its help; it has the
defaults of signatures, and the pages list it.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, get_args

#: What decides: of intervals, and of p-values.
Method = Literal["bootstrap", "t"]
Alternative = Literal["two-sided", "greater", "less"]
AdjustmentName = Literal["max-t", "holm", "benjamini-hochberg", "none"]
N_RESAMPLES, SEED = 9999, 12345


class Setting(NamedTuple):
    """An option: its name, what it may be, its default, and a sentence.

    Its kind is the words that it may be, with "|" between them, or in capitals what is typed: a
    LEVEL or a SHARE between 0 and 1, POINTS of a metric, a number N, a NAME. Its flag is that of
    its name but where another is given.
    """

    name: str
    kind: str
    default: Any
    sentence: str
    flag: str = ""

    @property
    def words(self) -> tuple[str, ...]:
        """The words that it may be, or none."""
        return tuple(self.kind.split("|")) if self.kind.islower() else ()

    @property
    def typed(self) -> str:
        """What is typed: its flags, and what comes after them."""
        flag = self.flag or f"--{self.name.replace('_', '-')}"
        return f"{flag} {self.kind}".rstrip()

    @property
    def help(self) -> str:
        """What help says beside it: the sentence, and the default where there is one."""
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
            "label of the items, or a label a line; or two: prompt rater",
        ),
        Setting("strata", "NAME|FILE", None, "likewise a domain: drawn within each"),
        Setting("aggregate", "micro|macro", None, "over strata or tasks: all together, or means"),
        Setting("paired_runs", "", False, "run 1 of all has the same prompt, or seed"),
        Setting("baseline", "NAME", None, "compare all with it; name or path"),
        Setting("method", _words(Method), "bootstrap", "of intervals and tests"),
        Setting("alternative", _words(Alternative), "two-sided", "of the number"),
        Setting(
            "adjustment",
            _words(AdjustmentName),
            "max-t",
            "for all comparisons",
            flag="--adjustment, --adjust",
        ),
        Setting("confidence_level", "LEVEL", 0.95, "of intervals; verdicts are at 1 - LEVEL"),
        Setting("significance_level", "LEVEL", 0.05, "how often one test may be wrong"),
        Setting("margin", "POINTS", None, "the difference, or loss, that matters"),
        Setting("recovery", "SHARE", None, "of the baseline's score, to be kept"),
        Setting("n_resamples", "N", N_RESAMPLES, "how many are drawn", flag="--resamples"),
        Setting("rng", "N", SEED, "of what is drawn", flag="--seed"),
        Setting("executor", "N", None, "where to work: so many threads, or an executor"),
    )
}
#: What signatures have where nothing was asked for.
DEFAULTS = {name: setting.default for name, setting in SETTINGS.items()} | {"progress": None}
