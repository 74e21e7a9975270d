"""The jobs: a source, the size of a sample, a question, and the number of trials.

Heavy ones come first, so that no process works alone for long at the end. Trials have standard
errors of .009 (600), .007 (1,000) and .011 (400) at a rate of .05.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from hashlib import sha256
from itertools import product
from typing import Any, NamedTuple

from benchmarks.calibration import designs, growing, questions, simulated
from benchmarks.calibration.designs import Apart
from benchmarks.calibration.populations import Real
from benchmarks.calibration.samples import Happened
from benchmarks.calibration.simulated import Made
from benchmarks.corpora import available

DE, ZH, ES, AR, SAMPLE = "wmt22/en-de", "wmt22/en-zh", "wmt24/en-es", "wmt25/en-ar_EG", "sample"
CS = "wmt22/cs-en"
#: Three metrics of one call; Chinese has characters in place of words.
THREE, CHINESE = ("bleu", "chrf", "ter"), ("bleu", "chrf", "cer")
BLEU, KIWI = ("bleu",), ("CometKiwi-XL",)
#: Good systems of WMT24 that are no copies of one another.
NINE = ("Claude-3.5", "CommandR-plus", "Dubformer", "GPT-4", "Gemini-1.5-Pro", "IOL-Research")
NINE += ("ONLINE-A", "ONLINE-B", "ONLINE-G")
ALIKE, UNLIKE = ("baseline", "clearly-better"), ("baseline", "slightly-better")
FIVES = (5,) * 20
#: Another number gives all jobs fresh seeds.
RECORD = 2


class Job(NamedTuple):
    """Its cells are named "kind / row / source / metric"; a row of a table is their mean."""

    kind: str
    row: str
    #: `corpus` is the test set that it needs, or "".
    source: Real | Made | Apart | designs.Metrics | designs.Part
    n: Any
    question: Callable[..., Happened] = questions.tests
    trials: int = 600
    subset: bool = False

    @property
    def name(self) -> str:
        """What its cells' names begin with."""
        return f"{self.kind} / {self.row} / {self.source}"

    @property
    def seed(self) -> int:
        """A seed of its own, whatever other jobs there are."""
        return int.from_bytes(sha256(f"{RECORD} {self.name}".encode()).digest()[:4], "big")


def jobs(subset: bool = False, every: bool = False) -> list[Job]:
    """Return the jobs whose data is at hand, or all, or the subset, which needs no files."""
    kinds = (
        *(_families, _real, _brackets, _numbers, _shares, _unpaired, _looks, _predictions),
        *(_metrics, _plans, _limits),
    )
    listed = [job for kind in kinds for job in kind()]
    return [x for x in listed if (every or available(x.source.corpus)) and (x.subset or not subset)]


def _families() -> Iterator[Job]:
    for n, null in product((457, 100, 50), ("exchangeable", "equal")):
        many, nine = Real(AR, KIWI, ("first 26",), null), Real(DE, BLEU, (), null)
        for k, source in ((26, many), (9, nine)):
            yield Job("families", f"{k} systems, {null}, N = {n}", source, n, questions.family, 400)
    # Held out, as WMT22 cs-en and ja-en below: no rule was chosen on these.
    held_out = Real("wmt25/cs-de_DE", KIWI, ("first 26",), "equal")
    yield Job("families", "26 systems, equal, N = 457", held_out, 457, questions.family, 400)
    source = Real(ES, BLEU, NINE, "exchangeable", "documents")
    row = "9 systems, exchangeable, 40 documents"
    yield Job("families", row, source, 40, questions.family, 400)
    made = Made(simulated.family, (9,))
    yield Job("families", "9 systems, equal, N = 50", made, 50, questions.family, 400, True)
    for (k, n, size), spread in product(((20, 300, 20), (6, 150, 6)), (0.0, 0.5, 1.0)):
        made = Made(simulated.arena, (k, size, spread))
        row = f"{k} equal systems, {n} prompts of {size} battles, spread {spread}"
        yield Job("arenas", row, made, n, questions.strengths, 400, k == 6 and spread == 1)
    both = product((0.7, 0.0), repeat=2)
    for (n, size, n_voters), (spread, of_voters) in product(((60, 6, 25), (100, 12, 40)), both):
        made = Made(simulated.arena, (6, size, spread, (n_voters, of_voters)))
        row = f"{n} prompts of {size} battles, spread {spread}, {n_voters} voters, {of_voters}"
        yield Job("arenas", row, made, n, questions.strengths, 600)
    pair = Real(DE, BLEU, ("OpenNMT", "Online-B"))
    for name, n in (("jump", 2037), ("plateau", 1000), ("plateau", 200), ("rise", 500)):
        yield Job("Monitor", f"{name}, N = {n}", pair, n, getattr(growing, name), 400)
    source = Real(SAMPLE, BLEU, UNLIKE, "equal")
    yield Job("Monitor", "wobble, N = 200", source, 200, growing.wobble, 400, True)
    steps = Made(simulated.numbers, ("normal",))
    yield Job("Monitor", "only the first never falls, N = 1000", steps, 1000, growing.unlike, 400)
    for n in (200, 600, 1000):
        row = f"every step falls on 2 %, N = {n}"
        yield Job("Monitor", row, steps, n, growing.falls, 400)
    yield Job("peers", "N = 2,037", Real(DE, BLEU), 2037, questions.peers, 2000)
    for corpus, n in ((DE, 300), (DE, 50), (SAMPLE, 100)):
        job = Job("ranks", f"N = {n}", Real(corpus, BLEU), n, questions.ranks, 400)
        yield job._replace(subset=corpus == SAMPLE)


