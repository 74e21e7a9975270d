"""Small logs of those who evaluate applications and agents, as their programs write them."""

from tests.log_files import Written, written

# promptfoo


def promptfoo_results(passed, repeat=2, providers=("openai:gpt-4o", "openai:gpt-4o-mini")):
    """Return `results.json`, version 3: `passed` has what provider p gives in repetition r of test t.

    It is indexed [t][r][p]: True, False or None for an error. A repetition has a number of its own,
    as if it were another test.
    """
    results, sums = [], [dict.fromkeys(("Pass", "Fail", "Error", "score"), 0) for _ in providers]
    for test, of_test in enumerate(passed):
        for r, of_repetition in enumerate(of_test[:repeat]):
            for p, (provider, is_passed) in enumerate(zip(providers, of_repetition, strict=True)):
                number = test * repeat + r
                results.append(promptfoo_result(test, number, p, provider, is_passed))
                kind = {True: "Pass", False: "Fail", None: "Error"}[is_passed]
                sums[p][kind] += 1
                sums[p]["score"] += results[-1]["score"]
    prompts = [
        {"raw": "Reply to {{message}}", "label": "Reply to {{message}}", "provider": provider,
         "metrics": {"score": of["score"], "testPassCount": of["Pass"],
                     "testFailCount": of["Fail"], "testErrorCount": of["Error"]}}
        for provider, of in zip(providers, sums, strict=True)
    ]  # fmt: skip
    total = {of: sum(one[k] for one in sums) for k, of in
             (("Pass", "successes"), ("Fail", "failures"), ("Error", "errors"))}  # fmt: skip
    return {
        "evalId": "eval-abc-2026-01-02T03:04:05",
        "results": {"version": 3, "timestamp": "2026-01-02T03:04:05.000Z", "prompts": prompts,
                    "results": results, "stats": total},
        "config": {"evaluateOptions": {"repeat": repeat}},
        "shareableUrl": None,
    }  # fmt: skip


def promptfoo_result(test, number, prompt, provider, passed, **more):
    """Return the result of one test."""
    error = {True: None, False: "Expected refund", None: "API error: 429 Too Many Requests"}[passed]
    score = {True: 1, False: 0.25, None: 0}[passed]
    variables = {"message": f"Where is parcel {test}?", "topic": ["refund", "parcel"][test % 2]}
    grading = {"pass": passed, "score": score, "reason": error, "componentResults": []}
    return {
        "cost": 0, "error": error, "gradingResult": None if passed is None else grading,
        "latencyMs": 500, "namedScores": {}, "prompt": {"raw": f"Reply to {variables['message']}",
                                                        "label": "Reply to {{message}}"},
        "promptIdx": prompt, "provider": {"id": provider, "label": ""},
        "response": {"output": "Soon."}, "score": score, "success": bool(passed),
        "testCase": {"description": f"parcel-{test}", "vars": variables,
                     "assert": [{"type": "contains", "value": "refund"}]},
        "testIdx": number, "vars": variables, "metadata": {},
        "failureReason": {True: 0, False: 1, None: 2}[passed], **more,
    }  # fmt: skip


ANSWERS = [[[True, True], [False, True]], [[True, False], [True, False]], [[False, True]] * 2]


def promptfoo(folder):
    return written(folder / "results.json", promptfoo_results(ANSWERS))


# DeepEval


