"""The calls of the golden file: one of each kind that users make, on small input.

Numbers come of `Drawn`, a generator written out here, so that they are the same everywhere.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import evalstats as es
from evalstats.data import load_sample
from evalstats.designs.runs import extract_runs
from tests import harness_logs, log_files

Case = Callable[[], Any]
Cases = Iterator[tuple[str, Case]]

B = 199
N_TEXTS, N_NUMBERS = 24, 40
GRADE, ACCURACY = es.Mean("grade"), es.Mean("accuracy")
UP = {"choice": "higher"}
LOSS = es.Mean("loss", higher_is_better=False)


class Drawn:
    """Whole numbers below a bound, of a linear congruential generator (Knuth's MMIX)."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def __call__(self, bound: int) -> int:
        self.state = (6364136223846793005 * self.state + 1442695040888963407) % 2**64
        return (self.state >> 33) * bound >> 31


def grades(n: int = N_NUMBERS, seed: int = 1) -> dict[str, list[float]]:
    """Return grades of three systems: the same items, each system a little better."""
    draw = Drawn(seed)
    base = [draw(400) / 100 for _ in range(n)]
    return {
        name: [x + (draw(100) + lift) / 100 for x in base]
        for name, lift in (("A", 0), ("B", 12), ("C", 30))
    }


def answers(n: int = N_NUMBERS, seed: int = 2) -> dict[str, list[int]]:
    """Return right and wrong answers of three systems."""
    draw = Drawn(seed)
    hard = [draw(100) for _ in range(n)]
    return {
        name: [int(draw(100) + lift > x) for x in hard]
        for name, lift in (("A", 0), ("B", 10), ("C", 40))
    }


def runs(n: int = N_NUMBERS, k: int = 3) -> dict[str, list[list[float]]]:
    """Return grades of k runs of two systems."""
    return {name: [grades(n, 10 * i + ord(name))[name] for i in range(k)] for name in "AC"}


def two(scores: Mapping[str, Any]) -> dict[str, Any]:
    """Return the first and the last system."""
    names = list(scores)
    return {name: scores[name] for name in (names[0], names[-1])}


def labels(n: int, *names: str, each: int = 1) -> list[str]:
    """Return labels in turn, each so many times in a row."""
    return [names[i // each % len(names)] for i in range(n)]


@cache
def texts() -> tuple[dict[str, list[str]], list[list[str]]]:
    """Return outputs of the four systems of the sample, and references."""
    sample = load_sample()
    systems = {name: lines[:N_TEXTS] for name, lines in sample.systems.items()}
    return systems, sample.references[:N_TEXTS]


@cache
def tables() -> dict[str, es.SegmentStatistics]:
    """Return the statistics of the texts by metric."""
    systems, references = texts()
    return {metric: es.extract(systems, references, metric) for metric in ("bleu", "chrf", "ter")}


def table(scores: Mapping[str, Any], metric: es.Metric) -> es.SegmentStatistics:
    """Return the statistics of numbers."""
    return es.extract(scores, None, metric)


DOCUMENTS = labels(N_NUMBERS, *"abcdefghij", each=4)
DOMAINS = labels(N_NUMBERS, "news", "speech", "law")
UNEVEN = [f"d{min(i // 2, 9)}" for i in range(N_NUMBERS)]


def of_texts() -> Cases:
    """Texts and their statistics under BLEU, chrF and TER."""
    systems, references = texts()
    pair = two(systems)
    compare, estimate = partial(es.compare, n_resamples=B), partial(es.estimate, n_resamples=B)
    for metric in ("bleu", "chrf", "ter"):
        yield f"texts {metric}", partial(compare, pair, references, metric)
        yield f"all pairs {metric}", partial(compare, tables()[metric])
        yield f"baseline {metric}", partial(compare, tables()[metric], baseline="baseline")
        yield f"scores {metric}", partial(estimate, tables()[metric])
    yield "by t bleu", partial(compare, tables()["bleu"], baseline="baseline", method="t")
    yield "scores t bleu", partial(estimate, tables()["bleu"], method="t")
    both = [tables()["bleu"], tables()["chrf"]]
    yield "two metrics", partial(compare, both, baseline="copy")
    yield "joint", lambda: compare(both, baseline="baseline").joint("clearly-better")
    copy, by_characters = systems["copy"], es.BLEU(tokenize="char")
    yield "one text", partial(estimate, copy, references, by_characters)


def of_options() -> Cases:
    """Methods, alternatives, adjustments, levels and limits."""
    compare = partial(es.compare, table(grades(), GRADE), n_resamples=B)
    pair = partial(es.compare, table(two(grades()), GRADE), n_resamples=B)
    for side in ("two-sided", "greater", "less"):
        yield f"bootstrap {side}", partial(pair, alternative=side)
        yield f"by t {side}", partial(pair, method="t", alternative=side)
    yield "nothing drawn", partial(compare, method="t")
    for adjustment in ("max-t", "holm", "benjamini-hochberg", "none"):
        yield f"adjustment {adjustment}", partial(compare, adjustment=adjustment)
    yield "level", partial(pair, confidence_level=0.9, rng=7)
    for limit in (0.1, 0.5):
        yield f"margin {limit}", partial(compare, margin=limit, baseline="C")
        yield f"recovery {1 - limit}", partial(pair, recovery=1 - limit, baseline="C")
    yield "margin by t", partial(compare, margin=0.5, method="t", adjustment="none")
    yield "recovery by t", partial(pair, recovery=0.9, method="t", baseline="C")
    yield "lower", partial(es.compare, grades(), metrics=LOSS, margin=0.3, n_resamples=B)
    estimate = partial(es.estimate, grades(), metric=GRADE, n_resamples=B)
    each = partial(compare, margin=0.5), partial(compare, method="t"), estimate
    yield "described", lambda: [one().describe() for one in each]
    few = {name: scores[:5] for name, scores in grades().items()}
    yield "few", partial(es.compare, few, metrics=GRADE, n_resamples=B)
    yield "missing", partial(es.compare, [gaps()], n_resamples=B)


def gaps() -> es.SegmentStatistics:
    """Return statistics of which some scores are missing."""
    rows = [[[x, 1] for x in scores] for scores in grades().values()]
    rows[0][3] = rows[0][9] = rows[2][9] = [0, 0]
    return es.SegmentStatistics(rows, list(grades()), GRADE)


def of_answers() -> Cases:
    """0/1 scores, which are counted."""
    yield "0/1", partial(es.compare, table(answers(), ACCURACY), n_resamples=B)
    compare = partial(es.compare, table(two(answers()), ACCURACY), n_resamples=B)
    yield "0/1 scores", partial(es.estimate, answers(), metric=ACCURACY, n_resamples=B)
    yield "0/1 margin", partial(compare, margin=0.1, baseline="A")
    yield "0/1 recovery", partial(compare, recovery=0.9, baseline="A")
    yield "0/1 by t", partial(compare, method="t")
    yield "0/1 groups", partial(compare, groups=DOCUMENTS)
    yield "0/1 strata", partial(compare, strata=DOMAINS, aggregate="macro")


def of_designs() -> Cases:
    """Groups, strata and their averages, several runs."""
    numbers = replace(table(two(grades()), GRADE), labels={"document": DOCUMENTS})
    compare = partial(es.compare, numbers, n_resamples=B)
    estimate = partial(es.estimate, numbers, n_resamples=B)
    weights = {"news": 1, "speech": 2, "law": 5}
    designs: dict[str, dict[str, Any]] = {
        "groups": {"groups": DOCUMENTS},
        "groups by name": {"groups": "document"},
        "uneven groups": {"groups": UNEVEN},
        "strata": {"strata": DOMAINS},
        "groups in strata": {"groups": DOCUMENTS, "strata": labels(40, "x", "y", each=20)},
        "macro": {"strata": DOMAINS, "aggregate": "macro"},
        "weighted": {"strata": DOMAINS, "aggregate": weights},
        "single units": {"strata": ["one", "two", *DOMAINS[2:]]},
        "single units, macro": {"strata": ["one", "two", *DOMAINS[2:]], "aggregate": "macro"},
    }
    for name, design in designs.items():
        yield f"compare {name}", partial(compare, **design)
        yield f"estimate {name}", partial(estimate, **design)
    halves = {"strata": labels(N_TEXTS, "x", "y"), "aggregate": "macro"}
    yield "BLEU macro", lambda: es.compare(tables()["bleu"], n_resamples=B, **halves)
    yield "strata t", partial(compare, strata=DOMAINS, method="t")
    several = extract_runs(runs(), metrics=GRADE)
    yield "runs", partial(es.compare, several, n_resamples=B)
    yield "runs, groups", partial(es.compare, several, groups=DOCUMENTS)
    yield "runs, scores", partial(es.estimate, runs(), metric=GRADE)
    yield "runs, margin", partial(es.compare, several, margin=0.5)


def geometric(scores: Any) -> Any:
    """Return the square root of the product of first and last."""
    return (scores[..., 0] * scores[..., -1]) ** 0.5


def tasks(every: bool = False) -> dict[str, es.SegmentStatistics]:
    """Return three tasks of different kinds, of two systems or all three."""
    some: Any = dict if every else two
    return {
        "essays": table(some(grades()), GRADE),
        "letters": table(some(grades(25, 4)), GRADE),
        "quiz": table(some(answers(30, 5)), ACCURACY),
    }


def of_suites() -> Cases:
    """Several tasks, and their totals."""
    same = {name: some for name, some in tasks().items() if name != "quiz"}
    weights = {"essays": 2, "letters": 1, "quiz": 1}
    totals: dict[str, Any] = {"default": None, "macro": "macro", "weights": weights}
    for name, aggregate in totals.items():
        suite = es.Suite(tasks(), aggregate)
        yield f"suite {name}", partial(suite.compare, n_resamples=B, baseline="A")
        yield f"suite {name}, scores", partial(suite.estimate, n_resamples=B)
    suite = es.Suite(same, "micro")
    yield "suite micro", partial(suite.compare, n_resamples=B)
    grouped = partial(es.Suite, same, "micro", groups={"essays": DOCUMENTS})
    yield "suite micro, groups", lambda: grouped().compare(n_resamples=B)
    suite = es.Suite(tasks(every=True))
    yield "suite of three", partial(suite.compare, n_resamples=B)
    yield "suite Holm", partial(suite.compare, n_resamples=B, adjustment="holm")
    suite = es.Suite(tasks())
    yield "suite t", partial(suite.compare, method="t")
    yield "suite margin", partial(suite.compare, n_resamples=B, margin=0.3, baseline="C")
    yield "suite described", lambda: [es.Suite(tasks(), "macro").compare(n_resamples=B).describe()]
    some = {"runs": extract_runs(runs(), metrics=GRADE), "plain": table(two(grades()), GRADE)}
    yield "suite of runs", lambda: es.Suite(some).compare(n_resamples=B)
    many = {
        task: [table(two(grades(n, n)), GRADE), table(two(answers(n, n)), ACCURACY)]
        for task, n in (("first", 20), ("second", 30))
    }
    yield "suite of two metrics", lambda: es.Suite(many).compare(n_resamples=B, baseline="A")
    yield "suite ranking", lambda: es.Suite(many).compare(n_resamples=B).ranking("grade")
    yield "suite power", lambda: es.Suite(many).compare(n_resamples=B).power(0.2)


def of_rankings() -> Cases:
    """Rankings, power, influence, and results that are asked for more."""
    numbers = table(grades(), GRADE)
    both = [numbers, table(answers(), ACCURACY)]
    yield "ranking", lambda: es.compare(numbers, n_resamples=B).ranking()
    yield "ranking BLEU", lambda: es.compare(tables()["bleu"], n_resamples=B).ranking()
    yield "ranking Holm", lambda: es.compare(numbers, n_resamples=B, adjustment="holm").ranking()
    yield "ranking t", lambda: es.compare(numbers, method="t").ranking()
    yield "no ranking", lambda: es.compare(numbers, baseline="A", n_resamples=B).ranking()
    yield "power", partial(es.power, two(grades()), metrics=GRADE, difference=0.2)
    yield "power 0/1", partial(es.power, answers(), metrics=ACCURACY, n_segments=500)
    yield "power groups", partial(es.power, numbers, groups=UNEVEN, difference=0.2)
    yield "power runs", partial(es.power, runs(), metrics=GRADE, runs=5, difference=0.2)
    yield "power of a result", lambda: es.compare(numbers, n_resamples=B).power(0.2)
    compare = partial(es.compare, numbers, n_resamples=B)
    yield "influence", lambda: compare().influence(system="B", baseline="A")
    grouped = partial(compare, groups=DOCUMENTS)
    yield "influence of groups", lambda: grouped().influence(system="C", baseline="A")
    against = partial(compare, baseline="A")
    yield "one difference", lambda: [str(against()["grade", "B"].probability(100))]
    result = partial(es.compare, both, n_resamples=B, baseline="A", margin=0.3)
    for form in ("markdown", "latex"):
        yield f"as {form}", partial(lambda form: getattr(result(), f"to_{form}")(), form)
    yield "csv", lambda: result().to_csv().splitlines()[:1]
    yield "in brief", lambda: result().to_text(digits=2)


def of_gates() -> Cases:
    """Gates: of statistics, and of logs."""
    numbers, binary = two(grades()), two(answers(200))
    for name, (scores, metric) in {"grade": (numbers, GRADE), "0/1": (binary, ACCURACY)}.items():
        a, c = (table({n: s}, metric) for n, s in scores.items())
        for limit in ({}, {"margin": 0.2}, {"recovery": 0.95}):
            said = "".join(f" {key}" for key in limit)
            gate = partial(es.assert_not_worse, n_resamples=B, **limit)
            yield f"not worse {name}{said}", partial(gate, c, a)
            yield f"worse {name}{said}", partial(gate, a, c)
    for limit in ({"margin": 0.05}, {"recovery": 0.9}):
        (key,) = limit
        yield f"gate {key}", partial(es.gate, "new.csv", "base.csv", n_resamples=B, **limit)
        back = partial(es.gate, "base.csv", "new.csv", n_resamples=B, **limit)
        yield f"gate {key}, back", back
        yield f"gate {key}, groups", partial(back, groups="document")
    gate = partial(es.gate, n_resamples=B)
    yield "gate of tasks", partial(gate, "lm/acme__big", "lm/acme__small", margin=0.5)
    both = partial(gate, "inspect/new", "inspect/base", margin=0.2, directions=UP)
    yield "gate of two tasks", both
    yield "gate junit", lambda: both().to_junit()


def of_logs() -> Cases:
    """Logs of several formats."""
    compare = partial(es.compare_logs, n_resamples=B)
    yield "csv logs", partial(compare, ["base.csv", "new.csv"])
    yield "csv logs, groups", partial(compare, ["base.csv", "new.csv"], groups="document")
    yield "long table", partial(compare, "long.csv")
    yield "long table, scores", partial(es.estimate_logs, "long.csv", n_resamples=B)
    both = ["lm/acme__small", "lm/acme__big"]
    yield "harness", partial(compare, both)
    yield "harness, one task", partial(compare, both, task="qa")
    yield "harness, scores", partial(es.estimate_logs, both, n_resamples=B)
    both, compare = ["inspect/base", "inspect/new"], partial(compare, directions=UP)
    yield "inspect", partial(compare, both)
    yield "inspect, macro", partial(compare, both, aggregate="macro", margin=0.2)
    yield "inspect, strata", partial(compare, both, task="arc", strata="metadata.subject")
    yield "inspect runs", partial(compare, ["epochs/a.json", "epochs/b.json"], epochs="runs")
    yield "inspect epochs", partial(compare, ["epochs/a.json", "epochs/b.json"], epochs="mean")
    short = partial(compare, ["inspect/base", "short.json"], task="arc")
    yield "inspect intersect", partial(short, missing="intersect")
    yield "no such log", partial(compare, ["nothing.csv"])
    yield "no direction", partial(es.compare_logs, both)
    yield "missing items", short


def write_logs(folder: Path) -> None:
    """Write the logs that cases read."""
    scores = answers(50, 6)
    for name, system in (("base", "A"), ("new", "B")):
        lines = [f"s{i},{x},d{i // 5}\n" for i, x in enumerate(scores[system])]
        (folder / f"{name}.csv").write_text("id,accuracy,document\n" + "".join(lines))
    (folder / "long.csv").write_text(log_files.LONG)
    for model, right in (("small", (1, 0, 1, 1)), ("big", (1, 1, 1, 0))):
        outputs = harness_logs.OUTPUTS if model == "small" else harness_logs.GERMAN[::-1]
        harness_logs.mixed(folder / "lm", right, outputs, model=f"acme/{model}")
    inspect = log_files.inspect_file
    for name, system in (("base", "A"), ("new", "B")):
        for task, n in (("arc", 30), ("law", 20)):
            content = log_files.inspect_log(answers(n, n)[system], task=task, model=f"m/{name}")
            inspect(folder / "inspect" / name / f"{task}.json", content)
    content = log_files.inspect_log(answers(24, 30)["C"], task="arc", model="m/short")
    inspect(folder / "short.json", content)
    for name, system in (("a", "A"), ("b", "C")):
        values = [x for seed in range(3) for x in answers(15, seed)[system]]
        content = log_files.inspect_log(values, epochs=3, model=f"m/{name}")
        inspect(folder / "epochs" / f"{name}.json", content)


def of_messages() -> Cases:
    """What cannot be answered, and what it says."""
    numbers = table(grades(), GRADE)
    compare = partial(es.compare, numbers, n_resamples=B)
    wrong: dict[str, Any] = {
        "method": "wald", "alternative": "up", "adjustment": "sidak",
        "confidence_level": 1.5, "n_resamples": 1, "baseline": "Z", "margin": -1, "recovery": 2,
        "groups": ["a"],
        "strata": [None] * N_NUMBERS, "aggregate": "macro", "rng": "x", "executor": "fast",
    }  # fmt: skip
    for name, value in wrong.items():
        yield f"wrong {name}", partial(compare, **{name: value})
    yield "no systems", partial(es.compare, {}, metrics=GRADE)
    yield "one system", partial(es.compare, {"A": [1, 2, 3]}, metrics=GRADE)
    yield "unequal lengths", partial(es.compare, {"A": [1, 2], "B": [1, 2, 3]}, metrics=GRADE)
    yield "no number", partial(es.compare, {"A": [1, None], "B": [1, 2]}, metrics=GRADE)
    yield "both limits", partial(compare, margin=1, recovery=0.5)
    yield "suite option", partial(es.Suite(tasks()).compare, strata=DOMAINS)
    yield "no systems in common", lambda: es.Suite({**tasks(), "b": table({"A": [1.0, 2]}, GRADE)})
    yield "no references", partial(es.compare, two(texts()[0]))


@cache
def cases() -> dict[str, Case]:
    """Return all calls by name."""
    kinds = (of_texts, of_options, of_answers, of_designs, of_suites)
    kinds += (of_rankings, of_gates, of_logs, of_messages)
    named = [pair for kind in kinds for pair in kind()]
    found = dict(named)
    assert len(found) == len(named)
    return found
