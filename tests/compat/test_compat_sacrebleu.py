"""compat.sacrebleu against sacreBLEU itself: equal to the last bit, defects and errors apart."""

import inspect
import json
import os
import subprocess
import sys
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
import sacrebleu
import sacrebleu.metrics as sacre
from hypothesis import assume, given, settings
from sacrebleu import significance as sacre_significance

import evalstats as es
import evalstats.compat.sacrebleu as ours
from evalstats.compat.sacrebleu import draws as sacrebleu_draws
from evalstats.compat.sacrebleu.metrics import METRICS
from evalstats.compat.sacrebleu.significance import PairedTest, Result, estimate_ci
from tests import naive
from tests.conftest import nasty_corpora
from tests.helpers import bad_cases, cases, refuses

#: One row a metric: its class by name, and its options. The default run takes every fifth of BLEU.
OPTIONS = [
    *(
        ("BLEU", {"smooth_method": method, "smooth_value": value, "effective_order": effective})
        for effective in (False, True)
        for method, value in (
            ("exp", None), ("none", None), ("floor", None), ("add-k", None), ("floor", 0.0),
            ("add-k", 0.5),
        )
    ),
    *(("BLEU", {"max_ngram_order": n, "tokenize": "char"}) for n in (1, 2, 3, 9, 5, 6)),
    *(("BLEU", {"tokenize": name, "lowercase": True}) for name in ("none", "intl")),
    ("BLEU", {"trg_lang": "zh"}),
    *(("BLEU", {"tokenize": name, "lowercase": True}) for name in ("zh", "13a")),
    ("CHRF", {}),
    ("CHRF", {"word_order": 2}),
    ("CHRF", {"eps_smoothing": True, "beta": 3}),
    ("CHRF", {"char_order": 2, "beta": 0.5, "lowercase": True, "whitespace": True}),
    ("TER", {}),
    ("TER", {"asian_support": True}),  # which has no effect alone
    ("TER", {"normalized": True, "no_punct": True, "asian_support": True, "case_sensitive": True}),
]  # fmt: skip
OPTIONS = [
    pytest.param(*row, marks=pytest.mark.thorough if row[0] == "BLEU" and i % 10 else ())
    for i, row in enumerate(OPTIONS)
]


def option_id(value):
    return str(value).translate(str.maketrans("", "", "{}' "))


by_options = pytest.mark.parametrize("name, options", OPTIONS, ids=option_id)


def make_twins(name, options):
    """Return sacreBLEU's metric and ours, made by the same call."""
    return getattr(sacre, name)(**options), METRICS[name](**options)


def paired(module, systems, metrics, references, *arguments, **options):
    return module.PairedTest(systems, metrics, references, *arguments, **options)()


def as_plain(outcome):
    signatures, scores = outcome
    assert next(iter(scores)) == "System"
    return {name: str(signature) for name, signature in signatures.items()}, {
        name: [vars(r) if isinstance(r, Result) else r for r in results]
        for name, results in scores.items()
    }


@by_options
@given(corpus=nasty_corpora, n=st.sampled_from([2, 39, 80]))
@settings(max_examples=5)
def test_scores_and_their_intervals(name, options, corpus, n):
    theirs, our = twins = make_twins(name, options)
    hypotheses, references = corpus
    streams = naive.streams(references)
    expected, found = (m.corpus_score(hypotheses, streams) for m in twins)
    assert type(found) is type(expected)
    assert vars(found) == vars(expected)
    as_json = {"width": 4, "signature": "a:b", "is_json": True}
    assert found.format(**as_json) == expected.format(**as_json)
    assert str(our.get_signature()) == str(theirs.get_signature())
    assert our.get_signature().format(short=True) == theirs.get_signature().format(short=True)
    known = [reference for reference in references[0] if reference is not None]
    expected, found = (m.sentence_score(hypotheses[0], known) for m in twins)
    assert vars(found) == vars(expected)

    assume(len(hypotheses) > 1)  # sacreBLEU's add-k changes the statistics of a single segment
    found = our.corpus_score(hypotheses, streams, n_bootstrap=n)
    assert 0 <= found._ci <= found._mean + found._ci
    try:
        expected = theirs.corpus_score(hypotheses, streams, n_bootstrap=n)
    except TypeError:
        # sacreBLEU cannot take the mean where some resamples score 0.0 and others a float32.
        assert name != "BLEU"
        return
    assert vars(found) == vars(expected)
    assert found.format() == expected.format()
    assert str(our.get_signature()) == str(theirs.get_signature())
    assert f"bs:{n}|seed:12345" in str(our.get_signature())


