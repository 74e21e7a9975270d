"""Which cells there are: one question, one population, one size each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import sha256

from benchmarks.calibration.populations import Source
from benchmarks.calibration.runs import Run
from benchmarks.calibration.texts import available

#: Trials of a cell of the subset.
N_SUBSET = 300
EN_DE, EN_ZH, EN_ES, SAMPLE = "en-de", "en-zh", "en-es", "sample"
#: A real pair of each test set whose systems are unlike in length.
UNLIKE = {
    EN_DE: ("Online-W", "Online-Y"),
    EN_ZH: ("LanguageX", "Online-Y"),
    EN_ES: ("IOL-Research", "Mistral-Large"),
    SAMPLE: ("baseline", "slightly-better"),
}


@dataclass(frozen=True)
class Cell:
    """A cell.

    `part` is "pairs", "gates", "runs" or "peers". `null` says which null hypothesis is true:
    "exchangeable", "equal scores"; or "rare failures" (equal scores, 2 % of segments at -5), "real
    difference" (none is), "margin" and "recovery" (the loss is the limit). `n`
    segments or documents are drawn.
    """

    part: str
    null: str
    source: Source | Run | str
    n: int
    unit: str = "segments"
    trials: int = 1000
    subset: bool = False

    @property
    def corpus(self) -> str:
        """The test set, or "synthetic"."""
        return self.source if isinstance(self.source, str) else self.source.corpus

    @property
    def metric(self) -> str:
        """The metric's name in the tables."""
        return "bleu" if isinstance(self.source, str) else self.source.metric

    @property
    def name(self) -> str:
        """What identifies the cell in results and regular expressions."""
        return f"{self.part}/{self.null}/{self.source}/{self.metric}/{self.n} {self.unit}"

    @property
    def seed(self) -> int:
        """A seed of its own, whatever other cells there are."""
        return int.from_bytes(sha256(self.name.encode()).digest()[:4], "big")


def listed() -> list[Cell]:
    """Return all cells, whether or not their test sets are at hand."""
    return list(_all())


def cells(subset: bool = False) -> list[Cell]:
    """Return all cells whose test sets are at hand, or the subset, which needs only the sample."""
    found = [cell for cell in listed() if available(cell.corpus)]
    if subset:
        found = [replace(cell, trials=N_SUBSET) for cell in found if cell.subset]
    return found


def _all() -> Iterator[Cell]:
    yield from _exchangeable()
    yield from _recentred()
    yield from _manipulated()
    yield from _rare()
    yield from _documents()
    yield from _real()
    yield from _gates()
    yield from _runs()
    for corpus in (EN_DE, SAMPLE):
        yield Cell("peers", "exchangeable", corpus, 2037 if corpus == EN_DE else 480, trials=2000)


def _sizes(
    null: str, source: Source, sizes: tuple[int, ...], subset: tuple[int, ...] = ()
) -> Iterator[Cell]:
    for n in sizes:
        trials = 1000 if n < 1000 else 600
        yield Cell("pairs", null, source, n, trials=trials, subset=n in subset)


def _exchangeable() -> Iterator[Cell]:
    every = (5, 10, 30, 100, 300, 1000)
    for metric in ("bleu", "chrf", "ter", "wer", "0/1", "F1"):
        source = Source("exchangeable", EN_DE, metric, "Online-A", "Online-W")
        yield from _sizes("exchangeable", source, every)
    marks = Source("synthetic", "synthetic", "marks", "marks")
    yield from _sizes("exchangeable", marks, every, subset=(30,))
    for metric in ("bleu", "0/1"):
        source = Source("exchangeable", EN_ES, metric, "Claude-3.5", "GPT-4")
        yield from _sizes("exchangeable", source, (10, 100, 1000))
        source = Source("exchangeable", SAMPLE, metric, "baseline", "clearly-better")
        yield from _sizes("exchangeable", source, (10, 100), subset=(10, 100))
    unlike = Source("exchangeable", EN_DE, "bleu", "Online-B", "", "cut .1", "lengthened")
    yield from _sizes("exchangeable", unlike, (30, 100, 300, 1000))
    for metric in ("bleu", "chrf"):
        source = Source("exchangeable", EN_ZH, metric, "AISP-SJTU", "GTCOM")
        yield from _sizes("exchangeable", source, (30, 300))


