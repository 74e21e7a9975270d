"""The jobs that are timed, for this library and for peers that do the same.

A job prepares what it needs in a process of its own, and what it then returns is timed; a program
is timed as a whole. `benchmarks.speed` runs them, with an earlier commit of this library as well.
"""

from __future__ import annotations

import json
import random
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from itertools import combinations, repeat
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import evalstats as es
from benchmarks.corpora import available, corpus, lengthened
from benchmarks.measure import forget_tokens

OURS = "evalstats"
B = 10_000
#: Scores in a database.
_SCORES = 100_000_000
STAMP = "2026-01-02T03-04-05.678901"

Run = Callable[[], object]


class Job(NamedTuple):
    """A job; of each who does it the arguments of Python, or what prepares a run."""

    part: str
    what: str
    runs: dict[str, tuple[str, ...] | Callable[[], Run]]
    #: What grows from one job to the next, and how large it is here.
    grows: str = ""
    size: int = 0


def jobs(quick: bool = False) -> Iterator[Job]:
    """Yield all jobs; from the bundled sample, and without the long ones, where time is short."""
    name = "sample" if quick or not available("wmt22/en-de") else "wmt22/en-de"
    yield from (*parts(), *programs(4 if name == "sample" else 9), *calls())
    yield from texts_to_answer(name)
    yield from (*replaced_tests(name), *statistics_to_answer(name), *extraction(name, "13a"))
    if name != "sample" and available("wmt22/en-zh"):
        yield from extraction("wmt22/en-zh", "zh")
    yield from (*other_metrics(name), *mechanisms(name))
    if not quick:
        yield from (*growing(), *moments())


def parts() -> Iterator[Job]:
    """Yield parts of a bootstrap of 2,000 segments, and small calls."""
    n_rows, n = 500, 2000
    statistics = np.concatenate(made_up(n), axis=1)
    rows = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), n_rows).astype(np.uint8)

    def drawn(who: str) -> Run:
        rng = np.random.default_rng(0)
        if who == OURS:
            streams = import_module("evalstats.resampling.streams")
            return lambda: streams.multinomial_rows(rng, n_rows, n, n)
        return lambda: rng.multinomial(n, np.full(n, 1 / n), n_rows)

    def multiplied(who: str) -> Run:
        if who == OURS:
            product = import_module("evalstats.resampling.weighted").ExactProduct(statistics, 255)
            return lambda: product(rows)
        return lambda: rows.astype(np.float64) @ statistics.astype(np.float64)

    def compared_few(_: str, whole: bool) -> Run:
        few, metric = scores(2, 200, whole), es.Mean("score")
        return lambda: es.compare(few, metrics=metric)

    yield Job("parts", f"{n_rows} rows of {n:,} weights", each(drawn, "NumPy"))
    yield Job("parts", "the product of rows and 20 columns", each(multiplied, "NumPy"))
    totals = rows.astype(np.float64) @ statistics[:, :10]
    yield Job("parts", f"BLEU of {n_rows} totals", {OURS: lambda: lambda: es.BLEU().score(totals)})
    for what, whole in (("0/1 scores", True), ("numbers", False)):
        yield Job("parts", f"`compare`, 200 {what}", each(compared_few, whole=whole))


def programs(n_systems: int) -> Iterator[Job]:
    """Whole commands on the files of `write_files`, from the first import on."""
    first = 'es.compare({"a": read("a.txt"), "b": read("b.txt")}, read("ref.txt"))'
    code = f"import evalstats as es\nread = lambda x: open(x).read().splitlines()\nprint({first})"
    two = ("-r", "ref.txt", "-i", "a.txt", "b.txt")
    peer = ("-m", "sacrebleu", *two[1:], "-m", "bleu", "--paired-bs", "-q")
    systems = [f"sys{i}.txt" for i in range(n_systems)]
    nine = ("-r", "sysref.txt", "-i", *systems, "-m", "bleu", "chrf", "ter")
    large = ("-r", "largeref.txt", "-i", "largea.txt", "largeb.txt")
    loads = "import json, glob\nfor x in glob.glob('lm*/m/s*'):\n for y in open(x): json.loads(y)"
    listed: dict[str, dict[str, tuple[str, ...]]] = {
        "`import evalstats`": {OURS: ("-c", "import evalstats"), "numpy": ("-c", "import numpy")},
        "`--version`": {OURS: ("-m", "evalstats", "--version")},
        "`demo`": {OURS: ("-m", "evalstats", "demo")},
        "`compare`, 50 segments": {OURS: ("compare", *two), "sacreBLEU": peer},
        "`import`, `es.compare`, `print`, 50 segments": {OURS: ("-c", code), "sacreBLEU": peer},
        "`compare`, 1,000 0/1 scores": {OURS: ("compare", "scores.csv")},
        f"`compare`, {n_systems} systems, BLEU, chrF, TER, all pairs": {OURS: ("compare", *nine)},
        "`compare`, 2 × 100,000 lines": {OURS: ("compare", *large)},
    }
    logs = {OURS: ("compare", "lm0", "lm1"), "`json.loads`": ("-c", loads)}
    listed["`compare`, 2 logs of 50,000 items"] = logs
    for what, runs in listed.items():
        if runs[OURS][0] == "compare":
            runs[OURS] = ("-m", "evalstats", *runs[OURS])
        yield Job("programs", what, {**runs})