@by_options
@given(corpus=nasty_corpora, test=st.sampled_from(["ar", "bs"]), data=st.data())
@settings(max_examples=5)
def test_paired_tests_of_small_corpora_full_of_ties(name, options, corpus, test, data):
    twins = make_twins(name, options)
    hypotheses, references = corpus
    assume(len(hypotheses) > 1)
    # Up to two references: sums of thirds are rounded in an order that only sacreBLEU knows.
    references = [[r for r in row if r is not None][:2] for row in references]
    streams = naive.streams(references)
    others = data.draw(st.permutations(hypotheses))
    systems = [("A", hypotheses), ("B", others), ("C", [row[0] for row in references])]
    theirs, our = (
        as_plain(paired(module, systems, {"m": metric}, streams, test, 50, 30, **how))
        for module, metric, how in (
            (sacre_significance, twins[0], {}),
            (ours.significance, twins[1], {"faithful": True}),
        )
    )
    assert our == theirs


N = 21


@pytest.fixture(scope="module")
def rows(sample):
    """Short segments, for whose TER sacreBLEU does not need seconds."""
    return [i for i, known in enumerate(sample.references) if len(known[0]) < 60][:N]


@pytest.fixture(scope="module")
def systems(sample, rows):
    names = ("baseline", "slightly-better", "clearly-better")
    return [(name, [sample.systems[name][i] for i in rows]) for name in names]


@pytest.fixture(scope="module")
def streams(sample, rows):
    return naive.streams([sample.references[i] for i in rows])


@pytest.mark.parametrize(
    "test, intervals, seed, n_ways",
    [("bs", -1, "12345", 4), ("ar", -1, "7", 1), ("ar", 30, "12345", 1)],
)
def test_paired_test(systems, streams, monkeypatch, test, intervals, seed, n_ways):
    monkeypatch.setenv("SACREBLEU_SEED", seed)
    expected = as_plain(
        paired(
            sacre_significance, systems, {"b": sacre.BLEU(), "c": sacre.CHRF(), "t": sacre.TER()},
            streams, test, 50, intervals,
        )
    )  # fmt: skip
    # By explicit references, by the metric's own, and with sacreBLEU's own metric objects.
    ways = (
        ({"b": ours.BLEU(), "c": ours.CHRF(), "t": ours.TER()}, streams),
        ({str(m): m(references=streams) for m in (ours.BLEU, ours.CHRF, ours.TER)}, None),
        ({"b": sacre.BLEU(), "c": sacre.CHRF(), "t": sacre.TER()}, streams),
        ({str(m): m(references=streams) for m in (sacre.BLEU, sacre.CHRF, sacre.TER)}, None),
    )
    for metrics, references in ways[:n_ways]:
        found = PairedTest(systems, metrics, references, test, 50, intervals)()
        assert as_plain(found) == expected
    results = expected[1]["BLEU"]
    assert results[0]["p_value"] is None
    assert 0 < results[1]["p_value"] < 1
    assert (results[1]["mean"] is None) == (test == "ar" and intervals < 0)


@pytest.mark.parametrize("test", ["bs", "ar"])
def test_block_size_and_jobs_change_nothing(systems, streams, monkeypatch, test):
    def run(**options):
        return as_plain(PairedTest(systems, {"": ours.CHRF()}, streams, test, 103, 50, **options)())

    expected = run()
    for block in (1, 32 * N, 100 * N):
        monkeypatch.setattr(sacrebleu_draws, "_BLOCK", block)
        assert run(n_jobs=4) == expected