def _recentred() -> Iterator[Cell]:
    several = (10, 30, 100, 300, 1000)
    for corpus, pair, metrics in (
        (EN_ES, UNLIKE[EN_ES], ("bleu", "chrf", "ter", "wer", "0/1", "F1")),
        (EN_ES, ("Claude-3.5", "ONLINE-G"), ("bleu",)),
        (EN_ES, ("Gemini-1.5-Pro", "Llama3-70B"), ("bleu",)),
        (EN_DE, UNLIKE[EN_DE], ("bleu", "0/1")),
    ):
        for metric in metrics:
            yield from _sizes("equal scores", Source("recentred", corpus, metric, *pair), several)
    for corpus, metric, sizes in (
        (EN_DE, "chrf", (100, 300)),
        (EN_ZH, "bleu", (10, 100, 300, 1000)),
        (EN_ZH, "chrf", (100, 300)),
    ):
        source = Source("recentred", corpus, metric, *UNLIKE[corpus])
        yield from _sizes("equal scores", source, sizes)
    for metric, subset in (("bleu", (10, 100, 300)), ("chrf", ()), ("ter", (30,)), ("0/1", (30,))):
        source = Source("recentred", SAMPLE, metric, *UNLIKE[SAMPLE])
        yield from _sizes("equal scores", source, (10, 30, 100, 300), subset=subset)


def _manipulated() -> Iterator[Cell]:
    best, weaker = "Online-B", "OpenNMT"
    several = (30, 100, 300, 1000)
    for first, second, fixed, tuned in (
        (best, "", "cut .1", "lengthened"),
        (best, "", "near-empty .3", "corrupted"),
        (weaker, best, "", "cut"),
        (weaker, best, "", "lengthened"),
        (weaker, best, "", "near-empty"),
        (weaker, best, "", "corrupted"),
    ):
        source = Source("manipulated", EN_DE, "bleu", first, second, fixed, tuned)
        yield from _sizes("equal scores", source, several)
    for metric in ("chrf", "ter", "wer", "F1"):
        source = Source("manipulated", EN_DE, metric, best, "", "near-empty .3", "corrupted")
        yield from _sizes("equal scores", source, (100, 300))
    source = Source("manipulated", EN_ES, "bleu", "ONLINE-B", "", "cut .05", "lengthened")
    yield from _sizes("equal scores", source, (100, 300, 1000))
    for fixed, tuned in (("cut .06", "lengthened"), ("near-empty .3", "corrupted")):
        source = Source("manipulated", SAMPLE, "bleu", "clearly-better", "", fixed, tuned)
        yield from _sizes("equal scores", source, (100, 300), subset=(300,))


def _rare() -> Iterator[Cell]:
    for which in ("of the new", "of the old"):
        source = Source("synthetic", "synthetic", "marks", "rare failures", which)
        yield from _sizes("rare failures", source, (10, 30, 100, 300, 1000))


def _documents() -> Iterator[Cell]:
    for metric in ("bleu", "chrf"):
        for null, source in (
            ("exchangeable", Source("exchangeable", EN_ES, metric, "Claude-3.5", "GPT-4")),
            ("equal scores", Source("recentred", EN_ES, metric, *UNLIKE[EN_ES])),
        ):
            for n in (5, 10, 20, 80):
                yield Cell("pairs", null, source, n, "documents")
    source = Source("exchangeable", SAMPLE, "bleu", "baseline", "clearly-better")
    for n in (5, 10, 20):
        yield Cell("pairs", "exchangeable", source, n, "documents", subset=n in (5, 20))


def _real() -> Iterator[Cell]:
    for corpus, pair, metrics in (
        (EN_DE, ("PROMT", "JDExploreAcademy"), ("bleu", "chrf", "ter", "0/1")),
        (EN_ES, ("GPT-4", "ONLINE-A"), ("bleu",)),
        (EN_ZH, ("GTCOM", "LanguageX"), ("bleu",)),
    ):
        for metric in metrics:
            source = Source("real", corpus, metric, *pair)
            yield from _sizes("real difference", source, (30, 100, 300, 1000))
    source = Source("real", SAMPLE, "bleu", "baseline", "clearly-better")
    yield from _sizes("real difference", source, (30, 100), subset=(100,))