def each(prepare: Callable[..., Run], *peers: str, **options: Any) -> dict[str, Any]:
    """Return the runs of this library and of peers, which a function prepares by their names."""
    return {who: partial(prepare, who, **options) for who in (OURS, *peers)}


def calls() -> Iterator[Job]:
    """Yield calls once all is loaded, of scores, logs and battles."""
    paths, metric = ["0.csv", "1.csv"], es.Mean("score")
    one = scores(1, 20_000)
    ours: dict[str, Callable[[], Run]] = {
        "0/1 scores: `estimate`, 20,000 items": lambda: lambda: es.estimate(one, metric=metric),
        "0/1 scores: `compare_logs`, 2 × 100,000": lambda: lambda: es.compare_logs(paths),
        "suite of 57 tasks, 3 systems": lambda: suite(57).compare,
        "its `ranking()`": lambda: suite(57).compare().ranking,
        "1,600 strata of 8 items, 2 systems": lambda: stratified(1600),
        "`compare` of 160 systems": lambda: compared(160),
        "its `ranking()`, 160 systems": lambda: compared(160)().ranking,
        "`power()` of a result": lambda: compared(2)().power,
    }
    for what, prepare in ours.items():
        yield Job("calls", what, {OURS: prepare})
    for n in (200_000, 2_000_000):
        yield Job("calls", f"arena of {n:,} battles, t", each(battles, "arena-rank", n=n))
    yield Job("calls", "judged mean, t, 2,000 of 100,000 items labelled", each(judged, "ppi_py"))
    alpha = "interval alpha, 10,000 × 5 ratings, no resamples"
    yield Job("calls", alpha, each(agreement, "krippendorff"))
    yield Job("calls", "`read_log`, 50,000 items of lm-eval", each(log_read, "`json.loads`"))


def scores(systems: int, items: int, whole: bool = True) -> dict[str, NDArray[Any]]:
    """Return scores that systems share a part of: 0/1, or any."""
    rng = np.random.default_rng(0)
    numbers = rng.random((1, items)) + 0.3 * rng.random((systems, items))
    numbers -= 0.01 * np.arange(systems)[:, None]
    return {f"s{i}": (x < 0.7) * 1.0 if whole else x for i, x in enumerate(numbers)}


def suite(n_tasks: int) -> Any:
    """Return a suite of three systems."""
    metric = es.Mean("score")
    sizes = np.random.default_rng(3).integers(20, 400, n_tasks).tolist()
    tasks = {f"t{t}": es.extract(scores(3, n), metric=metric) for t, n in enumerate(sizes)}
    return es.Suite(tasks)


def stratified(n: int) -> Run:
    """Compare two systems on n strata of eight items."""
    systems, labels = scores(2, 8 * n, whole=False), np.repeat(np.arange(n), 8).tolist()
    return lambda: es.compare(systems, metrics=es.Mean("score"), strata=labels)


def compared(n: int) -> Callable[[], Any]:
    """Compare n systems on 500 items."""
    systems = scores(n, 500, whole=False)
    return lambda: es.compare(systems, metrics=es.Mean("score"))