def test_sums_that_float32_cannot_hold_are_rounded_as_sacrebleu_rounds_them():
    rows = np.random.default_rng(0).integers(1, 2**17, size=(300, 6))
    metric = sacre.CHRF(char_order=2)
    ((found,),) = sacrebleu_draws.bootstrap_scores(
        [[sacrebleu_draws.Counted(metric, rows)]], 40, np.random.default_rng(12345)
    )
    _, expected = sacre_significance._bootstrap_resample(rows.tolist(), metric, 40)
    np.testing.assert_array_equal(found, [score.score for score in expected])
    exact = naive.weights_from_indices(
        np.random.default_rng(12345).choice(300, size=(40, 300)), 300
    )
    assert np.any(exact @ rows >= 2**24)


@pytest.mark.parametrize("function", ["bleu", "chrf", "ter"])
def test_functions(function, systems, streams):
    theirs, our = sacre.BLEU(), ours.BLEU()
    for metric in (theirs, our):  # settings are those of the moment of the call
        metric.max_ngram_order, metric.lowercase = 2, True
    _, texts = systems[0]
    assert our.corpus_score(texts, streams).score == theirs.corpus_score(texts, streams).score
    for name in (f"corpus_{function}", *(["raw_corpus_bleu"] * (function == "bleu"))):
        expected, found = (getattr(m, name)(systems[0][1], streams) for m in (sacrebleu, ours))
        assert vars(found) == vars(expected)
    expected, found = (
        getattr(m, f"sentence_{function}")("the cat sat", ["a cat sat", "the cat"])
        for m in (sacrebleu, ours)
    )
    assert vars(found) == vars(expected)


def test_defaults_and_names_are_sacrebleus():
    for name in (name for name in dir(sacrebleu) if not name.startswith("_")):
        assert hasattr(ours, name), name
    assert (Result, estimate_ci) == (sacre_significance.Result, sacre_significance.estimate_ci)
    for theirs, our in (
        *((getattr(sacrebleu, n), getattr(ours, n)) for n in ours.compat.__all__),
        *((getattr(sacre, n), METRICS[n]) for n in METRICS),
        *((getattr(sacre, n).corpus_score, METRICS[n].corpus_score) for n in METRICS),
        (sacre_significance.PairedTest, PairedTest),
    ):
        expected, found = (
            {p.name: p.default for p in inspect.signature(f).parameters.values()}
            for f in (theirs, our)
        )
        assert list(found)[: len(expected)] == list(expected)
        assert {name: found[name] for name in expected} == expected
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = ours.nothing


# Defects: reproduced when asked for, corrected otherwise.


@pytest.mark.parametrize("test", ["bs", "ar"])
def test_identical_systems(systems, streams, test):
    pair = [systems[0], ("copy", systems[0][1])]
    theirs, faithful, corrected = (
        paired(module, pair, {"": sacre.BLEU()}, streams, test, 99, **how)[1]["BLEU"][1].p_value
        for module, how in (
            (sacre_significance, {}), (ours.significance, {"faithful": True}),
            (ours.significance, {}),
        )
    )  # fmt: skip
    assert (faithful, corrected) == (0.01, 1.0)
    assert theirs == pytest.approx(faithful)


@pytest.mark.parametrize("test", ["bs", "ar"])
def test_seed_zero(systems, streams, monkeypatch, test):
    """Two runs of 400 trials with fresh entropy agree in p and mean with probability below 1e-3."""
    monkeypatch.setenv("SACREBLEU_SEED", "0")

    def run(faithful):
        made = PairedTest(systems, {"": ours.CHRF()}, streams, test, 400, 400, faithful=faithful)
        signatures, scores = made()
        assert "seed:0" in str(signatures["chrF2"])
        return [(r.p_value, r.mean) for r in scores["chrF2"][1:]]

    assert run(faithful=False) == run(faithful=False)
    assert run(faithful=True) != run(faithful=True)


