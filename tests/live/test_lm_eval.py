"""The real lm-evaluation-harness (extra `lm-eval`): a model that guesses, on tasks made here."""

import copy
import json
import math
import os
import random
from hashlib import sha256

import pytest

import evalstats as es
from evalstats.integrations.lm_eval import with_uncertainty

pytestmark = pytest.mark.filterwarnings("ignore")

CHOICE = """
output_type: multiple_choice
doc_to_text: "{{q}}"
doc_to_choice: choices
doc_to_target: gold
"""
TASKS = {
    "qa": CHOICE + "metric_list: [{metric: acc}, {metric: acc_norm}, {metric: brier_score}]",
    "yes_no": CHOICE + "metric_list: [{metric: acc}, {metric: f1}, {metric: mcc}]",
    "pick": CHOICE + "metric_list: [{metric: acc}]",
    "choose": CHOICE + "metric_list: [{metric: acc}]",
    "mt": """
output_type: generate_until
doc_to_text: "{{src}}"
doc_to_target: "{{ref}}"
generation_kwargs: {until: ["\\n"]}
metric_list: [{metric: bleu}, {metric: chrf}, {metric: ter}]
""",
    "lm": """
output_type: loglikelihood_rolling
doc_to_text: ""
doc_to_target: "{{text}}"
metric_list: [{metric: word_perplexity}, {metric: byte_perplexity}, {metric: bits_per_byte}]
""",
}
COMMON = """
task: {task}
dataset_path: json
dataset_kwargs: {{data_files: {{test: {path}}}}}
test_split: test
"""
GROUP = """
group: {name}
task: [{tasks}]
aggregate_metric_list: [{{metric: acc, weight_by_size: {by_size}}}]
"""
SIZES = {"qa": (150, 4), "yes_no": (90, 2), "pick": (20, 2), "choose": (50, 2)}


def documents(task, rng):
    n, classes = SIZES.get(task, (60, 0))
    for i in range(n):
        words = [f"w{rng.randrange(40)}" for _ in range(rng.randrange(5, 15))]
        record = {"id": i, "q": " ".join(words), "src": f"{i} " + " ".join(words)}
        record["ref"] = " ".join(words)
        record["text"] = " ".join(words[: 1 + i % 9])
        if classes:
            record["choices"] = [f"{c} {words[c]}" for c in range(classes)]
            record["gold"] = rng.randrange(classes)
        yield record


@pytest.fixture(scope="module")
def harness(tmp_path_factory):
    """Return results of the harness, and the folder that it wrote."""
    folder = tmp_path_factory.mktemp("harness")
    for name in ("HF_HOME", "HF_DATASETS_CACHE"):
        os.environ[name] = str(folder / "cache")
    os.environ["DISABLE_MULTIPROC"] = "1"
    pytest.importorskip("lm_eval", reason="needs the extra lm-eval")
    from lm_eval import simple_evaluate
    from lm_eval.api.model import LM
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.tasks import TaskManager

    class Guesser(LM):
        """Answers at random, the same answer to the same request."""

        def _rng(self, request):
            return random.Random(sha256(repr(request.args).encode()).hexdigest())

        def loglikelihood(self, requests, **_):
            return [(-4 * self._rng(r).random(), self._rng(r).random() < 0.5) for r in requests]

        def loglikelihood_rolling(self, requests, **_):
            return [-len(r.args[0]) * (0.5 + self._rng(r).random()) for r in requests]

        def generate_until(self, requests, **_):
            found = []
            for request in requests:
                rng, words = self._rng(request), request.args[0].split()[1:]
                kept = [w if rng.random() < 0.8 else "w99" for w in words]
                found.append(" ".join(kept if len(kept) % 2 else kept[:1]))
            return found

    tasks = folder / "tasks"
    tasks.mkdir()
    rng = random.Random(5)
    for task, text in TASKS.items():
        path = tasks / f"{task}.jsonl"
        path.write_text("".join(json.dumps(doc) + "\n" for doc in documents(task, rng)))
        (tasks / f"{task}.yaml").write_text(COMMON.format(task=task, path=path) + text)
    for name, own, by_size in (
        ("micro", "qa, yes_no", "true"),
        ("macro", "pick, choose", "false"),
        ("nested", "micro, macro", "true"),
    ):
        (tasks / f"{name}.yaml").write_text(GROUP.format(name=name, tasks=own, by_size=by_size))
    manager = TaskManager(include_path=str(tasks), include_defaults=False)
    found = simple_evaluate(
        Guesser(),
        tasks=["mt", "lm", "nested"],
        task_manager=manager,
        bootstrap_iters=0,
        log_samples=True,
    )
    tracker = EvaluationTracker(output_path=str(folder / "run"))
    tracker.general_config_tracker.model_name = "guesser 1"
    tracker.general_config_tracker.model_name_sanitized = "guesser_1"
    saved = copy.deepcopy(found)
    samples = saved.pop("samples")
    tracker.save_results_aggregated(results=saved, samples=samples)
    for task, own in samples.items():
        tracker.save_results_samples(task_name=task, samples=own)
    return found, folder / "run"


