"""`sacrebleu.significance`: `PairedTest` with sacreBLEU's p-values, at a fraction of the time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sacrebleu.significance import Result, estimate_ci

from evalstats.checks import choice, flag, integer, listed
from evalstats.compat.sacrebleu import draws
from evalstats.compat.sacrebleu.metrics import Streams, as_streams, count
from evalstats.errors import InputError, InputTypeError
from evalstats.resampling.weighted import MOST_RESAMPLES
from evalstats.text.references import as_texts

__all__ = ["PairedTest", "Result", "estimate_ci"]

_DEFAULT_SAMPLES = {"ar": 10_000, "bs": 1_000}


class PairedTest:
    """Compare systems with the first one, like sacreBLEU's class with the same name.

    Systems are pairs of a name and N outputs, the baseline first; references are streams of N
    entries, or `None` for the references given to the metrics. Scores, p-values, means and
    half-widths are sacreBLEU's, from its own draws for the same `$SACREBLEU_SEED`. Metrics come
    from `evalstats.compat.sacrebleu.metrics`, from sacreBLEU, or are of your own class, which
    counts and scores itself. `n_jobs` has no effect; bad input raises an `InputError`.

    **Note**: the p-value of "bs" is in effect one-sided (`draws.paired_bootstrap`);
    `evalstats.compare` computes calibrated p-values.

    ``faithful=True`` also reproduces three defects of sacreBLEU: seed 0 draws from the operating
    system, identical systems get p = 1/(n_samples + 1), and "ar" loses the fraction of k in add-k
    smoothing. By default seed 0 is a seed, identical systems get p = 1, and k keeps its fraction.

    Examples
    --------
    >>> from evalstats.compat.sacrebleu.metrics import BLEU
    >>> from evalstats.data import load_sample
    >>> sample = load_sample()
    >>> systems = [(name, sample.systems[name]) for name in ("baseline", "slightly-better")]
    >>> streams = list(zip(*sample.references))
    >>> signatures, scores = PairedTest(systems, {"BLEU": BLEU()}, streams, test_type="bs")()
    >>> scores["System"]
    ['baseline', 'slightly-better']
    >>> print(f"{scores['BLEU'][1].p_value:.4f}")
    0.1738
    """

    def __init__(
        self,
        named_systems: Sequence[tuple[str, Sequence[str]]],
        metrics: Mapping[str, Any],
        references: Streams | None,
        test_type: str = "ar",
        n_samples: int = 0,
        n_ar_confidence: int = -1,
        n_jobs: int = 1,
        *,
        faithful: bool = False,
    ) -> None:
        self.test_type: str = choice(test_type, ("ar", "bs"), "test_type")
        n_samples = integer(n_samples, "n_samples", 0, MOST_RESAMPLES)
        self.n_samples: int = n_samples or _DEFAULT_SAMPLES[self.test_type]
        n_ar_confidence = integer(n_ar_confidence, "n_ar_confidence", -1, MOST_RESAMPLES)
        self.n_ar_confidence: int = n_ar_confidence or _DEFAULT_SAMPLES["bs"]
        self.n_jobs: int = integer(n_jobs, "n_jobs", 0)
        self.faithful: bool = flag(faithful, "faithful")
        self.seed: int | None = draws.environment_seed()
        self.named_systems: list[tuple[str, list[str]]] = []
        for i, entry in enumerate(listed(named_systems, "named_systems", "(name, outputs) pairs")):
            if not isinstance(entry, (tuple, list)) or len(entry) != 2:
                raise InputTypeError(f"named_systems[{i}] must be a pair (name, outputs)")
            outputs = as_texts(entry[1], f"outputs of system {entry[0]!r}")
            self.named_systems.append((entry[0], outputs))
        if not self.named_systems:
            raise InputError("named_systems is empty; pass the baseline and the systems")
        self.references: Any = None if references is None else as_streams(references)
        self.n_systems: int = len(self.named_systems) - 1
        self.metrics: dict[str, Any] = {}
        self._tables: dict[str, list[draws.Counted]] = {}
        for metric in metrics.values():
            tables = []
            for system, texts in self.named_systems:
                try:
                    tables.append(draws.Counted(metric, count(metric, texts, self.references)))
                except InputError as error:
                    raise type(error)(f"system {system!r}: {error}") from None
            name = tables[0].score.name
            if name in self.metrics:
                raise InputError(
                    f"metrics contains two metrics named {name}, but the results can contain "
                    "only one; use a separate PairedTest for each"
                )
            self.metrics[name], self._tables[name] = metric, tables

    def __call__(self) -> tuple[dict[str, Any], dict[str, list[Any]]]:
        """Return signatures and scores, both by the names of the metrics' scores.

        The scores are one `Result` per system: score, p_value (`None` for the baseline), mean, ci
        (the half-width). The names of the systems are under "System".
        """
        # sacreBLEU treats 0 as "no seed".
        seed = self.seed or None if self.faithful else self.seed
        rng = np.random.default_rng(seed)
        groups, n = list(self._tables.values()), self.n_ar_confidence
        replicates: list[list[draws.Array]] = []
        if self.test_type == "bs":
            pvalues, replicates = draws.paired_bootstrap(groups, self.n_samples, rng)
        else:
            # Whole numbers cannot take the fraction of k in add-k smoothing; sacreBLEU drops it.
            dtype = None if self.faithful else np.float64
            swapped = [
                [draws.Counted(table.metric, np.asarray(table.rows, dtype)) for table in group]
                for group in groups
            ]
            pvalues = draws.paired_randomization(swapped, self.n_samples, rng)
            if n > 0:
                # Baselines are drawn from the seed, systems after the masks.
                first = np.random.default_rng(seed)
                baselines = draws.bootstrap_scores([group[:1] for group in groups], n, first)
                systems = draws.bootstrap_scores([group[1:] for group in groups], n, rng)
                replicates = [[*one, *more] for one, more in zip(baselines, systems, strict=True)]
        signatures: dict[str, Any] = {}
        scores: dict[str, list[Any]] = {"System": [name for name, _ in self.named_systems]}
        for i, (name, group) in enumerate(self._tables.items()):
            scores[name] = [Result(group[0].score.score)]
            for table, pvalue in zip(group[1:], pvalues[i], strict=True):
                identical = np.array_equal(group[0].rows, table.rows) and not self.faithful
                scores[name].append(Result(table.score.score, 1.0 if identical else pvalue))
            if replicates:
                for result, values in zip(scores[name], replicates[i], strict=True):
                    # Python numbers, for JSON; sacreBLEU's may be float32.
                    result.mean, result.ci = map(float, estimate_ci(values))
            signatures[name] = self.metrics[name].get_signature()
            signatures[name].update("seed", str(self.seed).lower())
            signatures[name].update(self.test_type, self.n_samples)
            if n > 0:
                signatures[name].update("bs", n)
        return signatures, scores