def test_fraction_of_k_in_add_k_smoothing(systems, streams):
    """With k = 0.9 sacreBLEU adds nothing to the shuffled counts, and 0.9 to the observed ones."""
    options = {"smooth_method": "add-k", "smooth_value": 0.9}
    few = [(name, texts[:12]) for name, texts in systems]
    shorter = [stream[:12] for stream in streams]
    theirs, faithful, corrected = (
        as_plain(paired(module, few, {"": metric(**options)}, shorter, "ar", 500, **how))
        for module, metric, how in (
            (sacre_significance, sacre.BLEU, {}),
            (ours.significance, ours.BLEU, {"faithful": True}),
            (ours.significance, ours.BLEU, {}),
        )
    )  # fmt: skip
    assert faithful == theirs
    assert corrected[1]["BLEU"][1]["p_value"] != faithful[1]["BLEU"][1]["p_value"]


# Errors: nothing is truncated or read character by character.


@cases(
    ("abc", [["a"] * 3], "hypotheses must be a list of strings, got a bare str"),
    (["a"] * 3, [["a"]], "hypotheses has 3 segments but the reference streams have 1"),
    (["a"] * 3, [["a"]] * 3, r"streams have 1; .* per segment, pass list\(zip\(\*references\)\)"),
    (["a", "b"], [["a", "b"], ["a"]], "streams must have the same length, got 2, 1"),
    (["a"], ["a"], "stream 0 must be a list of strings, got a bare str"),
    (["a"], "a", "references must be a list of reference streams, got a bare string"),
    (["a"], None, "references is None, and the metric was created without references"),
)
@pytest.mark.parametrize("name", METRICS)
def test_texts_that_do_not_fit(hypotheses, references, message, name):
    refuses(message, METRICS[name]().corpus_score, hypotheses, references)
    with pytest.raises(es.InputError, match=message.replace("hypotheses", ".*")):
        PairedTest([("A", hypotheses)], {"": getattr(sacre, name)()}, references)


SYSTEMS = [("A", ["a", "b"]), ("B", ["a", "c"])]
TWICE = {"x": ours.BLEU(), "y": ours.BLEU(lowercase=True)}
KEPT = {"x": sacre.BLEU(references=[["a", "b", "c"]])}


def pair_of(named_systems=SYSTEMS, metrics=TWICE, references=(("a", "b"),), **options):
    return PairedTest(named_systems, metrics, references, **options)


@bad_cases(
    (pair_of, {"test_type": "t"}, "test_type must be one of ar, bs; got 't'"),
    (pair_of, {"named_systems": {"A": ["a"]}}, "named_systems must be a list of .* got dict"),
    (pair_of, {"named_systems": [("A", "abc")]}, "outputs of system 'A' must be a list"),
    (pair_of, {"named_systems": [*SYSTEMS, ("C", ["a"])]}, "system 'C': hypotheses has 1 seg"),
    (pair_of, {}, "two metrics named BLEU, but the results can"),
    (pair_of, {"metrics": KEPT, "references": None}, "system 'A': hypotheses has 2 segments"),
    (ours.BLEU, {"tokenize": "x"}, "tokenize must be one of .*; got 'x'"),
)
def test_options_that_do_not_fit(function, options):
    function(**options)


def test_numbers_and_seeds_of_an_interval(monkeypatch):
    score = ours.BLEU().corpus_score
    refuses("n_bootstrap must be at least 1, got 0", score, ["a"], [["a"]], n_bootstrap=0)
    for value in ("-1", "x"):
        monkeypatch.setenv("SACREBLEU_SEED", value)
        refuses(f"SACREBLEU_SEED must be .*, got '{value}'", score, ["a"], [["a"]], n_bootstrap=2)
    monkeypatch.setenv("SACREBLEU_SEED", "None")
    texts = ["a b c d e", "b c d e x", "a b"], [["a b c d e", "b c d e", "c"]]
    assert len({score(*texts, n_bootstrap=40)._mean for _ in range(5)}) > 1


def test_text_that_looks_tokenised(caplog):
    texts = ["a cat ."] * 100
    for warned, metric in ((1, ours.BLEU()), (0, ours.BLEU(force=True)), (0, ours.TER())):
        caplog.clear()
        metric.corpus_score(texts, [texts])
        assert bool(caplog.records) == warned
    ours.BLEU().corpus_score(texts[1:], [texts[1:]])
    assert not caplog.records


