"""How long answers take, end to end and by part, beside those who give the same answers.

A row is one question asked of everybody who can answer it, in one process. Peers that are not
installed (the extras `peers`, `test` and `lm-eval`) are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import sacrebleu.metrics as sacre
from sacrebleu import significance
from scipy import stats

import evalstats as es
from benchmarks.corpora import corpus
from benchmarks.measure import forget_tokens
from evalstats.compat.sacrebleu import metrics as drop_in
from evalstats.compat.sacrebleu.significance import PairedTest
from evalstats.text.porter import stem

B = 10_000
OURS = "evalstats"
Runs = dict[str, Callable[[], object]]


class Question(NamedTuple):
    """One question, and who answers it how; ours is named `OURS`."""

    part: str
    what: str
    runs: Runs


def questions(quick: bool = False) -> Iterator[Question]:
    """Yield all questions; those that take a peer a minute only where there is time."""
    name = "sample" if quick else "wmt22/en-de"
    yield from end_to_end(name, quick)
    yield from replaced_tests(name, quick)
    yield from extraction(name, "13a")
    if not quick:
        yield from extraction("wmt22/en-zh", "zh")
    yield from error_rates(name)
    yield from overlap_with_references(name)
    yield sentence_scores(name)
    yield from resampling(name)


def peer(module: str) -> Any:
    """Return a module where it is installed."""
    return import_module(module) if find_spec(module.partition(".")[0]) else None


def fresh(run: Callable[[], object]) -> Callable[[], object]:
    """Return a run that begins without the tokens that sacreBLEU remembers."""
    return lambda: forget_tokens() or run()


def end_to_end(name: str, quick: bool) -> Iterator[Question]:
    """From texts to the answer."""
    label, systems, references = corpus(name)
    two = dict(list(systems.items())[:2])
    texts = next(iter(two.values()))
    for test, ours in (("bs", "bootstrap"), ("ar", "ar")):
        yield Question(
            "texts to answer",
            f"{label}, BLEU, two systems, {B:,} resamples: {test}",
            {
                OURS: lambda t=ours: es.compare(two, references, test=t, n_resamples=B),
                "sacreBLEU": fresh(
                    lambda t=test: significance.PairedTest(
                        list(two.items()), {"BLEU": sacre.BLEU(references=[references])}, None, t, B
                    )()
                ),
            },
        )
    runs: Runs = {OURS: lambda: es.estimate(texts, references, n_resamples=B)}
    if bleu := peer("evaluatio.metrics.bleu"):
        runs["evaluatio"] = lambda: bleu.bleu_ci(references, texts, B, 0.05)
    yield Question("texts to answer", f"{label}, BLEU, interval of one system", runs)
    if not quick and (metrics := peer("lm_eval.api.metrics")):
        items = list(zip(references, texts, strict=True))
        yield Question(
            "texts to answer",
            f"{label}, BLEU, standard error, 100 resamples",
            {
                OURS: lambda: es.estimate(texts, references, n_resamples=100),
                "lm-eval": lambda: metrics.bootstrap_stderr(metrics.bleu, items, 100),
            },
        )


def replaced_tests(name: str, quick: bool) -> Iterator[Question]:
    """SacreBLEU's `PairedTest` and the one that takes its place, with the same results."""
    label, systems, references = corpus(name)
    for n_systems in (2, min(9, len(systems))):
        named = list(systems.items())[:n_systems]
        for metric in ("BLEU", "CHRF") if quick else ("BLEU", "CHRF", "TER"):
            for test in ("bs", "ar"):
                yield Question(
                    "texts to `PairedTest`",
                    f"{label}, {n_systems} systems, {metric}, {test}",
                    {
                        OURS: paired_test(PairedTest, drop_in, named, references, metric, test),
                        "sacreBLEU": fresh(
                            paired_test(
                                significance.PairedTest, sacre, named, references, metric, test
                            )
                        ),
                    },
                )


def paired_test(
    kind: Any,
    metrics: Any,
    named: list[tuple[str, list[str]]],
    references: list[str],
    metric: str,
    test: str,
) -> Callable[[], object]:
    """Return a run of a `PairedTest`, whichever it is."""
    return lambda: kind(
        named, {metric: getattr(metrics, metric)(references=[references])}, None, test
    )()