def battles(who: str, n: int) -> Run:
    """Rank 51 models by n battles, without resamples."""
    a, b, won = np.random.default_rng(0).integers(50, size=(3, n)).tolist()
    rows = [(f"m{i}", f"m{i + j % 49 + 1}", "ab"[k % 2]) for i, j, k in zip(a, b, won, strict=True)]
    if who == OURS:
        return lambda: es.arena(rows, method="t")
    pandas, models = import_module("pandas"), import_module("arena_rank.models.bradley_terry")
    data = import_module("arena_rank.utils.data_utils").PairDataset
    frame = pandas.DataFrame(rows, columns=["model_a", "model_b", "winner"])
    frame["winner"] = "model_" + frame["winner"]

    def run() -> object:
        pairs = data.from_pandas(frame)
        return models.BradleyTerry(len(pairs.competitors)).compute_ratings_and_cis(pairs)

    run()  # which compiles it
    return run


def judged(who: str) -> Run:
    """Estimate a mean of which a judge scores 100,000 items, and people 2,000 of them."""
    rng = np.random.default_rng(0)
    judge = rng.random(100_000)
    people = judge + 0.3 * rng.standard_normal(100_000)
    if who != OURS:
        interval = import_module("ppi_py").ppi_mean_ci
        return partial(interval, people[:2000], judge[:2000], judge[2000:], 0.05)
    labels = [*people[:2000].tolist(), *[None] * 98_000]
    pairs = {"s": list(zip(judge.tolist(), labels, strict=True))}
    return lambda: es.estimate(pairs, metric=es.Judged(es.Mean("score")), method="t")


def agreement(who: str) -> Run:
    """Krippendorff's alpha of five raters, as a number."""
    ratings = np.random.default_rng(0).integers(1, 6, (10_000, 5))
    if who != OURS:
        alpha = import_module("krippendorff").alpha
        return lambda: alpha(ratings.T, level_of_measurement="interval")
    metric, rows = es.Agreement(measure="interval-alpha", ratings=True), ratings.tolist()
    return lambda: metric.score(metric.statistics(rows).sum(axis=0))


def log_read(who: str) -> Run:
    """Read a log, or its lines as JSON and nothing else."""
    (path,) = Path("lm0/m").glob("samples*")
    loads = lambda: deque(map(json.loads, path.open("rb")), maxlen=0)  # noqa: E731
    return partial(es.read_log, "lm0") if who == OURS else loads


def made_up(n: int) -> NDArray[Any]:
    """Return the statistics of n made-up segments of two systems under BLEU, `(2, n, 10)`."""
    length = np.random.default_rng(0).integers(8, 40, size=(2, n, 1))
    totals = length - np.arange(4)
    right = np.minimum.accumulate(np.random.default_rng(1).integers(totals + 1), axis=2)
    return np.concatenate([length, length, right, totals], axis=2)


def moments() -> Iterator[Job]:
    """Yield comparisons by moments beside the bootstrap, and beside what a database sums anyway."""

    def in_memory(who: str) -> Run:
        table = es.SegmentStatistics(made_up(100_000), ["A", "B"], "bleu")
        seeds = iter(range(10**6))
        if who == OURS:
            return lambda: es.compare(es.Moments.of(table))
        return lambda: es.compare(table, rng=next(seeds))

    def in_duckdb(who: str) -> Run:
        connection = import_module("duckdb").connect()
        connection.execute("SET enable_progress_bar = false")
        a, b, both = (f"(hash(3 * i + {k}) % 1000003) / 1000003.0::DOUBLE" for k in range(3))
        connection.execute(
            f"CREATE TABLE scores AS SELECT {both} + {a} AS a, {both} + {b} AS b "
            f"FROM range({_SCORES}) AS made(i)"
        )
        if who != OURS:
            return lambda: connection.execute(f"SELECT {who.strip('`')} FROM scores").fetchall()
        mean, columns = es.Mean("m"), {"A": ["a", 1], "B": ["b", 1]}
        query = es.moments_query("scores", ["A", "B"], mean, columns)

        def compared() -> es.Comparison:
            rows = connection.execute(query).fetchall()
            return es.compare(es.Moments.from_rows(rows, ["A", "B"], mean))

        return compared

    yield Job("moments", "100,000 segments, BLEU", each(in_memory, "the bootstrap"))
    counting = "`COUNT(*), SUM(a), SUM(b)`"
    built_in = "`VAR_SAMP(a), VAR_SAMP(b), COVAR_SAMP(a, b)`"
    yield Job("moments", f"{_SCORES:,} scores in DuckDB", each(in_duckdb, counting, built_in))