def deepeval_run(scores, threshold=0.5, name="Answer Relevancy", identifier="prompt-v2"):
    """Return a test run with a score of each test case, None where the metric ended with an error."""
    passed = [score is not None and score >= threshold for score in scores]
    return {
        "testFile": "test_bot.py",
        "testCases": [
            {"name": f"test_case_{i}", "input": f"Question {i}?", "actualOutput": "Yes.",
             "expectedOutput": "Yes.", "flaky": False, "success": is_passed,
             "metricsData": [
                 {"name": name, "threshold": threshold, "success": is_passed, "strictMode": False,
                  "flaky": False, "evaluationModel": "gpt-4o",
                  **({"error": "timed out"} if score is None else {"score": score})}],
             "order": i, "metadata": {"topic": ["refund", "parcel"][i % 2]}}
            for i, (score, is_passed) in enumerate(zip(scores, passed, strict=True))
        ],
        "conversationalTestCases": [],
        "metricsScores": [{"metric": name, "scores": [s for s in scores if s is not None],
                           "passes": sum(passed), "fails": 0, "errors": scores.count(None)}],
        "identifier": identifier, "hyperparameters": {"model": "gpt-4o"},
        "testPassed": sum(passed), "testFailed": len(passed) - sum(passed), "runDuration": 1.5,
    }  # fmt: skip


def deepeval(folder):
    return written(folder / "test_run_20260102_030405.json", deepeval_run([0.75, 0.25, 1.0, 0.5]))


# OpenAI evals


def oaieval_lines(correct, model="gpt-4o", *, report=True, max_samples=None, **fields):
    """Return the lines of `oaieval` on `test-match`; a sample of None ended with an error."""
    spec = {
        "completion_fns": [model], "eval_name": "test-match.s1.simple-v0",
        "base_eval": "test-match", "split": "s1", "created_by": "",
        "run_config": {
            "completion_fns": [model], "seed": 20220722, "max_samples": max_samples,
            "eval_spec": {"cls": "evals.elsuite.basic.match:Match", "args": {
                "samples_jsonl": "test_match/samples.jsonl"}, "key": "test-match.s1.simple-v0"},
            "command": "oaieval", "initial_settings": {"visible": True}},
        "run_id": "230417220821DPM75QNS", "created_at": "2026-04-17 22:08:21.904498",
    }  # fmt: skip
    events = []
    for i, is_correct in enumerate(correct):
        sample = f"test-match.s1.{i}"
        events.append((sample, "sampling", {"prompt": f"What is {i}?", "sampled": ["A"]}))
        if is_correct is None:
            events.append((sample, "error", {"type": "Timeout", "message": "no answer"}))
        else:
            events.append((sample, "match", {
                "correct": is_correct, "expected": f"{i}", "picked": "A", **fields}))  # fmt: skip
    stated = [one for one in correct if one is not None]
    lines = [{"spec": spec}]
    if report:
        # It is written before the events that are still in memory.
        lines.append({"final_report": {"accuracy": sum(stated) / len(stated)}, "run_id": "1"})
    return lines + [
        {"run_id": spec["run_id"], "event_id": n, "sample_id": sample, "type": kind, "data": data,
         "created_by": "", "created_at": "2026-04-17 22:08:22+00:00"}
        for n, (sample, kind, data) in enumerate(events)
    ]  # fmt: skip


def openai_evals(folder):
    return written(folder / "gpt-4o_test.jsonl", oaieval_lines([True, False, True, True]))


# tau-bench


def tau_trials(rewards, errors=()):
    """Return the trials of an agent, from rewards [trial][task]; `errors` are (trial, task)."""
    return [
        {"task_id": task, "reward": reward, "info": (
            {"error": "RateLimitError", "traceback": "..."} if (trial, task) in errors else
            {"task": {"user_id": f"u{task}", "instruction": f"You are customer {task}.",
                      "actions": [], "outputs": []}, "source": "user"}),
         "traj": [{"role": "user", "content": "Hi!"}], "trial": trial}
        for trial, of_trial in enumerate(rewards)
        for task, reward in enumerate(of_trial)
    ]  # fmt: skip


TAU_NAME = "tool-calling-gpt-4o-0.0_range_0--1_user-gpt-4o-llm_0612073827.json"
REWARDS = [[1.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 1.0]]


def tau_bench(folder):
    return written(folder / TAU_NAME, tau_trials(REWARDS))


# tau2-bench


