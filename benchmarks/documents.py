"""Print how much wider intervals become when documents are resampled, not segments.

    python -m benchmarks.documents [--nulls] [--documents 170] [--trials 1000]

Ratios of standard errors (from influence values, no resampling), over all systems and all pairs of
WMT24 en-es, or of the bundled sample where that test set is not at hand.

With `--nulls`: how often the default test rejects at 0.05 and 0.01, of eight pairs of systems under
three metrics, where a null hypothesis about documents is true:

- *swapped*: all documents of the test set, the outputs of each exchanged or not by a coin toss;
- *exchangeable*: documents drawn with replacement, and exchanged or not;
- *recentred*: drawn from a population in which outputs of a few segments have been exchanged, so
  that both scores are equal (`calibration/equality.py`);
- *tilted*: drawn with unequal probabilities that make both scores equal (`families.py`).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import evalstats as es
from benchmarks.calibration.equality import recentred
from benchmarks.corpora import WMT
from benchmarks.families import tilted
from evalstats.data import load_sample
from evalstats.statistics.names import group_codes

METRICS = ("bleu", "chrf", "ter")
NULLS = ("swapped", "exchangeable", "recentred", "tilted")
PAIRS = (
    ("Claude-3.5", "GPT-4"),
    ("IOL-Research", "Mistral-Large"),
    ("Claude-3.5", "ONLINE-G"),
    ("GPT-4", "Gemini-1.5-Pro"),
    ("CommandR-plus", "Aya23"),
    ("ONLINE-A", "ONLINE-B"),
    ("Dubformer", "IOL-Research"),
    ("Gemini-1.5-Pro", "Llama3-70B"),
)
SAMPLE_PAIRS = (("baseline", "clearly-better"),)


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


def nulls(n_documents: int, trials: int) -> None:
    """Print a line for each null hypothesis, metric and pair, and the means."""
    label, systems, references, documents = corpus()
    codes = group_codes(documents, len(references))
    print(f"{label}, {n_documents} documents, {trials} trials: rejections at .05 and .01")
    for null in NULLS:
        rates = []
        for name in METRICS:
            for pair in PAIRS if PAIRS[0][0] in systems else SAMPLE_PAIRS:
                table = es.extract({s: systems[s] for s in pair}, references, name)
                found = np.array(list(_pvalues(table, codes, null, n_documents, trials)))
                if not len(found):
                    continue
                rates.append([np.mean(found <= level + 1e-12) for level in (0.05, 0.01)])
                shown = " ".join(f"{rate:.3f}" for rate in rates[-1])
                print(f"{null:13s}{name:6s}{' against '.join(pair):36s}{shown}", flush=True)
        least, middle, most = np.quantile(np.array(rates)[:, 0], [0, 0.5, 1])
        mean = np.mean(rates, axis=0)
        print(
            f"{null}: mean {mean[0]:.4f} {mean[1]:.4f}; at .05 {least:.3f} to {most:.3f}, "
            f"median {middle:.3f}"
        )


def _pvalues(
    table: es.SegmentStatistics, codes: NDArray[np.intp], null: str, n: int, trials: int
) -> Iterator[float]:
    values, chances = table.values, None
    if null == "recentred":
        values = recentred(values, table.metric)
        if values.shape != table.values.shape:
            # A segment had to be left out, which belongs to a document.
            return
    if null == "tilted":
        chances = tilted(table.grouped(codes.tolist()), np.zeros(2, dtype=int))
    members = [np.flatnonzero(codes == i) for i in range(codes.max() + 1)]
    rng = np.random.default_rng(1)
    for trial in range(trials):
        drawn = np.arange(len(members))
        if null != "swapped":
            drawn = rng.choice(len(members), size=n, p=chances)
        rows = np.concatenate([members[i] for i in drawn])
        groups = np.repeat(np.arange(len(drawn)), [len(members[i]) for i in drawn])
        some = values[:, rows]
        if null in ("swapped", "exchangeable"):
            swap = (rng.random(len(drawn)) < 0.5)[groups]
            some = np.where(swap[None, :, None], some[::-1], some)
        drawn_table = es.SegmentStatistics(some, table.systems, table.metric)
        (difference,) = es.compare(drawn_table, groups=groups, n_resamples=399, rng=trial)
        yield difference.pvalue


def main() -> None:
    """Print one table or the other."""
    parser = argparse.ArgumentParser(prog="benchmarks.documents", description=__doc__)
    parser.add_argument("--nulls", action="store_true", help="rejections of true null hypotheses")
    parser.add_argument("--documents", type=int, default=170, metavar="N")
    parser.add_argument("--trials", type=int, default=1000)
    options = parser.parse_args()
    if options.nulls:
        return nulls(options.documents, options.trials)
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