def _real() -> Iterator[Job]:
    for n in (300, 100, 30):
        for source in (
            Real(DE, THREE, ("Online-W", "Online-Y"), "equal"),
            Real(ZH, CHINESE, ("LanguageX", "Online-Y"), "equal"),
            Real(ES, THREE, ("IOL-Research", "Mistral-Large"), "equal"),
            Real("wmt22/cs-en", THREE, ("Online-W", "Online-G"), "equal"),
            Real("wmt22/ja-en", THREE, ("Online-A", "Online-Y"), "equal"),
            Real(DE, THREE, ("Online-A", "Online-W"), "exchangeable"),
            Real(SAMPLE, THREE, ALIKE, "exchangeable"),
            Real(ES, THREE, ("GPT-4", "ONLINE-A")),
        ):
            only = {"wmt22/cs-en": 100, "wmt22/ja-en": 100, SAMPLE: 100}.get(source.corpus, n)
            if n == only and not (n == 300 and source.null == "real"):
                row, small = f"{source.null}, N = {n}", source.corpus == SAMPLE
                question = questions.tests if source.null == "real" else questions.all_tests
                yield Job("pairs", row, source, n, question, 600, small)
    for source, sizes in (
        (
            Real(ES, THREE[:2], ("IOL-Research", "Mistral-Large"), "real", "documents"),
            (80, 40, 20, 10),
        ),
        (Real(ES, THREE[:2], ("Claude-3.5", "ONLINE-G"), "equal", "documents"), (80, 20)),
        (Real(AR, KIWI, ("Algharb", "Claude-4"), "real", "documents"), (80, 20)),
    ):
        for n in sizes:
            yield Job("documents", f"{source.null}, {n} documents", source, n)
    for corpus, metric, systems, n, unit in (
        (DE, "bleu", ("Online-B", "Online-Y"), 300, "segments"),
        (DE, "chrf", ("Online-B", "Online-Y"), 300, "segments"),
        (ES, "0/1", ("Llama3-70B", "NVIDIA-NeMo"), 300, "segments"),
        (ES, "bleu", ("Claude-3.5", "IOL-Research"), 100, "documents"),
        (AR, "CometKiwi-XL", ("Gemma-3-27B", "SRPOL"), 80, "documents"),
        (SAMPLE, "bleu", ALIKE, 60, "segments"),
    ):
        source, small = Real(corpus, (metric,), systems, "real", unit), corpus == SAMPLE
        row = f"{metric}, {n} {unit}, {corpus}"
        yield Job("power", row, source, n, questions.power, 1000, small)
    for metric, kind, n in (
        *product(["bleu"], ["margin", "recovery"], [300, 30]),
        *product(["bleu", "chrf"], ["margin"], [100]),
    ):
        source, question = Real(DE, (metric,), ("Online-B", "OpenNMT")), getattr(questions, kind)
        yield Job("gates", f"{kind}, {metric}, N = {n}", source, n, question, 1000)
    source = Real(DE, BLEU, ("Online-A", "Online-W"), "exchangeable", differ=12)
    yield Job("few differing", "12 of 300", source, 300, trials=1000)


