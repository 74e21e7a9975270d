"""How much faster than sacreBLEU, as ratios measured in one run, and the peak memory.

    python -m benchmarks.ratios [--repeats 3]

The alternatives take turns, and each keeps its best time: the machine's speed drifts, and what
disturbs a run only ever makes it longer.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable

import sacrebleu.metrics as sacre
from sacrebleu.significance import PairedTest

import evalstats as es
from benchmarks.corpora import corpus

MEMORY = """
import resource, sys
import numpy as np
import evalstats as es
rng = np.random.default_rng(0)
total = rng.integers(5, 40, size=(2, {n}, 4))
values = np.concatenate(
    [total[..., :1], total[..., :1], rng.integers(0, total + 1), total], axis=2
)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
statistics = es.SegmentStatistics(values, ["A", "B"], "bleu")
es.compare(statistics, n_resamples={b})
print(before // 1024, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def best_times(alternatives: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Return the best time of each alternative in seconds; they take turns."""
    best = dict.fromkeys(alternatives, float("inf"))
    for _ in range(repeats):
        for name, run in alternatives.items():
            start = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def forget_tokens() -> None:
    """Empty the caches that sacreBLEU's tokenisers keep from one run to the next."""
    from sacrebleu.tokenizers import tokenizer_13a, tokenizer_re, tokenizer_ter, tokenizer_zh

    for cached in (
        tokenizer_13a.Tokenizer13a.__call__,
        tokenizer_re.TokenizerRegexp.__call__,
        tokenizer_zh.TokenizerZh.__call__,
        tokenizer_zh.TokenizerZh._is_chinese_char,
        tokenizer_ter.TercomTokenizer.__call__,
    ):
        cached.cache_clear()


def main() -> None:
    """Print times, ratios and memory."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--resamples", type=int, default=10_000)
    options = parser.parse_args()
    # First, while this process is small: a child's peak starts from its parent's.
    code = MEMORY.format(n=100_000, b=10_000)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    before, after = map(int, done.stdout.split())
    print(f"10,000 resamples of two systems on 100,000 segments: peak memory {after} MB")
    print(f"  ({before} MB of it before the comparison: NumPy and the statistics themselves)\n")

    label, systems, references = corpus()
    two = dict(list(systems.items())[:2])
    n_resamples = options.resamples
    print(f"{label}, two systems, BLEU, {len(references)} segments, {n_resamples} resamples\n")

    extracted = es.extract(two, references)

    def theirs(test: str) -> PairedTest:
        forget_tokens()
        metric = sacre.BLEU(references=[references])
        return PairedTest(list(two.items()), {"BLEU": metric}, None, test, n_resamples)

    def ours(test: str) -> es.Comparison:
        return es.compare(two, references, test=test, n_resamples=n_resamples)

    def given(test: str) -> es.Comparison:
        return es.compare(extracted, test=test, n_resamples=n_resamples)

    for theirs_test, ours_test in (("bs", "bootstrap"), ("ar", "ar")):
        times = best_times(
            {
                "sacreBLEU PairedTest": lambda t=theirs_test: theirs(t)(),
                "sacreBLEU extraction alone": lambda: (
                    forget_tokens()
                    or [
                        sacre.BLEU(references=[references])._extract_corpus_statistics(texts, None)
                        for texts in two.values()
                    ]
                ),
                "evalstats compare": lambda t=ours_test: ours(t),
                "evalstats compare, statistics given": lambda t=ours_test: given(t),
            },
            options.repeats,
        )
        whole, extraction, with_text, alone = times.values()
        print(f"{theirs_test}:")
        for name, seconds in times.items():
            print(f"  {name:38s}{1000 * seconds:10.0f} ms")
        print(f"  ratio, texts to p-value                {whole / with_text:10.1f}")
        print(f"  ratio, statistics given                {(whole - extraction) / alone:10.1f}\n")


if __name__ == "__main__":
    main()
