"""`compat.sacrebleu.significance.PairedTest` against sacreBLEU's, whose results it has.

    python -m benchmarks.paired_test [--repeats 3] [--metrics BLEU CHRF TER]

Twice: from texts, and from statistics that were counted before, with nothing but resampling left.
"""

from __future__ import annotations

import argparse
from typing import Any

import sacrebleu.metrics as sacre
from sacrebleu import significance

from benchmarks.corpora import corpus
from benchmarks.ratios import best_times, forget_tokens
from evalstats.compat.sacrebleu import metrics as ours
from evalstats.compat.sacrebleu.significance import PairedTest

Systems = list[tuple[str, list[str]]]


def main() -> None:
    """Print times in milliseconds, and ratios."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--metrics", nargs="+", default=["BLEU", "CHRF", "TER"])
    options = parser.parse_args()
    label, systems, references = corpus()
    print(f"{label}, {len(references)} segments; bs: 1,000 resamples, ar: 10,000 trials\n")
    print(
        "milliseconds           from texts: sacreBLEU   ours  ratio"
        "   resampling: sacreBLEU   ours  ratio"
    )
    for n_systems in (2, len(systems)):
        for name in options.metrics:
            for test in ("bs", "ar"):
                named = list(systems.items())[:n_systems]
                times = measure(named, references, name, test, options.repeats)
                print(f"{n_systems} systems, {name:5} {test}", end="")
                for width, theirs, our in ((25, *times[:2]), (24, *times[2:])):
                    print(f"{theirs:{width}.0f}{our:7.0f}{theirs / our:7.1f}", end="")
                print(flush=True)


def measure(
    named: Systems, references: list[str], name: str, test: str, repeats: int
) -> list[float]:
    """Return milliseconds: sacreBLEU's and ours from texts, then of resampling alone."""

    def theirs() -> Any:
        forget_tokens()
        metric = getattr(sacre, name)(references=[references])
        return significance.PairedTest(named, {name: metric}, None, test)()

    def our() -> Any:
        metric = getattr(ours, name)(references=[references])
        return PairedTest(named, {name: metric}, None, test)()

    class Counted(getattr(sacre, name)):  # type: ignore[misc]
        """sacreBLEU's metric with statistics that are there already."""

        def _extract_corpus_statistics(self, hypotheses: Any, references: Any) -> Any:
            return rows[id(hypotheses)]

    metric = getattr(sacre, name)(references=[references])
    rows = {id(texts): metric._extract_corpus_statistics(texts, None) for _, texts in named}
    counted = Counted()
    counted.num_refs = 1
    made = PairedTest(named, {name: getattr(ours, name)()}, [references], test)
    from_texts = best_times({"theirs": theirs, "ours": our}, 1 if name == "TER" else repeats)
    resampling = best_times(
        {
            "theirs": lambda: significance.PairedTest(named, {name: counted}, None, test)(),
            "ours": made,
        },
        repeats,
    )
    assert str(theirs() if name != "TER" else our()) == str(made())
    return [1000 * seconds for seconds in (*from_texts.values(), *resampling.values())]


if __name__ == "__main__":
    main()