def _brackets() -> Iterator[Job]:
    """Yield pilots of real systems, of which each knows so much of its population."""
    for source, sizes in (
        (Real(DE, THREE, ("Online-W", "Online-Y")), (300, 100)),
        (Real(DE, THREE, ("OpenNMT", "Online-B")), (300, 100)),
        (Real(ZH, CHINESE, ("LanguageX", "Online-Y")), (300, 100)),
        (Real(ZH, CHINESE, ("Manifold", "HuaweiTSC")), (300, 100)),
        (Real(ES, THREE, ("IOL-Research", "Mistral-Large")), (300, 100)),
        (Real(ES, THREE, ("GPT-4", "ONLINE-A")), (300, 100)),
        (Real(SAMPLE, THREE, ALIKE), (100,)),
        (Real(ES, THREE, ("IOL-Research", "Mistral-Large"), "real", "documents"), (80,)),
        (Real(AR, KIWI, ("Algharb", "Claude-4"), "real", "documents"), (80,)),
    ):
        for n in sizes:
            row, small = f"{n} {source.unit}", source.corpus == SAMPLE
            yield Job("brackets", row, source, n, questions.brackets, 400, small)


def _numbers() -> Iterator[Job]:
    for kind, sizes in (
        ("normal", (10, 1000)),
        ("normal", (20, 200, 2000)),
        ("normal", (10, 30, 100, 300, 1000, 2000)),
        ("skewed", (20, 200, 2000)),
    ):
        row, made = f"{kind}, {' + '.join(map(str, sizes))} items", Made(simulated.total, (kind,))
        yield Job("totals", row, made, sizes, subset=len(sizes) == 2)
    for n in (20, 10):
        row, made = f"equal, {n} documents", Made(simulated.documents)
        yield Job("documents", row, made, n, trials=1000, subset=n == 20)
    for n_raters, *sds in product((10, 5), (0.7, 0.0), (0.7, 0.0)):
        made = Made(simulated.crossed, (n_raters, *sds))
        row = f"60 prompts, spread {sds[0]}, {n_raters} raters, {sds[1]}"
        yield Job("crossed", row, made, 60, trials=1000, subset=n_raters == 10 and all(sds))
    for n, m, sizes in (
        *product([2000], [8, 12], ["exponential"]),
        *product([300], [8, 20], ["exponential", "lognormal"]),
    ):
        made, small = Made(simulated.few_differ, (m, sizes), sizes), (n, m) == (300, 20)
        yield Job("few differing", f"{m} of {n}", made, n, trials=1000, subset=small)
    for n, kind in ((30, "normal"), (30, "Student's t"), (30, "skewed"), (100, "lognormal 1")):
        made = Made(simulated.numbers, (kind,))
        yield Job("tails", f"{kind}, N = {n}", made, n, trials=1000, subset=kind == "normal")
    for n, kind in ((100, "perplexity"), (500, "macro-F1")):
        yield Job("tails", f"{kind}, N = {n}", Made(simulated.items, (kind,)), n)
    for shape in ((0.6, 0.8), (0.4, 0.4), (1, 1), (2, 1), (0.9, 0.3), (4, 1), (0.3, 1.2)):
        made = Made(simulated.trials, (4, *shape))
        yield Job("trials", f"50 x 4, rates {shape}", made, 50, trials=1000, subset=shape == (1, 1))
    for shape in ((0.6, 0.8), (0.3, 1.2), (4, 1), (0.9, 0.3)):
        made = Made(simulated.fixed, (4, *shape))
        yield Job("trials", f"these 50 x 4, rates {shape}", made, 50, trials=1000)
    for shape in ((0.6, 0.8), (1e6, 1e6), (1e6, 2.5e5)):
        made = Made(simulated.trials, (5, *shape))
        row, small = f"20 x 5, rates {shape}", shape[0] == shape[1]
        yield Job("cases", row, made, 20, questions.cases, 1000, small)
    for labelled, kind in (
        *product((10, 20, 50, 100), ("0/1", "numbers")),
        *product((20, 40), ("groups",)),
    ):
        row, n = f"{kind}, {labelled} labelled", 250 if kind == "groups" else 1000
        made, small = Made(simulated.judged, (labelled, kind)), labelled == 100
        yield Job("judged", row, made, n, trials=1000, subset=small)
    for kind, labelled in product(("two judges", "both partial 0.04"), (50, 100)):
        made = Made(simulated.judged, (labelled, kind))
        yield Job("judged", f"{kind}, {labelled} labelled", made, 2000, trials=1000)
    for part, labelled in ((0.04, 10), *product((0.04, 0.02), (50, 100, 200))):
        made = Made(simulated.judged, (labelled, f"partial {part}"))
        yield Job("judged", f"partial on {part}, {labelled} labelled", made, 2000, trials=1000)
    for n_runs, spread in (*product((2, 3, 5), (0.0, 0.1)), (3, 0.3), (5, 0.3)):
        made = Made(simulated.several_runs, (n_runs, spread))
        row = f"{n_runs} runs, spread {spread}"
        yield Job("runs", row, made, 100, trials=1000, subset=n_runs == 3)
    for n_runs, sd in ((2, 0.0), (3, 0.0), (5, 0.0), (5, 0.3)):
        row, made = f"{n_runs} prompts, own {sd}", Made(simulated.prompts, (n_runs, sd))
        yield Job("paired runs", row, made, 100, trials=1000, subset=n_runs == 3)


