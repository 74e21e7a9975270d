"""Print how much wider intervals become when documents are resampled, not segments.

    python -m benchmarks.documents

Ratios of standard errors (from influence values, no resampling), over all systems and all pairs of
WMT24 en-es, or of the bundled sample where that test set is not at hand.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import evalstats as es
from benchmarks.corpora import WMT
from evalstats.data import load_sample

METRICS = ("bleu", "chrf", "ter")


def corpus() -> tuple[str, dict[str, list[str]], es.References, list[str]]:
    """Return a label, outputs by system, references, and the document of each segment."""
    folder = WMT.parent / "wmt24" / "en-es"
    if not folder.is_dir():
        sample = load_sample()
        return "bundled sample", sample.systems, es.References(sample.references), sample.documents

    def lines(path: Path) -> list[str]:
        # Line 1 is a canary, not a segment.
        return path.read_bytes().decode("utf-8").split("\n")[1:-1]

    systems = {path.stem: lines(path) for path in sorted(folder.glob("systems/*.txt"))}
    documents = [line.split("\t")[1] for line in lines(folder / "documents.tsv")]
    return "WMT24 en-es", systems, es.References(lines(folder / "reference.A.txt")), documents


def main() -> None:
    """Print the table."""
    label, systems, references, documents = corpus()
    print(f"{label}: {len(systems)} systems, {len(references)} segments")
    print(f"{len(set(documents))} documents; standard error by documents / by segments:")
    print(f"{'':19s}{'least':>6s}{'median':>8s}{'largest':>8s}")
    for name in METRICS:
        statistics = es.extract(systems, references, name)
        # The test plays no part here: as few resamples as there can be.
        by_segment, by_document = (
            es.compare(statistics, method="t", groups=groups, n_resamples=2)
            for groups in (None, documents)
        )
        for kind, part in (("scores", "estimates"), ("differences", "differences")):
            pairs = zip(getattr(by_document, part), getattr(by_segment, part), strict=True)
            ratios = [a.standard_error / b.standard_error for a, b in pairs if b.standard_error]
            low, middle, high = np.quantile(ratios, [0, 0.5, 1])
            print(f"{name:6s}{kind:13s}{low:6.2f}{middle:8.2f}{high:8.2f}")


if __name__ == "__main__":
    main()