def _gates() -> Iterator[Cell]:
    def gates(null: str, source: Source, sizes: tuple[int, ...], subset: int = 0) -> Iterator[Cell]:
        for n in sizes:
            yield Cell("gates", null, source, n, trials=2000, subset=n == subset)

    def synthetic(metric: str, first: str, second: str = "") -> Source:
        return Source("synthetic", "synthetic", metric, first, second)

    few = (10, 30, 100, 300)
    for broken in ("breaks .05 fixes 0", "breaks .075 fixes .025"):
        yield from gates("margin", synthetic("0/1", broken), (10, 20, 30, 50, 100, 300), 30)
    yield from gates("margin", synthetic("marks", "rare failures", "of the new, a loss"), few)
    for corpus, metric, pair in (
        (EN_DE, "bleu", ("Online-B", "OpenNMT")),
        (EN_DE, "chrf", ("Online-B", "OpenNMT")),
        (EN_DE, "ter", ("Online-B", "OpenNMT")),
        (EN_DE, "0/1", ("Online-B", "OpenNMT")),
        (EN_ES, "bleu", ("ONLINE-A", "Mistral-Large")),
    ):
        sizes = (*few, 1000) if metric == "bleu" else few
        yield from gates("margin", Source("real", corpus, metric, *pair), sizes)
    real = Source("real", SAMPLE, "bleu", "clearly-better", "baseline")
    yield from gates("margin", real, few, 30)
    yield from gates("recovery", real, few, 100)
    for metric in ("bleu", "ter", "0/1"):
        source = Source("real", EN_DE, metric, "Online-B", "OpenNMT")
        yield from gates("recovery", source, few)
    yield from gates("recovery", synthetic("0/1", "breaks .05 fixes 0"), few)
    yield from gates(
        "equal scores", synthetic("marks", "rare failures", "of the old"), (10, 20, 50, 200), 20
    )
    yield from gates(
        "exchangeable", Source("exchangeable", EN_DE, "0/1", "Online-A", "Online-W"), few
    )
    yield from gates("exchangeable", synthetic("marks", "marks"), few, 10)
    for metric in ("bleu", "ter", "0/1"):
        yield from gates("equal scores", Source("recentred", EN_ES, metric, *UNLIKE[EN_ES]), few)
    for fixed, tuned in (("cut .1", "lengthened"), ("near-empty .3", "corrupted")):
        source = Source("manipulated", EN_DE, "bleu", "Online-B", "", fixed, tuned)
        yield from gates("equal scores", source, few)


def _runs() -> Iterator[Cell]:
    def run(run: Run, subset: bool = False, trials: int = 400) -> Cell:
        null = "real difference" if run.kind == "jump" else "equal scores"
        return Cell("runs", null, run, run.n, trials=trials, subset=subset)

    pair = ("OpenNMT", "Online-B")
    spanish = UNLIKE[EN_ES]
    for metric in ("bleu", "chrf", "ter"):
        yield run(Run("plateau", EN_DE, metric, *pair, 2037))
        yield run(Run("rise", EN_DE, metric, *pair, 2037))
    for n in (50, 200):
        yield run(Run("plateau", EN_DE, "bleu", *pair, n))
    for share in (0.05, 0.08, 0.12):
        for n in (500, 2037):
            yield run(Run("wobble", EN_DE, "bleu", *pair, n, cut=share))
    yield run(Run("plateau", EN_ES, "bleu", *spanish, 997))
    yield run(Run("wobble", EN_ES, "bleu", *spanish, 997, cut=0.05))
    yield run(Run("plateau", SAMPLE, "bleu", "baseline", "clearly-better", 480))
    yield run(Run("wobble", SAMPLE, "bleu", "baseline", "clearly-better", 480, cut=0.06), True)
    for after in (5, 30):
        for jump in (0.3, 0.5, 1.0):
            yield run(Run("jump", EN_DE, "bleu", *pair, 2037, jump=jump, after=after))