def _shares() -> Iterator[Job]:
    for true, n in (
        *product([(0.8, 0.8)], [12, 30, 100]),
        *product([(0.9, 0.7)], [12, 30]),
        *product([(0.95, 0.95)], [12, 100]),
    ):
        made, small = Made(simulated.shares, true, f"shares {true}"), n == 30 and true[0] == 0.8
        yield Job("0/1", f"N = {n}", made, n, trials=1000, subset=small)
    for share, sizes in ((0.8, FIVES), (0.95, FIVES), (0.8, (2, 4, 6, 8, 20) * 4)):
        made = Made(simulated.grouped, (share, share), f"shares {share}")
        row, small = f"20 groups, {sum(sizes)} items", share == 0.8 and sizes == FIVES
        yield Job("0/1", row, made, sizes, trials=1000, subset=small)
    for shape, true in (((90, 20), 0.98), ((90, 20), 0.99), ((30, 10), 0.9)):
        made = Made(simulated.alike, (true, 1 / 3), f"shares {true}")
        row = f"{shape[0]} groups of {shape[1]}, a third alike"
        yield Job("0/1", row, made, shape, trials=1000)
    made = Made(simulated.stratified, ((0.9, 0.8), (0.7, 0.7), (0.8, 0.6)))
    yield Job("0/1", "strata of 20, 30, 50", made, (20, 30, 50), trials=1000)
    for true, sizes in (
        ((0.8, 0.8), (20, 20)),
        ((0.9, 0.9), (50, 50, 200)),
        ((0.8, 0.7), (20, 2000)),
        ((0.95, 0.95), (10, 1000)),
    ):
        row = f"0/1, {' + '.join(map(str, sizes))} items"
        made = Made(simulated.total, ("0/1", *true))
        yield Job("totals", row, made, sizes, subset=sizes == (20, 20))
    for share, changed, sizes in ((0.7, 0.004, (500, 500)), (0.8, 0.01, (150, 150))):
        # What a quantised model may do: nearly all answers stay.
        row = f"0/1, {' + '.join(map(str, sizes))} items, {100 * changed:g} % drawn again"
        made = Made(simulated.redrawn, (share, changed))
        yield Job("totals", row, made, sizes, subset=share == 0.7)
        if share == 0.7:
            question = partial(questions.within, size=0.02)
            yield Job("gates", f"right, {row}", made, sizes, question, 1000)
    loss = (0.9, 0.85)
    for row, make, arguments, n, question in (
        ("margin, 0/1, N = 30", simulated.shares, loss, 30, questions.margin),
        ("margin, 0/1, N = 100", simulated.shares, loss, 100, questions.margin),
        ("recovery, 0/1, N = 100", simulated.shares, loss, 100, questions.recovery),
        ("margin, 0/1, 20 groups of 5", simulated.grouped, loss, FIVES, questions.margin),
        ("margin, 0/1, 20 + 20 items", simulated.total, ("0/1", *loss), (20, 20), questions.margin),
    ):
        yield Job("gates", row, Made(make, arguments), n, question, 1000, n == 100)

    shapes = ((60, 5), (200, 5), (400, 5), (100, 10), (90, 20))
    for whole, shape in product((0.0, 0.5, 1.0), shapes):
        made = Made(simulated.lost, (0.0115, whole))
        row = f"margin, {shape[0]} groups of {shape[1]}, {100 * whole:g} % lost whole"
        yield Job("gates", row, made, shape, questions.margin, 1000)

    hard = ((0.1, 0.5), (0.05, 0.7, 0.03))
    for shape, arguments in product(((50, 12), (90, 20), (30, 20)), hard):
        margin, whole, *changed = arguments
        row = f"margin {margin}, {shape[0]} groups of {shape[1]}, {100 * whole:.0f} % lost whole"
        made = Made(simulated.lost, arguments)
        job = Job("hard gates", row + ", others change" * len(changed), made, shape)
        yield job._replace(question=questions.margin, trials=1000, subset=shape == (30, 20))
    kinds = ("normal", "marks", "beta (5, 1)", "lognormal 0.5", "lognormal 1", "far falls")
    for n, kind in product((30, 100), kinds):
        made = Made(simulated.towards_worst, (kind,))
        name = "numbers" if kind in kinds[:4] else "hard numbers"
        yield Job(name, f"{kind}, N = {n}", made, n, questions.number, 2000, n == 100)
    several = ((5,) * 12, (5,) * 40, (5,) * 100, (20,) * 30, tuple(range(1, 20)) * 2)
    for share, sizes in product((0.7, 0.95), several):
        made = Made(simulated.grouped, (share, share), f"shares {share}")
        row = f"{len(sizes)} groups, {sum(sizes)} items"
        yield Job("groups", row, made, sizes, trials=1000, subset=len(sizes) == 40)