def texts_to_answer(name: str) -> Iterator[Job]:
    """From texts to the answer."""

    def compared(who: str) -> Run:
        _, systems, references = corpus(name)
        two = list(systems.items())[:2]
        if who != OURS:
            return paired_test("sacrebleu", two, references, "BLEU", "bs", B)
        return lambda: es.compare(dict(two), references, n_resamples=B)

    def estimated(who: str) -> Run:
        texts, references = _one_of(name)
        if who == OURS:
            return lambda: es.estimate(texts, references, n_resamples=B)
        return partial(import_module("evaluatio.metrics.bleu").bleu_ci, references, texts, B, 0.05)

    part, label = "texts to answer", f"{_label(name)}, BLEU"
    what = f"{label}, two systems, {B:,} resamples: bs"
    yield Job(part, what, each(compared, "sacreBLEU"))
    what = f"{label}, interval of one system, {B:,} resamples"
    yield Job(part, what, each(estimated, "evaluatio"))


def paired_test(
    package: str, named: Any, references: Any, metric: str, test: str, n: int = 0
) -> Run:
    """Return a run of sacreBLEU's `PairedTest`, or of the one that takes its place."""
    kind = import_module(f"{package}.significance").PairedTest
    made = getattr(import_module(f"{package}.metrics"), metric)
    return lambda: (
        forget_tokens() or kind(named, {metric: made(references=[references])}, None, test, n)()
    )


def replaced_tests(name: str) -> Iterator[Job]:
    """SacreBLEU's `PairedTest` and the one that takes its place, with the same results."""

    def tested(who: str, n: int, **options: str) -> Run:
        _, systems, references = corpus(name)
        package = "evalstats.compat.sacrebleu" if who == OURS else "sacrebleu"
        return paired_test(package, list(systems.items())[:n], references, **options)

    for n, metric in ((2, "BLEU"), (2, "CHRF"), (2, "TER"), (9, "BLEU")):
        for test in ("bs", "ar"):
            what = f"{_label(name)}, {n} systems, {metric}, {test}"
            runs = each(tested, "sacreBLEU", n=n, metric=metric, test=test)
            yield Job("texts to `PairedTest`", what, runs)


def statistics_to_answer(name: str) -> Iterator[Job]:
    """Answers from statistics that were counted before; rows are drawn anew, or were kept."""

    def answered(who: str, n: int, b: int, is_drawn: bool = False, **options: Any) -> Run:
        _, systems, references = corpus(name)
        table = es.extract(dict(list(systems.items())[:n]), references)
        if who == OURS:
            seeds = iter(range(10**6)) if is_drawn else repeat(0)
            asked: Any = es.compare if n > 1 else es.estimate
            return lambda: asked(table, n_resamples=b, rng=next(seeds), **options)
        if who == "sacreBLEU":
            resampled = import_module("sacrebleu.significance")._bootstrap_resample
            bleu = import_module("sacrebleu.metrics").BLEU(references=[["a"]])
            return lambda: [resampled(block.tolist(), bleu, b) for block in table.values]
        rust = import_module("evaluatio._bindings")
        every = [
            [rust.BLEUSufficientStats(r[2:6], r[6:10], r[0], r[1]) for r in block.tolist()]
            for block in table.values
        ]
        if n == 1:
            return lambda: rust.bleu_ci(every[0], b, 0.05)
        return lambda: [rust.bleu_bootstrap_test(*two, b) for two in combinations(every, 2)]

    part, label, rust = "statistics to answer", f"{_label(name)}, BLEU", "evaluatio"
    for b in (1000, B):
        for how in ("drawn", "kept"):
            runs = each(answered, rust, n=1, b=b, is_drawn=how == "drawn")
            yield Job(part, f"{label}, interval, {b:,} resamples, rows {how}", runs)
    yield Job(part, f"{label}, paired test", each(answered, rust, "sacreBLEU", n=2, b=B))
    for adjustment in ("holm", "max-t"):
        peers = [rust] if adjustment == "holm" else []
        runs = each(answered, *peers, n=9, b=B, adjustment=adjustment)
        yield Job(part, f"{label}, all pairs of 9 systems, {adjustment}", runs)