def derived(parent):
    """Return a class of one's own, which reads and scores otherwise than its parent."""

    class Own(parent):
        def _preprocess_segment(self, sent):
            return super()._preprocess_segment(sent.replace("again", ""))

        def _compute_score_from_stats(self, stats):
            score = super()._compute_score_from_stats(list(stats))
            score.score, score.name = float(stats[0]) / float(stats[1]), "own"
            return score

    return Own()


@pytest.mark.parametrize("test", ["bs", "ar"])
@pytest.mark.parametrize("name", METRICS)
def test_a_class_of_ones_own_counts_and_scores_itself(name, test):
    """Whatever it changes is respected; a class that changes nothing has its parent's numbers."""
    hypotheses = ["the cat sat on a mat", "it rains", "a dog ran home again today"]
    streams = [["the cat sat on the mat", "it is raining", "a dog ran home today"]]
    systems = [("a", hypotheses), ("b", streams[0])]
    theirs, our = make_twins(name, {})
    rows = [
        (theirs, type("Same", (METRICS[name],), {})()),
        (derived(type(theirs)), derived(METRICS[name])),
        (derived(type(theirs)), derived(type(theirs))),
    ]
    if name == "BLEU":  # with a tokeniser of one's own
        our.tokenizer = " ".join
        rows += [(sacre.BLEU(), our)]
        rows[-1][0].tokenizer = our.tokenizer
    for parent, mine in rows:
        expected, found = (
            as_plain(paired(module, systems, {name: metric}, streams, test, 100))
            for module, metric in ((sacre_significance, parent), (ours.significance, mine))
        )
        assert found == expected


def command(arguments, folder, module="evalstats.compat.sacrebleu"):
    """Run a command line in a process of its own; return status, output and errors."""
    environment = {**os.environ, "PYTHONPATH": str(Path(es.__file__).parents[1])}
    environment["SACREBLEU_SEED"] = "12345"
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments.split()], encoding="utf-8",
        cwd=folder, env=environment, capture_output=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def folder(systems, streams, tmp_path_factory):
    """Files for the command line."""
    made = tmp_path_factory.mktemp("files")
    for name, texts in (*systems, ("ref0", streams[0]), ("ref1", streams[1])):
        (made / name).write_text("\n".join(texts) + "\n", encoding="utf-8")
    return made


@pytest.mark.thorough
def test_paired_tests_of_the_command_line(folder, systems, streams):
    """JSON of several systems under chrF, at which sacreBLEU 2.6 itself fails."""
    files = " ".join(name for name, _ in systems)
    status, output, errors = command(
        f"ref0 ref1 -i {files} --paired-bs --paired-bs-n 50 -m bleu chrf ter -f json", folder
    )
    assert (status, "Found 3 systems" in errors) == (0, True)
    metrics = {"b": sacre.BLEU(), "c": sacre.CHRF(), "t": sacre.TER()}
    _, expected = as_plain(paired(sacre_significance, systems, metrics, streams, "bs", 50))
    expected["System"][0] = f"Baseline: {expected['System'][0]}"
    assert json.loads(output) == [
        {
            "system" if key == "System" else key: value
            for key, value in zip(expected, row, strict=True)
        }
        for row in zip(*expected.values(), strict=True)
    ]


@pytest.mark.thorough
@cases(
    "ref0 ref1 -i baseline slightly-better -par -parn 60 -m ter chrf bleu -f latex -sh -cw 2 -nc",
    "ref0 -i baseline -pbs",
    "--version",
    "ref0 -i baseline -m bleu chrf --confidence -cin 50 -f text",
)
def test_the_command_line_prints_what_sacrebleus_prints(arguments, folder):
    status, output, _ = command(arguments, folder, "sacrebleu")
    expected = status, output.replace("__main__.py", "sacrebleu")
    assert command(arguments, folder)[:2] == expected
    assert output or status
