"""Standard errors and intervals for all results of `lm_eval.simple_evaluate`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np

from evalstats.analysis.estimate import estimate
from evalstats.analysis.settings import N_RESAMPLES, SEED
from evalstats.checks import share
from evalstats.errors import InputError, InputTypeError
from evalstats.logs.formats.lm_eval import Results, TaskSamples
from evalstats.logs.log import Wanted, incompleteness
from evalstats.logs.pivot import pivoted
from evalstats.logs.rows import Rows
from evalstats.resampling.weights import Rng

_NONE = "N/A"


def with_uncertainty(
    results: Mapping[str, Any],
    *,
    method: str = "bootstrap",
    confidence_level: float = 0.95,
    n_resamples: int = N_RESAMPLES,
    rng: Rng = SEED,
) -> dict[str, Any]:
    r"""Fill in every standard error of lm-evaluation-harness, and add intervals.

    The harness gives "N/A" for perplexities per word and byte, for Brier scores and for a task's
    own functions, and uses 100 resamples for BLEU, chrF and TER. Here every error comes from
    influence values (the infinitesimal jackknife; Efron, 1982), which for means gives the harness's
    :math:`s / \sqrt n`. Groups have

    .. math:: \sqrt{\sum_t n_t^2 se_t^2} \,/\, \sum_t n_t
        \quad\text{or}\quad \sqrt{\sum_t se_t^2} \,/\, T

    for the mean over all items, and for the mean over T tasks (``weight_by_size: false``).

    Parameters
    ----------
    results : mapping
        The result of ``lm_eval.simple_evaluate(..., log_samples=True, bootstrap_iters=0)``. With
        other `bootstrap_iters` the harness's errors are replaced.
    method, confidence_level, n_resamples, rng
        Options of the intervals, as in `estimate`.

    Returns
    -------
    dict
        Results with ``"acc_stderr,none"`` and so on as numbers, for `make_table` and the loggers of
        the harness; the argument is not changed. Under ``"uncertainty"`` there are

        - ``"tasks"``: by task or group and ``"metric,filter"``, score, standard error, low, high;
        - ``"notes"``: which errors stay "N/A", and why;
        - ``"confidence_level"`` and ``"method"``.

    Raises
    ------
    InputError
        If there are no samples, or if samples are damaged.

    Examples
    --------
    >>> samples = [
    ...     {"doc_id": i, "filter": "none", "metrics": ["word_perplexity"],
    ...      "word_perplexity": (-10.0 - i, 5)}
    ...     for i in range(3)
    ... ]
    >>> results = {
    ...     "results": {"lm": {"word_perplexity,none": 9.025013499434122,
    ...                        "word_perplexity_stderr,none": "N/A"}},
    ...     "samples": {"lm": samples},
    ... }
    >>> filled = with_uncertainty(results)
    >>> round(filled["results"]["lm"]["word_perplexity_stderr,none"], 4)
    1.0421
    """
    share(confidence_level, "confidence_level")
    samples = results.get("samples") if isinstance(results, Mapping) else None
    if not isinstance(samples, Mapping) or not samples:
        raise InputTypeError(
            "results must be the return value of simple_evaluate and contain samples; call it "
            "with log_samples=True"
        )
    known = Results(results)
    options = {"method": method, "confidence_level": confidence_level, "n_resamples": n_resamples}
    notes: list[str] = []
    by_task: dict[str, dict[str, dict[str, float]]] = {}
    for task, records in samples.items():
        for rows in _rows(task, records, known, notes):
            try:
                told = _told(rows, rng=rng, **options)
            except InputError as error:
                notes.append(f"{rows.key}: {error}")
            else:
                by_task.setdefault(task, {})[f"{rows.key.metric},{rows.key.filter}"] = told
    for group in known.members:
        of_group = _of_group(group, known, by_task, confidence_level, notes)
        if of_group:
            by_task[group] = of_group
    filled = dict(results)
    for part in ("results", "groups"):
        if isinstance(results.get(part), Mapping):
            filled[part] = {
                name: _filled(entry, by_task.get(name, {})) for name, entry in results[part].items()
            }
    filled["uncertainty"] = {
        "confidence_level": confidence_level,
        "method": method,
        "tasks": by_task,
        "notes": notes,
    }
    return filled


def _rows(task: str, records: Any, known: Results, notes: list[str]) -> list[Rows]:
    """Return the rows of a task's samples; problems are added to the notes."""
    read = TaskSamples(task, known, Wanted(), f"samples of {task}", "sample")
    if not isinstance(records, (list, tuple)):
        raise InputTypeError(f"samples of {task} must be a list, got {type(records).__name__}")
    for i, record in enumerate(records):
        if not isinstance(record, Mapping):
            raise InputTypeError(f"samples of {task}, sample {i} must be a mapping, got {record!r}")
        names = [name for name in _plain(record.get("metrics") or ()) if name in record]
        kept = {name: _plain(record[name]) for name in (*names, "doc_id", "metrics")}
        read.add({**kept, "filter": record.get("filter", read.filter)}, i)
    try:
        return read.rows(known.model or "model", notes)
    except InputError as error:  # an item twice
        notes.append(f"{task}: {error}")
        return []