def extraction(name: str, tokenizer: str) -> Iterator[Job]:
    """From the texts of one system to statistics, the references' preparation included."""
    split = {"normalized": True, "asian_support": True} if tokenizer == "zh" else {}
    # sacreBLEU's TER takes most of a minute for Chinese characters.
    for metric, kind, options, every in (
        ("BLEU", "BLEU", {"tokenize": tokenizer}, 1),
        ("chrF", "CHRF", {}, 1),
        ("chrF++", "CHRF", {"word_order": 2}, 1),
        ("TER", "TER", split, 10 if split else 1),
    ):

        def counted(who: str, kind: str, options: Any, every: int) -> Run:
            texts, references = _one_of(name)
            texts, references = texts[::every], references[::every]
            if who == OURS:
                return partial(getattr(es, kind)(**options).statistics, texts, references)
            made = getattr(import_module("sacrebleu.metrics"), kind)(**options)
            return lambda: forget_tokens() or made._extract_corpus_statistics(texts, [references])

        runs = each(counted, "sacreBLEU", kind=kind, options=options, every=every)
        part = f", every {every}th segment" if every > 1 else ""
        yield Job("texts to statistics", f"{_label(name)}, {metric}{part}", runs)


def other_metrics(name: str) -> Iterator[Job]:
    """Error rates, ROUGE-L of 2,000 texts, and BLEU of every segment."""

    def rated(who: str, metric: str, unit: str) -> Run:
        texts, references = _one_of(name)
        if who == OURS:
            return partial(getattr(es, metric)().statistics, texts, references)
        if who == "jiwer":
            return partial(getattr(import_module("jiwer"), f"process_{unit}s"), references, texts)
        module = import_module(f"evaluatio.metrics.{metric.lower()}")
        return partial(getattr(module, f"{unit}_error_rate"), references, texts)

    def overlapping(who: str, stemmer: bool) -> Run:
        texts, references = (x[:2000] for x in _one_of(name))
        if who == OURS:
            from evalstats.text.porter import stem

            metric = es.ROUGE("L", stemmer=stemmer)
            return lambda: stem.cache_clear() or metric.statistics(texts, references)
        module = import_module("rouge_score.rouge_scorer")
        scorer = module.RougeScorer(["rougeL"], use_stemmer=stemmer)
        return lambda: [*map(scorer.score, references, texts)]

    def by_sentence(who: str) -> Run:
        texts, references = _one_of(name)
        if who == OURS:
            metric = es.SentenceBLEU(smoothing="method3", tokenize="none")
            return partial(metric.scores, texts, references)
        nltk = import_module("nltk.translate.bleu_score")
        smooth = nltk.SmoothingFunction().method3
        pairs = list(zip(texts, references, strict=True))
        score = partial(nltk.sentence_bleu, smoothing_function=smooth)
        return lambda: [score([reference.split()], text.split()) for text, reference in pairs]

    part, label = "texts to statistics", _label(name)
    for metric, unit in (("WER", "word"), ("CER", "character")):
        runs = each(rated, "jiwer", "evaluatio", metric=metric, unit=unit)
        yield Job(part, f"{label}, {metric}", runs)
    for stemmer in (False, True):
        runs = each(overlapping, "rouge_score", stemmer=stemmer)
        yield Job(part, f"{label}, ROUGE-L, 2,000 texts{', stemmed' * stemmer}", runs)
    yield Job(part, f"{label}, sentence BLEU", each(by_sentence, "NLTK"))


def mechanisms(name: str) -> Iterator[Job]:
    """Yield calls without one mechanism each, which may go where none is 1.25 times as long."""

    def numpys_bytes(mean: float, rng: np.random.Generator, shape: Any) -> NDArray[np.uint8]:
        return rng.poisson(mean, size=shape).astype(np.uint8)

    without: dict[str, dict[str, object]] = {
        "Poisson counts from bytes": {"streams.poisson_counts": numpys_bytes},
        "single precision": {"weighted._SINGLE_LIMIT": 0.0},
        "small BLAS calls": {"weighted._CALL_SIZE": 1 << 60, "weighted.ROW_GROUP": 504},
    }

    def prepared(job: str, lacking: str) -> Run:
        for place, value in without.get(lacking, {}).items():
            module, _, attribute = place.partition(".")
            setattr(import_module(f"evalstats.resampling.{module}"), attribute, value)
        seeds = iter(range(10**6))
        if job == "100,000 × 1,000":
            large = np.concatenate(made_up(100_000), axis=1)
            return lambda: es.bootstrap_totals(large, 1000, next(seeds))
        _, systems, references = corpus(name)
        table = es.extract(dict(list(systems.items())[: 1 if job == "interval" else 9]), references)
        asked: Any = es.estimate if job == "interval" else es.compare
        return lambda: asked(table, rng=next(seeds))

    for job in ("interval", "all pairs of 9", "100,000 × 1,000"):
        runs = {f"without {x}": partial(prepared, job, x) for x in without}
        yield Job("mechanisms", job, {OURS: partial(prepared, job, ""), **runs})


