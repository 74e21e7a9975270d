"""Logs of many harnesses and versions, cut down and without names: the scores are what they report.

`harnesses/reported.json` has the numbers by path: task, metric, filter where there are several,
and the score of the first system.
"""

import json
from pathlib import Path

import pytest

import evalstats as es

FOLDER = Path(__file__).with_name("harnesses")
REPORTED = json.loads((FOLDER / "reported.json").read_text("utf-8"))


@pytest.mark.parametrize("path", REPORTED)
def test_the_scores_of_a_log_are_those_that_it_reports(path):
    names = [metric for _, metric, *_ in REPORTED[path]]
    log = es.read_log(FOLDER / path, metric=names, filter="*")
    found = {}
    for record in log.to_dict()["tables"]:
        task, metric, part = (record[name] for name in ("task", "metric", "filter"))
        for key in ((task, metric), (task, metric, part), ("*", metric, part), (task, "*")):
            found.setdefault(key, record["score"])
    for *key, score in REPORTED[path]:
        assert found[tuple(key)] == pytest.approx(score, rel=1e-9)
    assert not log.disagreements
    assert not log.incomplete


def test_there_are_logs_of_twenty_harnesses_and_versions():
    assert len(REPORTED) >= 20
