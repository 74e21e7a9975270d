"""Signatures are records: a line is read back as it was, and a setting is no option of a test."""

import copy
import pickle
from dataclasses import dataclass, replace

import hypothesis.strategies as st
from hypothesis import example, given

import evalstats as es
from evalstats.metrics.base import MetricSignature, merged
from evalstats.results.signatures import Signature, together
from tests import log_files
from tests.golden_cases import GRADE, answers, grades, table, tables, tasks, two
from tests.helpers import cases

LINES = st.lists(st.sampled_from(["BLEU", "n:4", "ci:t", "seed:1", "x:", "", "sacrebleu:2.4,2.3"]))


@given(LINES.map("|".join) | st.text("a:|,\n", max_size=20))
@example("BLEU|case:mixed|sacrebleu:2.4|nrefs:2|ci:t|level:0.95|unit:segment")
def test_a_line_is_read_back_to_the_letter(line):
    assert str(Signature.of(line)) == str(MetricSignature.of(line)) == line
    assert together([Signature.of(line)]) == line


@dataclass(frozen=True)
class Named(es.Mean):
    """A metric whose settings are called as the options of a test."""

    @property
    def signature(self):
        return "custom:Named|test:mcnemar|adj:none|n:4|seed:5"


@cases(
    es.compare(tables()["bleu"], n_resamples=99, margin=1),
    es.compare(table(grades(), Named("x")), n_resamples=99),
    es.Suite(tasks(), "macro").compare(n_resamples=99),
    ids=["margin", "named", "suite"],
)
def test_records_are_what_their_lines_say(result):
    assert result.signatures == tuple(map(str, result.source.signatures.values()))
    for d in result:
        record = result.source.signatures[d.task, d.metric]
        assert Signature.of(result.signature_of(d)).analysis == record.analysis
        assert record.analysis["adj"] == result.adjustment


def test_the_settings_of_a_metric_are_no_options_of_a_test():
    own = Named("x").signature
    scores = {name: {f"s{i}": x for i, x in enumerate(xs)} for name, xs in two(answers()).items()}
    logs = [log_files.one(rows, name=name, metric=Named("x")) for name, rows in scores.items()]
    (check,) = es.gate(*logs, margin=0.5, n_resamples=99).checks
    assert check.signature.startswith(f"x|{own}|test:bootstrap|alt:two-sided|adj:none|margin:0.5|")
    assert "|n:99|" in check.signature


def test_a_total_of_metrics_names_each_version_of_sacrebleu_once():
    bleu, chrf = tables()["bleu"], tables()["chrf"]
    plain = MetricSignature.of(bleu.metric_signature)
    old = replace(bleu, metric_signature=str(replace(plain, versions=("1.5", "2.0"))))
    new = MetricSignature.of(chrf.metric_signature)
    new = replace(chrf, metric_signature=str(replace(new, versions=("2.0",))))
    total = es.Suite({"a": old, "b": new}, "macro").estimate(n_resamples=9).totals[0]
    assert "|sacrebleu:1.5,2.0|" in total.signature


def test_other_values_stand_at_their_places():
    one = Signature("x", MetricSignature.of("n:4"), {"test": "t", "adj": None, "n": "99"})
    assert one == "x|n:4|test:t|n:99"
    assert one.but(n=None, adj="holm") == "x|n:4|test:t|adj:holm"
    assert one.but(test="ar") == "x|n:4|test:ar|n:99"
    assert (one.settings, one.setting("n"), one.analysis["n"]) == (("n:4",), "4", "99")
    for again in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one), Signature.of(str(one))):
        assert (again, again.metric, again.analysis) == (one, one.metric, one.analysis)


def test_versions_of_sacrebleu_are_merged_and_come_last():
    found = merged(["case:mixed|sacrebleu:2.4", "case:mixed|sacrebleu:2.3,2.4"])
    assert str(found.tagged("runs:3")) == "case:mixed|runs:3|sacrebleu:2.3,2.4"
    assert found.unversioned == "case:mixed"


def test_a_line_from_elsewhere_may_lack_the_seed():
    (first, *_) = es.estimate(grades(), metric=GRADE, n_resamples=99)
    forged = es.Estimate.from_json(replace(first, signature=Signature.of("grade|n:99")).to_json())
    assert "seed" not in forged.describe()
