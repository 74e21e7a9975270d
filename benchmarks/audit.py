"""The p-values that sacreBLEU and evaluatio print for texts, beside the calibrated one.

    python -m benchmarks.audit ref.txt old.txt new.txt

sacreBLEU's are the very numbers that `sacrebleu --paired-bs` and `--paired-ar` print, drawn with
`$SACREBLEU_SEED` (12345 by default). evaluatio draws anew in each run, so its number is within the
Monte-Carlo error of its test.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import evalstats as es
from evalstats.compat.sacrebleu.metrics import BLEU
from evalstats.compat.sacrebleu.significance import PairedTest


class Audited(NamedTuple):
    """The p-value that a test of another tool prints, and the one of `compare` alone."""

    system: str
    test: str
    printed: float
    calibrated: float


def audited(systems: Mapping[str, Sequence[str]], references: Sequence[str]) -> Iterator[Audited]:
    """Yield three tests of BLEU of each system against the first one."""
    baseline, *_ = systems
    for row in es.compare(systems, references, baseline=baseline):
        pair = [(name, systems[name]) for name in (baseline, row.system)]
        for kind in ("bs", "ar"):
            # One system at a time, as somebody would type it: with more, "ar" draws other masks.
            test = PairedTest(pair, {"BLEU": BLEU()}, [references], kind, faithful=True)
            printed = test()[1]["BLEU"][1].p_value
            yield Audited(row.system, f"sacreBLEU --paired-{kind}", printed, row.pvalue)
        printed = es.bleu_bootstrap_test(references, *(texts for _, texts in pair), 9999)
        yield Audited(row.system, "evaluatio bleu_bootstrap_test", printed, row.pvalue)


if __name__ == "__main__":
    references, *outputs = map(es.read_lines, sys.argv[1:])
    systems = dict(zip(sys.argv[2:], outputs, strict=True))
    for one in audited(systems, references):
        print(f"{one.system:20} {one.test:30} {one.printed:.4f}  calibrated {one.calibrated:.4f}")