def _looks() -> Iterator[Job]:
    """Yield growing evaluations: 0/1 tasks, BLEU and documents, looked at again and again."""
    equal, lost = Made(simulated.shares, (0.6, 0.6)), Made(simulated.shares, (0.65, 0.6))
    for n_looks, trials in ((20, 1000), (8, 2000), (5, 600)):
        question = partial(growing.none, n_looks=n_looks)
        row = f"0/1, 400 items, {n_looks} looks"
        yield Job("looks", row, equal, 400, question, trials, n_looks == 5)
    eight = {
        kind: partial(getattr(growing, kind), n_looks=8) for kind in ("none", "margin", "gain")
    }
    yield Job("looks", "0/1, 400 items, margin", lost, 400, eight["margin"], 2000)
    pairs = (
        ("none", Real(DE, BLEU, ("Online-A", "Online-W"), "exchangeable"), 400),
        ("margin", Real(DE, BLEU, ("Online-B", "OpenNMT")), 400),
        ("none", Real(ES, BLEU, ("Claude-3.5", "ONLINE-G"), "equal", "documents"), 80),
        ("margin", Real(ES, BLEU, ("IOL-Research", "Mistral-Large"), "real", "documents"), 80),
    )
    for kind, source, n in pairs:
        row = f"BLEU, {n} {source.unit}, {kind}"
        yield Job("looks", row, source, n, eight[kind], 1000)
    for share in (0.7, 0.75):
        made = Made(simulated.shares, (0.6, share))
        yield Job("looks", f"0/1, gain of {share - 0.6:.2f}", made, 400, eight["gain"], 1000)
    question = partial(growing.sequence, n_looks=100)
    yield Job("looks", "0/1, sequence of 100 looks", equal, 2000, question, 400)
    for kind in ("2 % of the items", "exponential", "lognormal"):
        made = Made(simulated.far, (kind,))
        for row, question, trials in (
            ("single test", partial(growing.far, n_looks=1), 2000),
            ("8 looks", partial(growing.far, n_looks=8), 2000),
            ("sequence of 100 looks", partial(growing.far_sequence, n_looks=100), 400),
        ):
            yield Job("looks", f"far falls, {kind}, 200 items, {row}", made, 200, question, trials)


