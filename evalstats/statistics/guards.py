"""What is said of texts that a metric is not made for; it stands with their statistics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evalstats.metrics import BLEU, Metric
from evalstats.statistics.files import Lines
from evalstats.text.guards import language_of, n_marked

#: The least number, and the least share, of empty outputs that is worth a word.
_MOST_EMPTY, _SHARE_EMPTY = 3, 0.05

#: Sentences by the system that they are about; "" is all of them.
Cautions = Mapping[str, tuple[str, ...]]
Texts = Sequence[str] | Lines


def cautions_of(
    metrics: Sequence[Metric],
    outputs: Mapping[str, Texts],
    references: Texts,
) -> list[Cautions]:
    """Return for each metric what texts, and one reference of each segment, may make invalid."""
    language, (are_tokenised, n_absent) = language_of(references), n_marked(references)
    of_all: list[str] = []
    if all("\t" in text for text in references):
        n = 1 + min(text.count("\t") for text in references)
        of_all.append(
            f"Every reference has a tab: if it is {n} references, give --num-refs {n}, or in "
            f"Python a list of {n} strings"
        )
    empty: dict[str, str] = {}
    tokenised: dict[str, str] = {}
    for name, texts in outputs.items():
        n, (n_tokenised, n_empty) = len(texts), n_marked(texts)
        if n_empty - n_absent >= max(_MOST_EMPTY, _SHARE_EMPTY * n):
            empty[name] = f"{n_empty:,} of {n:,} outputs of {name} are empty"
        if n_tokenised:
            tokenised[name] = (
                f"{n_tokenised:,} of {n:,} outputs of {name} end in ' .', as tokenised text does"
            )
    found: list[Cautions] = []
    for metric in metrics:
        why, expects = metric.unsuited(language), ""
        if not are_tokenised:
            expects = "and the references do not: detokenise them"
        elif isinstance(metric, BLEU) and metric.tokenizer != "none":
            expects = f"and {metric.name} expects text that is not: detokenise it"
        own = {"": [*of_all, *([f"{metric.name}: {why}"] if why else [])]}
        for name in outputs:
            marks = f"{tokenised[name]}, {expects}" if expects and name in tokenised else ""
            own[name] = [f for f in (empty.get(name), marks) if f]
        found.append({name: tuple(f"{x}." for x in said) for name, said in own.items() if said})
    return found