def growing() -> Iterator[Job]:
    """Few and many tasks, strata and systems."""
    for what, prepare, sizes in (
        ("tasks", lambda n: suite(n).compare, (100, 1000)),
        ("strata", stratified, (400, 4000)),
        ("systems", lambda n: lambda: compared(n)().ranking(), (40, 160)),
    ):
        for n in sizes:
            runs: dict[str, Any] = {OURS: partial(prepare, n)}
            is_pairs = what == "systems"
            counted = ("pairs of systems", n * (n - 1) // 2) if is_pairs else (what, n)
            yield Job("growth", f"{n:,} {what}", runs, *counted)


def _label(name: str) -> str:
    year, _, pair = name.partition("/")
    return f"{year.upper()} {pair}" if pair else "bundled sample"


def _one_of(name: str) -> tuple[list[str], list[str]]:
    """Return the outputs of one system, and the references."""
    _, systems, references = corpus(name)
    return list(systems.values())[len(systems) // 2], references


def write_files(folder: Path, quick: bool = False) -> None:
    """Write what programs and logs read."""
    _, systems, references = corpus("sample" if quick else "wmt22/en-de")
    texts = {f"sys{i}": lines for i, lines in enumerate(list(systems.values())[:9])}
    sample = corpus("sample")
    of_sample = {"ref": sample[2], "a": sample[1]["baseline"], "b": sample[1]["clearly-better"]}
    texts |= {"sysref": references, **{name: lines[:50] for name, lines in of_sample.items()}}
    n = 100_000
    texts |= {f"large{name}": lengthened(lines, n) for name, lines in of_sample.items()}
    answers = [f"{i},{int(i * 7 % 11 < 6)},{int(i * 5 % 13 < 8)}\n" for i in range(1000)]
    tables = {"scores": ["item,a,b\n", *answers]}
    for x in range(2):
        rows = (f"{i},{int(i * (7 - 2 * x) % 11 < 6 + x)}\n" for i in range(n))
        tables[str(x)] = ["id,accuracy\n", *rows]
        _write_log(folder / f"lm{x}" / "m", n // 2, x)
    for name, lines in texts.items():
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for name, lines in tables.items():
        (folder / f"{name}.csv").write_text("".join(lines), encoding="utf-8")


def _write_log(folder: Path, n_items: int, seed: int) -> None:
    """Write two metrics of multiple choice, as lm-evaluation-harness does: 1.2 kB an item."""
    folder.mkdir(parents=True)
    rng, questions = random.Random(seed), random.Random(1)
    sums = {"acc": 0.0, "acc_norm": 0.0}
    with (folder / f"samples_big_{STAMP}.jsonl").open("w", encoding="utf-8") as file:
        for i in range(n_items):
            words = [f"w{questions.randrange(5000)}" for _ in range(40)]
            asked, answers = " ".join(words), [[str(-rng.random()), "False"] for _ in range(4)]
            record: dict[str, Any] = {name: float(rng.random() < 0.6) for name in sums}
            sums = {name: x + record[name] for name, x in sums.items()}
            record |= {f"{kind}_hash": f"{i:064x}" for kind in ("doc", "prompt", "target")}
            record |= {"doc_id": i, "target": str(i % 4), "filter": "none", "metrics": [*sums]}
            record["doc"] = {"id": i, "question": asked, "choices": words[:4]}
            record["arguments"] = {"gen_args_0": {"arg_0": asked, "arg_1": words[0]}}
            record |= {"resps": [[answer] for answer in answers], "filtered_resps": answers}
            file.write(json.dumps(record) + "\n")
    means = {f"{name},none": x / n_items for name, x in sums.items()}
    results = {"results": {"big": means}, "model_name": f"model {seed}"}
    (folder / f"results_{STAMP}.json").write_text(json.dumps(results), encoding="utf-8")