@pytest.fixture(scope="module")
def filled(harness):
    return with_uncertainty(harness[0])


def test_every_error_is_a_number(harness, filled):
    for task, own in harness[0]["results"].items():
        assert list(filled["results"][task]) == list(own)
        errors = [value for name, value in filled["results"][task].items() if "_stderr," in name]
        assert all(isinstance(value, float) for value in errors)
    assert filled["uncertainty"]["notes"] == []


def error(filled, task, metric, part="results"):
    return filled[part][task][f"{metric}_stderr,none"]


@pytest.mark.parametrize(
    "task, metric, function",
    [("qa", "acc", None), ("yes_no", "acc", None), ("mt", "bleu", "bleu"), ("mt", "ter", "ter"),
     ("lm", "word_perplexity", "weighted_perplexity"), ("lm", "bits_per_byte", "bits_per_byte"),
     ("yes_no", "f1", "f1_score"), ("yes_no", "mcc", "matthews_corrcoef"),
     ("qa", "brier_score", "brier_score")],
)  # fmt: skip
def test_errors_are_those_of_the_harness(harness, filled, task, metric, function):
    """Of means its own; of others its bootstrap.

    400 resamples have an error of 3.5%: 20 % is more than 5 of its standard deviations (one chance
    in a million), with some for what is not linear in 60 items.
    """
    from lm_eval.api import metrics

    rows = [sample[metric] for sample in harness[0]["samples"][task]]
    if function is None:
        expected = pytest.approx(metrics.mean_stderr(rows), rel=1e-9)
    else:
        by_bootstrap = metrics.bootstrap_stderr(getattr(metrics, function), rows, 400)
        expected = pytest.approx(by_bootstrap, rel=0.2)
    assert error(filled, task, metric) == expected


def test_groups_have_the_errors_of_their_means(filled):
    from lm_eval.api.metrics import pooled_sample_stderr, unweighted_mean_stderr

    errors, others = (
        [error(filled, task, "acc") for task in tasks]
        for tasks in (("qa", "yes_no"), ("pick", "choose"))
    )
    for part in ("results", "groups"):
        macro, micro = (error(filled, group, "acc", part) for group in ("macro", "micro"))
        assert macro == pytest.approx(unweighted_mean_stderr(others), rel=1e-12)
        direct = math.hypot(150 * errors[0], 90 * errors[1]) / 240
        assert micro == pytest.approx(direct, rel=1e-12)
        # The harness divides by n - 1 once more.
        assert micro == pytest.approx(pooled_sample_stderr(errors, [150, 90]), rel=0.01)


def test_the_harness_prints_the_numbers(filled):
    from lm_eval.utils import make_table

    assert f"{error(filled, 'mt', 'bleu'):.4f}" in make_table(filled)
    assert "macro" in make_table(filled, "groups")
    json.dumps(filled["uncertainty"])  # as its tracker saves it


def test_folders_are_read_with_every_score(harness):
    results, output = harness
    run = es.read_log(output)
    assert (run.name, run.disagreements, run.skipped) == ("guesser 1", (), ())
    assert {name: set(tasks) for name, tasks in run.groups.items()} == {
        "micro": {"qa", "yes_no"},
        "macro": {"pick", "choose"},
        "nested": {"qa", "yes_no", "pick", "choose"},
    }
    assert len(run.averages) == 3
    stated = {
        (task, *name.split(",")): value
        for task, own in results["results"].items()
        for name, value in own.items()
        if "," in name and "_stderr" not in name and task not in run.groups
    }
    found = {tuple(key): float(table.scores[0]) for key, table in run.tables.items()}
    # Probabilities are printed, and rounded, in files.
    assert found == pytest.approx(stated, rel=1e-7)


@pytest.mark.parametrize("group", ["micro", "macro", "nested"])
def test_the_total_of_a_group_is_the_score_that_the_harness_prints(harness, group):
    results, output = harness
    found = es.estimate_logs(output, task=group, metric="acc", n_resamples=99)
    (total,) = found.totals
    stated = results["results"][group]["acc,none"]
    assert (total.task, total.score) == (group, pytest.approx(stated, rel=1e-12))
