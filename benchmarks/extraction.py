"""Print how much faster statistics come out of text than with the packages that define them.

Ratios in one process, one thread, the best of interleaved repeats. sacreBLEU's tokenisers remember
lines, so their caches are emptied before each of its runs. jiwer, NLTK and evaluatio are measured
where they are installed (the extras `test` and `peers`).

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.extraction [--repeats 5]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import sacrebleu.metrics as sacre

import evalstats as es
from benchmarks.corpora import corpus
from benchmarks.ratios import best_times, forget_tokens

Row = tuple[str, Any, type, dict[str, Any]]


def rows(tokenizer: str) -> list[Row]:
    """Name each metric, with ours, the class of sacreBLEU's, and its options."""
    return [
        ("BLEU", es.BLEU(tokenize=tokenizer), sacre.BLEU, {"tokenize": tokenizer}),
        ("chrF", es.CHRF(), sacre.CHRF, {}),
        ("chrF++", es.CHRF(word_order=2), sacre.CHRF, {"word_order": 2}),
        ("TER", es.TER(), sacre.TER, {}),
    ]


# Chinese by characters, where sentences have many words to shift.
_SPLIT = {"normalized": True, "asian_support": True}
SPLIT_ROWS: list[Row] = [("TER zh", es.TER(**_SPLIT), sacre.TER, _SPLIT)]


def against_sacrebleu(pair: str, metrics: list[Row], repeats: int, every: int = 1) -> None:
    """Print the ratios of one system, with references prepared and with their preparation."""
    label, systems, references = corpus(pair)
    texts = list(systems.values())[len(systems) // 2][::every]
    references = references[::every]
    for name, ours, kind, options in metrics:
        theirs = kind(references=[references], **options)
        prepared = es.References(references)
        ours.statistics(texts, prepared)

        def fresh(run: Callable[[], object]) -> Callable[[], object]:
            return lambda: forget_tokens() or run()

        times = best_times(
            {
                "theirs": fresh(lambda t=theirs: t._extract_corpus_statistics(texts, None)),
                "ours": lambda m=ours, p=prepared: m.statistics(texts, p),
                "theirs, all": fresh(
                    lambda k=kind, o=options: k(**o)._extract_corpus_statistics(texts, [references])
                ),
                "ours, all": lambda m=ours: m.statistics(texts, references),
            },
            # Twice is enough where sacreBLEU takes seconds.
            2 if (name, pair) == ("TER", "en-de") else repeats,
        )
        a, b, c, d = (1000 * seconds for seconds in times.values())
        print(
            f"{label:12s} {name:7s}{a:7.0f} /{b:6.1f} ms = {a / b:5.1f}"
            f"      {c:7.0f} /{d:6.1f} ms = {c / d:5.1f}",
            flush=True,
        )


def error_rates(repeats: int) -> None:
    """Print WER and CER against jiwer and evaluatio (Rust)."""
    label, systems, references = corpus()
    texts = list(systems.values())[len(systems) // 2]
    for name, metric, peer in (("WER", es.WER(), "words"), ("CER", es.CER(), "characters")):
        runs: dict[str, Callable[[], object]] = {
            "ours": lambda m=metric: m.statistics(texts, references)
        }
        if find_spec("jiwer"):
            process = getattr(import_module("jiwer"), f"process_{peer}")
            runs["jiwer"] = lambda p=process: p(references, texts)
        if find_spec("evaluatio"):
            module = import_module(f"evaluatio.metrics.{name.lower()}")
            rate = getattr(module, f"{peer[:-1]}_error_rate")
            runs["evaluatio"] = lambda r=rate: r(references, texts)
        times = best_times(runs, 3 * repeats)
        cells = [f"{peer} {1000 * seconds:.1f} ms" for peer, seconds in times.items()]
        print(f"{label:12s} {name:7s}" + ", ".join(cells))


def sentence_scores(repeats: int) -> None:
    """Print BLEU of every segment against loops over NLTK's and sacreBLEU's functions."""
    label, systems, references = corpus()
    texts = list(systems.values())[len(systems) // 2]
    pairs = list(zip(texts, references, strict=True))
    metric = es.SentenceBLEU(smoothing="method3", tokenize="none")
    runs: dict[str, Callable[[], object]] = {"ours": lambda: metric.scores(texts, references)}
    if find_spec("nltk"):
        peer = import_module("nltk.translate.bleu_score")
        method = peer.SmoothingFunction().method3
        runs["NLTK"] = lambda: [
            peer.sentence_bleu([ref.split()], hyp.split(), smoothing_function=method)
            for hyp, ref in pairs
        ]
    sentence = sacre.BLEU(tokenize="none", effective_order=True)
    runs["sacreBLEU"] = lambda: [sentence.sentence_score(hyp, [ref]) for hyp, ref in pairs]
    times = best_times(runs, repeats)
    cells = [f"{peer} {1000 * seconds:.1f} ms" for peer, seconds in times.items()]
    cells += [f"{times[peer] / times['ours']:.1f} x {peer}" for peer in runs if peer != "ours"]
    print(f"{label:12s} sentence BLEU  " + ", ".join(cells))


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    print(f"{'':20s}{'references prepared':34s}preparation included")
    print(f"{'':20s}sacreBLEU / evalstats = ratio")
    against_sacrebleu("en-de", rows("13a"), options.repeats)
    against_sacrebleu("en-zh", rows("zh"), options.repeats)
    # sacreBLEU needs most of a minute for all segments.
    against_sacrebleu("en-zh", SPLIT_ROWS, 2, every=10)
    print()
    error_rates(options.repeats)
    sentence_scores(options.repeats)


if __name__ == "__main__":
    main()