def _unpaired() -> Iterator[Job]:
    """Yield systems with items of their own, which are equal where a null is not "real"."""
    for null in ("exchangeable", "equal"):
        pair = ("IOL-Research", "Mistral-Large")
        for source, sizes in (
            (Real(DE, BLEU, ("Online-W", "Online-Y"), null), (150, 300)),
            (Real(ES, BLEU, pair, null), (150, 300)),
            (Real(ES, THREE[:2], pair, null, "documents"), (40, 80)),
        ):
            row = f"{null}, {sizes[0]} and {sizes[1]} {source.unit}"
            yield Job("unpaired", row, Apart(source), sizes, trials=1000)
    for true in ((0.8, 0.8), (0.95, 0.95), (0.9, 0.7)):
        made = Apart(Made(simulated.shares, true, f"shares {true}"))
        yield Job("unpaired", "0/1, 60 and 40 items", made, (60, 40), trials=1000, subset=True)
    made = Apart(Made(simulated.grouped, (0.8, 0.8), "shares 0.8"))
    yield Job("unpaired", "0/1, 30 and 20 groups of 5", made, ((5,) * 30, FIVES), trials=1000)


def _predictions() -> Iterator[Job]:
    """Yield what is said of another test set."""
    question = partial(questions.another, n=100)
    for n in (100, 300):
        row = f"100 segments, {n} others"
        yield Job("prediction", row, Real(DE, ("bleu", "chrf"), ("Online-B",)), 100 + n, question)
        for share in (0.5, 0.8, 0.95):
            made = Made(simulated.shares, (share, share), f"shares {share}")
            yield Job("prediction", row, made, 100 + n, question, 1000, (n, share) == (100, 0.8))


def _metrics() -> Iterator[Job]:
    """Yield pairs of metrics that are equally near to people."""
    for corpus, swapped in product((AR, "wmt25/cs-de_DE", ""), ("segments", "scores")):
        source, n = designs.Metrics(corpus, swapped), 300 if corpus else 100
        row, small = f"{swapped} change places, N = {n}", source == designs.Metrics("", "scores")
        yield Job("metrics", row, source, n, designs.measures, 600 if corpus else 1000, small)


def _plans() -> Iterator[Job]:
    both, seven = ("bleu", "chrf"), ("first 7",)
    for how, (source, n, share) in product(
        ("equal", "active"),
        (
            *((Real(ZH, both, seven, null), 1000, 0.2) for null in ("exchangeable", "real")),
            *((Real(CS, both, seven, null), 400, 0.25) for null in ("exchangeable", "real")),
            (Real(ES, BLEU, NINE, "exchangeable", "documents"), 80, 0.5),
            *((Made(designs.agents, (sd,), f"spread {sd}"), 500, 0.25) for sd in (1.0, 2.5, 5.0)),
            (Made(designs.agents, (2.5, 5), "groups of 5"), 160, 0.25),
        ),
    ):
        row = f"{share:.0%} of {n}, {how}"
        row += ", real" if isinstance(source, Real) and source.null == "real" else ""
        part, small = designs.Part(source, share, how), n == 500 and source.arguments == (2.5,)
        yield Job("plans", row, part, n, designs.worth, 600, small)


def _limits() -> Iterator[Job]:
    """Yield where the rule is known to fail: nothing is promised, but it is measured."""
    few = Real(AR, KIWI, ("first 26",), "equal", "documents")
    yield Job("limits", "26 systems, 80 documents worth 20", few, 80, questions.family, 400)
    loops = Real(ES, BLEU, ("Gemini-1.5-Pro", "Llama3-70B"), "equal")
    for n in (30, 100):
        yield Job("limits", f"a system that loops, N = {n}", loops, n)
    scarce = Real(DE, BLEU, ("Online-W", "Online-Y"), "equal", right=0.04)
    for n in (30, 50, 100, 300):
        yield Job("limits", f"low-resource BLEU, N = {n}", scarce, n)
    for row, make, arguments, n in (
        ("0/1 .99, 50 + 50 items", simulated.total, ("0/1", 0.99, 0.99), (50, 50)),
        ("lognormal 1.5, N = 100", simulated.numbers, ("lognormal 1.5",), 100),
        ("perplexity, hard texts are long, N = 100", simulated.items, ("perplexity, hard",), 100),
        ("0/1 near .95, 10 labelled", simulated.judged, (10, "0/1 near .95"), 1000),
    ):
        yield Job("limits", row, Made(make, arguments), n)