def _plain(value: Any) -> Any:
    """Return Python numbers and lists for the harness's NumPy values and tuples."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return value


def _told(rows: Rows, **options: Any) -> dict[str, float]:
    """Return score, standard error and interval, or raise an error."""
    gone = incompleteness([rows])
    if gone:
        raise InputError(gone)
    # A standard error has no direction.
    table = pivoted([replace(rows, is_directed=True)]).table()
    if table.n_segments < 2:
        raise InputError("a standard error requires at least 2 items, got 1")
    (score,) = table.scores.tolist()
    stated = rows.reported
    if stated is not None and not np.isclose(stated, score, rtol=1e-6, atol=1e-9):
        raise InputError(f"its score is {stated:.10g}, but its items give {score:.10g}")
    (estimated,) = estimate([table], **options)
    return {
        "score": score,
        "standard_error": estimated.standard_error,
        "low": estimated.low,
        "high": estimated.high,
        "n_items": table.n_segments,
    }


def _of_group(
    group: str,
    known: Results,
    by_task: Mapping[str, Mapping[str, Mapping[str, float]]],
    confidence_level: float,
    notes: list[str],
) -> dict[str, dict[str, float]]:
    """Return score, error and normal interval of the means over the tasks of a group."""
    told = {}
    for name, stated in known.scores(group).items():
        tasks = [task for task in known.leaves(group) if name in known.scores(task)]
        if not tasks or not all(name in by_task.get(task, {}) for task in tasks):
            gone = ", ".join(task for task in tasks if name not in by_task.get(task, {}))
            notes.append(f"{group}: {name}: {gone or 'any of its tasks'} lacks a standard error")
            continue
        parts = [by_task[task][name] for task in tasks]
        sizes = [
            known.count(task) or part["n_items"] for task, part in zip(tasks, parts, strict=True)
        ]
        # The mean over items or over tasks, whichever equals the logged score.
        scores = [part["score"] for part in parts]
        means = [(np.average(scores, weights=w), w) for w in (np.array(sizes), np.ones(len(tasks)))]
        fits = [w for mean, w in means if np.isclose(stated, mean, rtol=1e-6, atol=1e-9)]
        if not fits:
            over = " and ".join(f"{mean:.10g}" for mean, _ in means)
            notes.append(
                f"group {group}, {name}: the log has {stated:.10g}, but its tasks give {over} "
                "over all items and over tasks"
            )
            continue
        weights = fits[0]
        errors = weights * [part["standard_error"] for part in parts]
        error = float(np.sqrt(np.sum(errors**2)) / np.sum(weights))
        width = NormalDist().inv_cdf((1 + confidence_level) / 2) * error
        told[name] = {
            "score": stated,
            "standard_error": error,
            "low": stated - width,
            "high": stated + width,
        }
    return told


def _filled(entry: Any, scores: Mapping[str, Mapping[str, float]]) -> Any:
    """Return the results of a task with standard errors; unknown ones stay N/A."""
    if not isinstance(entry, Mapping):
        return entry
    filled = dict(entry)
    for name in entry:
        metric, _, filter = str(name).rpartition(",")
        if metric.endswith("_stderr"):
            score = f"{metric.removesuffix('_stderr')},{filter}"
            filled[name] = scores[score]["standard_error"] if score in scores else _NONE
    return filled