def tau2_results(rewards, model="gpt-4.1", ends=None, domain="airline"):
    """Return results from rewards [trial][task]; `ends` are how some of them ended."""
    ends = ends or {}
    n_tasks = len(rewards[0])
    return {
        "timestamp": "2026-01-02T03:04:05",
        "info": {
            "git_commit": "abc", "num_trials": len(rewards), "max_steps": 100, "max_errors": 10,
            "user_info": {"implementation": "user_simulator", "llm": "gpt-4.1"},
            "agent_info": {"implementation": "llm_agent", "llm": model, "llm_args": {}},
            "environment_info": {"domain_name": domain, "policy": "..."}, "seed": 300},
        "tasks": [{"id": f"{i}", "user_scenario": {"instructions": f"You want flight {i}."},
                   "evaluation_criteria": {"actions": []}} for i in range(n_tasks)],
        "simulations": [
            {"id": f"{trial}-{task}", "task_id": f"{task}", "trial": trial,
             "termination_reason": ends.get((trial, task), "user_stop"),
             "reward_info": {"reward": reward, "reward_basis": ["DB"]}, "messages": []}
            for trial, of_trial in enumerate(rewards) for task, reward in enumerate(of_trial)],
    }  # fmt: skip


def tau2_bench(folder):
    return written(folder / "gpt-4.1_airline.json", tau2_results(REWARDS))


# SWE-bench


def swe_report(**lists):
    """Return the report of a run, from lists of numbers of issues: ``resolved=[1, 2]``."""
    ids = {name: sorted(f"django__django-{n}" for n in some) for name, some in lists.items()}
    done = [*ids.get("resolved", []), *ids.get("unresolved", [])]
    submitted = [*done, *ids.get("empty_patch", []), *ids.get("error", [])]
    names = ("incomplete", "empty_patch", "submitted", "resolved", "unresolved", "error")
    ids |= {"submitted": sorted(submitted)}
    return {
        "total_instances": len(submitted) + len(ids.get("incomplete", [])),
        "submitted_instances": len(submitted), "completed_instances": len(done),
        **{f"{name}_instances": len(ids.get(name, [])) for name in names[3:]},
        "completed_ids": sorted(done), **{f"{name}_ids": ids.get(name, []) for name in names},
        "schema_version": 2,
    }  # fmt: skip


def swe_bench(folder):
    report = swe_report(resolved=[11, 9, 101], unresolved=[10, 8], empty_patch=[12])
    return written(folder / "acme__coder.run-1.json", report)


# AlpacaEval


def annotations(preferences, model="tuned", **fields):
    return [
        {"instruction": f"Instruction {i}: write.", "output_1": "One.", "generator_1": "gpt4",
         "dataset": ["helpful_base", "koala"][i % 2], "output_2": "Two.", "generator_2": model,
         "annotator": "weighted_alpaca_eval_gpt4_turbo", "preference": preference, **fields}
        for i, preference in enumerate(preferences)
    ]  # fmt: skip


def leaderboard(rates):
    """Return the text of `leaderboard.csv` from win rates and counts: ``{"tuned": (62.5, 4)}``."""
    rows = [f"{name},{rate},1.0,2,1,1,{n},community" for name, (rate, n) in rates.items()]
    head = ",win_rate,standard_error,n_wins,n_wins_base,n_draws,n_total,mode"
    return "\n".join([head, *rows, ""])


def alpaca_eval(folder):
    beside = folder / "tuned" / "leaderboard.csv"
    written(beside.with_name("annotations.json"), annotations([2.0, 1.0, 1.5, 1.75]))
    beside.write_text(leaderboard({"gpt4": (50.0, 4), "tuned": (56.25, 4)}))
    return folder


FORMATS = {
    "promptfoo": Written(promptfoo, is_reported=True),
    "DeepEval": Written(deepeval, is_reported=True),
    "OpenAI evals": Written(openai_evals, is_reported=True),
    "tau-bench": Written(tau_bench),
    "tau2-bench": Written(tau2_bench),
    "SWE-bench": Written(swe_bench, is_reported=True),
    "AlpacaEval": Written(alpaca_eval, is_reported=True),
}