def extraction(name: str, tokenizer: str) -> Iterator[Question]:
    """From the texts of one system to statistics, the references' preparation included."""
    label, systems, references = corpus(name)
    texts = list(systems.values())[len(systems) // 2]
    split = {"normalized": True, "asian_support": True}
    metrics: list[tuple[str, Any, Any, dict[str, Any]]] = [
        ("BLEU", es.BLEU(tokenize=tokenizer), sacre.BLEU, {"tokenize": tokenizer}),
        ("chrF", es.CHRF(), sacre.CHRF, {}),
        ("chrF++", es.CHRF(word_order=2), sacre.CHRF, {"word_order": 2}),
        # Chinese by characters: a sentence without spaces is one word otherwise.
        ("TER", es.TER(**split), sacre.TER, split)
        if tokenizer == "zh"
        else ("TER", es.TER(), sacre.TER, {}),
    ]
    for metric, ours, kind, options in metrics:
        # sacreBLEU's TER takes most of a minute for Chinese characters.
        every = 10 if (metric, tokenizer) == ("TER", "zh") else 1
        some, refs = texts[::every], references[::every]
        yield Question(
            "texts to statistics",
            f"{label}, {metric}, {len(some):,} segments",
            {
                OURS: lambda m=ours, s=some, r=refs: m.statistics(s, r),
                "sacreBLEU": fresh(
                    lambda k=kind, o=options, s=some, r=refs: k(**o)._extract_corpus_statistics(
                        s, [r]
                    )
                ),
            },
        )


def error_rates(name: str) -> Iterator[Question]:
    """WER and CER, which jiwer and evaluatio (Rust) count too."""
    label, systems, references = corpus(name)
    texts = list(systems.values())[len(systems) // 2]
    for metric, unit in ((es.WER(), "word"), (es.CER(), "character")):
        runs: Runs = {OURS: lambda m=metric: m.statistics(texts, references)}
        if jiwer := peer("jiwer"):
            process = getattr(jiwer, f"process_{unit}s")
            runs["jiwer"] = lambda p=process: p(references, texts)
        if module := peer(f"evaluatio.metrics.{metric.name.lower()}"):
            rate = getattr(module, f"{unit}_error_rate")
            runs["evaluatio"] = lambda r=rate: r(references, texts)
        yield Question("texts to statistics", f"{label}, {metric.name}", runs)


def overlap_with_references(name: str) -> Iterator[Question]:
    """ROUGE-L of 2,000 texts, as words are and stemmed, which rouge_score scores one by one."""
    label, systems, references = corpus(name)
    texts, references = list(systems.values())[len(systems) // 2][:2000], references[:2000]
    for stemmer in (False, True):
        metric = es.ROUGE("L", stemmer=stemmer)
        runs: Runs = {OURS: lambda m=metric: stem.cache_clear() or m.statistics(texts, references)}
        if rouge_score := peer("rouge_score.rouge_scorer"):
            scorer = rouge_score.RougeScorer(["rougeL"], use_stemmer=stemmer)
            pairs = list(zip(references, texts, strict=True))
            runs["rouge_score"] = lambda s=scorer, p=pairs: [s.score(*pair) for pair in p]
        what = f"{label}, ROUGE-L{', stemmed' if stemmer else ''}, {len(texts):,} segments"
        yield Question("texts to statistics", what, runs)


def sentence_scores(name: str) -> Question:
    """BLEU of every segment against loops over NLTK's and sacreBLEU's functions."""
    label, systems, references = corpus(name)
    texts = list(systems.values())[len(systems) // 2]
    pairs = list(zip(texts, references, strict=True))
    metric = es.SentenceBLEU(smoothing="method3", tokenize="none")
    runs: Runs = {OURS: lambda: metric.scores(texts, references)}
    if nltk := peer("nltk.translate.bleu_score"):
        method = nltk.SmoothingFunction().method3
        runs["NLTK"] = lambda: [
            nltk.sentence_bleu([ref.split()], hyp.split(), smoothing_function=method)
            for hyp, ref in pairs
        ]
    sentence = sacre.BLEU(tokenize="none", effective_order=True)
    runs["sacreBLEU"] = lambda: [sentence.sentence_score(hyp, [ref]) for hyp, ref in pairs]
    return Question("texts to statistics", f"{label}, sentence BLEU", runs)


def resampling(name: str) -> Iterator[Question]:
    """Answers from statistics that were counted before."""
    label, systems, references = corpus(name)
    table = es.extract(dict(list(systems.items())[:9]), references)
    first = [
        es.SegmentStatistics(table.values[:n], table.systems[:n], table.metric) for n in (1, 2)
    ]
    interval: Runs = {
        OURS: lambda: es.estimate(first[0], n_resamples=B),
        "SciPy": lambda: stats.bootstrap(
            (np.arange(table.n_segments),),
            lambda index, axis: table.metric.score(table.values[0][index].sum(axis=-2)),
            n_resamples=B, batch=100, method="percentile", vectorized=True,
        ),
    }  # fmt: skip
    bleu, rows = sacre.BLEU(references=[["a"]]), [block.tolist() for block in table.values[:2]]
    paired: Runs = {
        OURS: lambda: es.compare(first[1], n_resamples=B),
        "sacreBLEU": lambda: [significance._bootstrap_resample(row, bleu, B) for row in rows],
    }
    holm: Runs = {OURS: lambda: es.compare(table, adjustment="holm", n_resamples=B)}
    max_t: Runs = {OURS: lambda: es.compare(table, n_resamples=B)}
    if rust := peer("evaluatio._bindings"):
        all_rows = [
            [rust.BLEUSufficientStats(r[2:6], r[6:10], r[0], r[1]) for r in block.tolist()]
            for block in table.values
        ]
        pairs = list(combinations(all_rows, 2))
        interval["evaluatio"] = lambda: rust.bleu_ci(all_rows[0], B, 0.05)
        paired["evaluatio"] = lambda: rust.bleu_bootstrap_test(all_rows[0], all_rows[1], B)
        holm["evaluatio"] = lambda: [rust.bleu_bootstrap_test(a, b, B) for a, b in pairs]
        max_t["evaluatio"] = holm["evaluatio"]
    all_pairs = f"all pairs of {len(table.systems)} systems"
    asked = (
        ("interval", interval),
        ("paired test", paired),
        (f"{all_pairs}, Holm", holm),
        (f"{all_pairs}, max-T", max_t),
    )
    for what, runs in asked:
        yield Question("statistics to answer", f"{label}, BLEU, {what}, {B:,} resamples", runs)
