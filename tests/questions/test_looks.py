"""Looks at an evaluation that grows: their verdicts, forms, and what is refused."""

import json
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

import evalstats as es
from evalstats.cli import main
from evalstats.designs.spending import levels
from tests.helpers import cases, refuses

ACC = es.Mean("acc")


@pytest.fixture
def marks():
    """Return 0/1 scores of a system and its baseline on 400 items."""
    return np.random.default_rng(2).random((2, 400)) < [[0.68], [0.6]]


def walked(test, new, base, step=50, **options):
    for n in range(step, len(new) + 1, step):
        some = {name: labels[:n] for name, labels in options.items()}
        if test.look(new[:n], base[:n], **some).verdict != "go on":
            break
    return test


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("limit", [{"margin": 0.5}, {"recovery": 0.97}])
def test_a_look_is_a_gate_at_its_level(sample, limit, grouped):
    new, base = sample.systems["slightly-better"], sample.systems["baseline"]
    n, labels = 300, {"groups": sample.documents} if grouped else {}
    test = es.SequentialTest(60 if grouped else 480, metric="bleu", n_resamples=99, **limit)
    labels = {name: some[:n] for name, some in labels.items()}
    look = test.look(new[:n], base[:n], sample.references[:n], **labels)
    (check,) = es.gate(
        new[:n], base[:n], sample.references[:n], "bleu",
        significance_level=look.level, n_resamples=99, **limit, **labels,
    )  # fmt: skip
    assert look.difference == check.difference
    assert (look.pvalue, look.pvalue_failed) == (check.pvalue_passed, check.pvalue_failed)
    assert (look.unit, look.n_units) == (check.unit, check.n_items)
    assert look.level == levels([look.n_units / look.planned], 0.05)[0]
    asked = f"|alpha:0.05|looks:obrien-fleming|of:{look.planned}|ci:"
    assert asked in look.signature
    assert next(f"|{x}:{limit[x]}|" for x in limit) in look.signature


def test_shares_are_counted_and_nothing_is_drawn_for_them(marks):
    new, base = marks
    look = es.SequentialTest(400, metric=ACC, margin=0.02).look(new[:150], base[:150])
    (check,) = es.gate(
        new[:150], base[:150], metrics=ACC, margin=0.02, significance_level=look.level
    )
    assert look.difference == check.difference


def test_without_a_limit_it_is_asked_whether_the_system_is_better(marks):
    new, base = marks
    look = es.SequentialTest(400, metric=ACC).look(new[:150], base[:150])
    for side, pvalue in (("greater", look.pvalue), ("less", look.pvalue_failed)):
        systems = {"A": base[:150], "B": new[:150]}
        (d,) = es.compare(systems, metrics=ACC, alternative=side)
        assert d.pvalue == pvalue
    errors = es.SequentialTest(400, metric=es.Mean("errors", higher_is_better=False))
    assert errors.look(~new[:150], ~base[:150]).pvalue == pytest.approx(look.pvalue)


def test_verdicts_are_passed_failed_and_go_on(marks):
    new, base = marks
    test = walked(es.SequentialTest(400, metric=ACC, margin=0.02), new, base)
    assert [look.verdict for look in test.looks] == ["go on", "go on", "go on", "passed"]
    assert (test.looks[-1].left, test.looks[0].left) == (200, 350)
    worse = walked(es.SequentialTest(400, metric=ACC, margin=0.02), base, new)
    last = worse.looks[-1]
    assert last.pvalue_failed <= last.level
    assert (last.verdict, last.n_units < 400) == ("failed", True)
    assert "show the opposite" in last.reason
    never = walked(es.SequentialTest(400, metric=ACC), base[::-1], base[::-1])
    assert never.looks[-1].verdict == "failed"
    assert (
        never.looks[-1].reason
        == "all 400 segments are in, and the evidence for the claim is not enough"
    )
    assert all(look.hopeless for look in never.looks[:-1])
    assert "It will probably not pass" in never.looks[0].reason
    assert never.looks[-1].chance is None


def test_without_a_plan_there_is_no_last_look(marks):
    new, base = marks
    test = walked(es.SequentialTest(metric=ACC), new, base)
    found = [(look.pvalue_anytime <= 0.05, look.pvalue <= look.level) for look in test.looks]
    assert found == [(False, False)] * 4 + [(True, True)]
    assert {look.chance for look in test.looks} == {look.left for look in test.looks} == {None}
    assert test.result.next_look is None
    worse = walked(es.SequentialTest(metric=ACC), base, new)
    assert [look.pvalue_anytime for look in worse.looks] == [1.0] * len(worse.looks)


def test_the_interval_of_every_look_leaves_out_what_its_test_does(marks):
    new, base = marks
    test = walked(es.SequentialTest(400, metric=ACC), new, base)
    assert [look.low > 0 for look in test.looks] == [x.verdict == "passed" for x in test.looks]


def test_looks_may_come_at_any_time_and_go_on_from_a_state(marks):
    new, base = marks
    test = es.SequentialTest(400, looks=4, metric=ACC, margin=0.02)
    assert test.look(new[:70], base[:70]) == test.look(new[:70], base[:70])
    assert test.result.next_look == 100
    again = es.SequentialTest(400, looks=9, metric=ACC, margin=0.02)
    again.load_state_dict(json.loads(json.dumps(test.state_dict())))
    assert again.looks == test.looks
    assert again.look(new[:110], base[:110]) == test.look(new[:110], base[:110])
    assert test.looks[-1].level == pytest.approx(levels([70 / 400, 110 / 400], 0.05)[-1])


REFUSED = [
    (lambda t, new, base: t.look(new[:90], base[:90]), "new must contain all items so far, but it has 90 items and the last look had 100"),
    (lambda t, new, base: t.look(~new[:120], base[:120]),
     "item 0 had a different score or label for the system at an earlier look"),
    (lambda t, new, base: t.look(new[:120], ~base[:120]), "different score or label for the baseline"),
    (lambda t, new, base: t.look(new[:120], base[:120], groups=range(120)),
     "earlier looks counted segments, but this one counts groups"),
    (lambda t, new, base: t.look(["a"] * 120, es.extract({"A": base[:120]}, metric=ACC)),
     "must be of the same kind: both outputs or scores, or both SegmentStatistics"),
    (lambda t, new, base: t.look(es.extract({"B": new}, metric=es.Mean("f1")),
                                 es.extract({"A": base}, metric=es.Mean("f1"))),
     "metric must be .*metric of the test, got"),
    (lambda t, new, base: t.look(new, base, human={"new": [1, *[None] * 399], "base": base}),
     r"human can only be passed if .*create the test with metric=es.Judged\(...\) for acc"),
    (lambda t, new, base: t.look(new, base, human={"A": new, "B": base}),
     "human must contain human scores of new and base, got A, B"),
    (lambda t, new, base: t.look({"A": base, "B": new, "C": new}, "A"), "compares two systems"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_what_was_seen_stays(marks, call, message):
    new, base = marks
    test = es.SequentialTest(400, metric=ACC, margin=0.02)
    test.look(new[:100], base[:100])
    before = test.state_dict()
    refuses(message, call, test, new, base)
    assert test.state_dict() == before


def test_looks_take_peoples_labels(marks):
    """What a look says is what `compare` says of the items so far, and a saved test goes on."""
    new, base = marks
    judge = {"new": new | (np.arange(400) % 7 == 0), "base": base}
    people = {
        role: [int(x) if i % 3 == 0 else None for i, x in enumerate(truth)]
        for role, truth in (("new", new), ("base", base))
    }
    asked = {"of": 400, "metric": es.Judged(ACC), "margin": 0.02, "test": "t"}
    test = es.SequentialTest(**asked)

    def look(test, n):
        human = {role: labels[:n] for role, labels in people.items()}
        return test.look(judge["new"][:n] * 1.0, judge["base"][:n] * 1.0, human=human)

    for n in (100, 150):
        d = look(test, n).difference
        scores, human = ({x: y[:n] for x, y in some.items()} for some in (judge, people))
        options = {"baseline": "base", "method": "t"}
        expected = es.compare(scores, metrics=ACC, human=human, **options)["acc", "new"]
        assert (d.difference, d.standard_error) == (expected.difference, expected.standard_error)
    assert any("labels for 50 of 150 segments" in note for note in test.result.notes)
    again = es.SequentialTest(**asked)
    again.load_state_dict(json.loads(json.dumps(test.state_dict())))
    assert look(again, 200) == look(test, 200)
    # A label that comes after the item is another item.
    people["new"][1] = 1
    refuses("item 1 had a different score or label for the system", look, test, 250)
    with pytest.raises(
        es.InputError, match="human must be left out when you pass SegmentStatistics"
    ):
        test.look(*[es.extract({"A": judge["new"] * 1.0}, metric=ACC)] * 2, human=people)


def test_the_decision_is_said_again_when_more_items_come(marks):
    new, base = marks
    test = walked(es.SequentialTest(400, metric=ACC, margin=0.02), new, base)
    state, decided = test.state_dict(), test.looks[-1]
    again = es.SequentialTest(400, metric=ACC, margin=0.02)
    again.load_state_dict(state)
    for decides in (test, again):
        assert decides.look(new, base) == decided
        (note,) = decides.result.notes
        assert note.startswith("The test was decided at look 4, on 200 segments: passed. 200 more")
        assert decides.state_dict() == state
    refuses("item 0 had a different score", test.look, ~new, base)


def fallen(seed, n=200):
    """Return numbers of equal systems, of which the new one falls far on 2% of the items."""
    rng = np.random.default_rng(seed)
    base, falls = rng.normal(size=n), rng.random(n) < 0.02
    return base + 0.1 + 0.3 * rng.normal(size=n) - 5 * falls, base


def test_rare_falls_are_noted():
    """60 runs: wrong passes of .16 and a share of notes of .998 where they were simulated."""
    found = []
    for seed in range(60):
        test = es.SequentialTest(200, metric=es.Mean("score"), test="t")
        look = walked(test, *fallen(seed), 25).looks[-1]
        is_noted = any("failed badly on 2%" in x for x in test.result.notes)
        found.append((look.verdict == "passed", is_noted))
        assert look.verdict == "go on" or look.carried >= 30 or look.n_units == 200
    passed, noted = np.mean(found, axis=0)
    assert noted >= 0.95
    # Above it with probability .001; without the least number of items that differ .24 do.
    assert passed < 0.32


def test_few_items_of_scores_that_are_not_shares_decide_no_early_look(marks):
    scores = np.random.default_rng(3).normal(size=(2, 100)) + [[2], [0]]
    test = es.SequentialTest(100, metric=es.Mean("score"), test="t")
    looks = walked(test, *scores, 25).looks
    assert [x.verdict for x in looks] == ["go on", "go on", "passed"]
    assert looks[1].pvalue <= looks[1].level
    influence = scores[0][:50] - scores[1][:50]
    squares = (influence - influence.mean()) ** 2
    assert looks[1].carried == pytest.approx(squares.sum() ** 2 / (squares**2).sum())
    said = "before the last look, a decision needs at least 30 segments that differ, and"
    assert f"{said} there are effectively {looks[1].carried:.0f}" in looks[1].reason
    assert es.SequentialTest(400, metric=ACC).look(*marks[:, :20]).carried is None


def test_a_test_without_a_plan_starts_where_it_is_said(marks):
    scores = np.random.default_rng(3).normal(size=(2, 150)) + [[2], [0]]
    asked = {"metric": es.Mean("score"), "test": "t"}
    for start, decided in ((None, 100), (120, 120), (2, 95)):
        test = es.SequentialTest(start=start, **asked)
        looks = [test.look(*scores[:, :n]) for n in (95, 100, 120)]
        assert (looks[-1].verdict, looks[-1].n_units) == ("passed", decided)
        if start != 2:
            assert f" (a decision needs at least {start or 100} segments)" in looks[0].reason
            assert looks[0].pvalue <= looks[0].level
    shares = es.SequentialTest(metric=ACC, start=300)
    assert walked(shares, *np.tile([[1], [0]], 400)).looks[-1].n_units == 300
    with pytest.raises(es.InputError, match="test with start 300, but now it is missing"):
        es.SequentialTest(metric=ACC).load_state_dict(shares.state_dict())
    # Of two items the level would be so small that 1 - 2α is 1.
    assert es.SequentialTest(metric=ACC).look([1, 0], [0, 1]).verdict == "go on"
    refuses("start must be", es.SequentialTest, start=1)


@pytest.mark.parametrize(("alpha", "level"), [(0.05, "90"), (0.025, "95")])
def test_the_table_says_the_level_of_intervals_and_the_side_of_p(marks, alpha, level):
    test = es.SequentialTest(400, metric=ACC, significance_level=alpha)
    test.look(*marks[:, :100])
    assert f" {level}% repeated interval one-sided p level verdict" in " ".join(str(test).split())


@pytest.mark.parametrize(
    "options",
    [{"of": 300}, {"margin": 0.03}, {"metric": es.Mean("f1")}, {"significance_level": 0.01},
     {"spending": "pocock"}, {"rng": 1}, {"test": "t"}],
    ids=str,
)  # fmt: skip
def test_the_state_of_another_test_is_refused(marks, options):
    asked = {"of": 400, "metric": ACC, "margin": 0.02}
    test = es.SequentialTest(**asked)
    test.look(marks[0][:60], marks[1][:60])
    said, other = f"test with {next(iter(options))}", {**asked, **options}
    refuses(said + "[^{]*$", es.SequentialTest(**other).load_state_dict, test.state_dict())


@pytest.mark.parametrize(
    ("changed", "message"),
    [({"version": 1}, "state has version 1"), ({"values": [[1]]}, "returned, but a part of it was changed"),
     ({"counts": [61]}, "returned, but a part of it was changed"), ({"looks": []}, "returned, but a part of it was changed"),
     ({"options": 3}, "what state_dict returned")],
    ids=str,
)  # fmt: skip
def test_what_is_no_state_is_refused(marks, changed, message):
    test = es.SequentialTest(400, metric=ACC)
    test.look(marks[0][:60], marks[1][:60])
    other = es.SequentialTest(400, metric=ACC)
    refuses(message, other.load_state_dict, {**test.state_dict(), **changed})
    assert other.looks == ()
    refuses("what state_dict returned", other.load_state_dict, {})


def test_a_state_that_was_changed_is_refused(marks):
    base = marks[1]
    test = es.SequentialTest(200, metric=ACC)
    for n in (100, 200):
        test.look(np.roll(base, 1)[:n], base[:n])
    state = json.loads(json.dumps(test.state_dict()))
    again = es.SequentialTest(200, metric=ACC)
    again.load_state_dict(state)
    assert again.result.verdict == "failed"
    assert again.state_dict() == test.state_dict()
    state["looks"][0]["level"] = 1e-5
    refuses(
        "returned, but a part of it was changed",
        es.SequentialTest(200, metric=ACC).load_state_dict,
        state,
    )


def named(marks, n, order=None, **labels):
    table = es.extract({"old": marks[1][:n], "new": marks[0][:n]}, metric=ACC)
    order = np.arange(n) if order is None else order
    names = [f"item {i}" for i in order]
    return replace(table, values=table.values[:, order], segment_ids=names, labels=labels)


def test_items_are_known_by_their_names(marks):
    one, two = (es.SequentialTest(400, metric=ACC, margin=0.02) for _ in range(2))
    order = np.random.default_rng(4).permutation(120)
    for test, at in ((one, None), (two, order)):
        test.look(named(marks, 80), "old")
        test.look(named(marks, 120, at), "old")
    assert [x.pvalue for x in one.looks] == pytest.approx([x.pvalue for x in two.looks])
    assert one.state_dict()["items"][:80] == two.state_dict()["items"][:80]
    said, rest = (
        r"but 1 of 120 items of the last look are missing \(the first is 'item 0'\)",
        range(1, 130),
    )
    refuses(said, two.look, named(marks, 130, np.array(rest)), "old")
    refuses("items must have names at every look or at", two.look, marks[0][:130], marks[1][:130])


def test_an_order_that_has_to_do_with_difficulty_is_noted(marks):
    labels = {"subject": ["law"] * 100 + ["physics"] * 100, "half": ["a", "b"] * 100}
    test = es.SequentialTest(400, metric=ACC)
    for n in (100, 200):
        test.look(named(marks, n, **{name: x[:n] for name, x in labels.items()}), "old")
    (note,) = test.result.notes
    assert "The segments of one subject came earlier" in note
    new, easy = (np.concatenate([np.ones(100), some[:100]]) for some in marks)
    test = es.SequentialTest(400, metric=ACC)
    for n in (100, 200):
        test.look(new[:n], easy[:n])
    assert "so shuffle them" in test.result.notes[0]


def test_looks_in_every_form(marks):
    test = walked(es.SequentialTest(400, metric=ACC, margin=0.02), *marks)
    result = test.result
    assert es.Looks.from_json(result.to_json()) == result
    assert (result.exit_code, result.verdict, len(result)) == (0, "passed", 4)
    assert str(test) == str(result)
    assert "decided after 200 segments (400 were planned)" in str(result).lower()
    assert "<table" in result.to_html()
    assert result.to_csv().count("\n") == 5
    assert ElementTree.fromstring(result.to_junit()).attrib["failures"] == "0"
    waits = es.SequentialTest(400, metric=ACC)
    assert repr(waits) == "acc: no looks yet."
    waits.look(marks[0][:50], marks[1][:50])
    said = ElementTree.fromstring(waits.result.to_junit())
    assert (said.attrib["errors"], said.find(".//error").attrib["type"]) == ("1", "undecided")
    refuses("there are no results yet; call look first", es.SequentialTest(400).plot)


@pytest.mark.parametrize("limit", [{"margin": 0.02}, {"recovery": 0.97}, {}])
def test_the_figure_shows_intervals_and_the_limit(marks, limit):
    pytest.importorskip("matplotlib").use("Agg")
    test = walked(es.SequentialTest(400, metric=ACC, **limit), *marks)
    axes = test.plot()
    dashed = [line for line in axes.lines if line.get_linestyle() == "--"]
    base = test.looks[-1].difference.baseline_score
    expected = {"margin": -0.02, "recovery": -0.03 * base}.get(next(iter(limit), ""), 0.0)
    assert dashed[0].get_ydata()[-1] == pytest.approx(expected)
    (bars,) = axes.collections
    ends = [path.vertices[:, 1].tolist() for path in bars.get_paths()]
    assert ends == [[look.low, look.high] for look in test.looks]
    # What the frame cuts off goes on.
    bottom, top = axes.get_ylim()
    arrows = {x.get_marker(): x.get_xdata() for x in axes.lines if x.get_marker() in ("^", "v")}
    assert list(arrows["^"]) == [look.n_units for look in test.looks if look.high > top]
    assert list(arrows["v"]) == [look.n_units for look in test.looks if look.low < bottom]
    said = axes.get_xlabel().replace("\n", " ")
    assert "90% repeated interval" in said
    assert ("arrow: goes on" in said) == any(map(len, arrows.values()))


@pytest.fixture
def folder(tmp_path, monkeypatch, marks):
    monkeypatch.chdir(tmp_path)
    rows = [
        f"{name},i{i},acc,{int(x)}"
        for i in range(200)
        for name, x in (("old", marks[1][i]), ("new", marks[0][i]))
    ]
    for n in (100, 150, 200):
        lines = ["system,segment,metric,score", *rows[: 2 * n]]
        (tmp_path / f"{n}.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


GATE = ("--baseline", "old", "--of", "400", "--state", "gate.json")


def test_a_gate_keeps_its_looks_in_a_file(folder, capsys):
    rows = (folder / "200.csv").read_text().splitlines()
    more = [f"{name},later,acc,0" for name in ("old", "new")]
    (folder / "201.csv").write_text("\n".join([*rows, *more]) + "\n")
    for n, code in ((100, 4), (150, 4), (150, 4), (200, 0), (201, 0)):
        assert main(["gate", f"{n}.csv", *GATE, "--margin", "0.02"]) == code
    printed = capsys.readouterr().out
    assert printed.count("GO ON: new against old on 150 of 400 segments") == 2
    assert "The next planned look is at 200 segments." in printed
    assert printed.count("PASSED: new against old on 200 of 400 segments") == 2
    assert "1 more came later and are not counted" in printed
    assert [look["n_units"] for look in json.loads(folder.joinpath("gate.json").read_text())[
        "looks"]] == [100, 150, 200]  # fmt: skip


@cases(
    (
        ("--margin", "0.03"),
        "state comes from a test with margin 0.02, but now it is 0.03",
    ),
    (
        ("--margin", "0.02", "--undecided", "pass"),
        "--undecided cannot be used with --state, because it applies to a single test",
    ),
    (("--margin", "0.02", "--unpaired"), "--unpaired cannot be used with --state"),
    (
        ("--margin", "0.02", "--paired-runs"),
        "--paired-runs cannot be used with --state, because it applies to a single test",
    ),
)
def test_a_gate_refuses_what_is_not_its_own(arguments, message, folder, refused):
    assert main(["gate", "100.csv", *GATE, "--margin", "0.02"]) == 4
    assert message in refused("gate", "150.csv", *GATE, *arguments)


def test_a_gate_of_looks_needs_a_state(folder, refused):
    gate = ("gate", "100.csv")
    assert "--of, --looks and --start require --state FILE" in refused(*gate, *GATE[:4])
    said = "-o gate.json is also the file of --state; use another file"
    assert said in refused(*gate, *GATE, "-o", "gate.json")
    (folder / "gate.json").write_text("{")
    assert "--state gate.json: it is not JSON" in refused("gate", "100.csv", *GATE)


def test_two_processes_take_no_look_at_once(folder, refused):
    """Defect: of two looks at one state one was lost, and its level spent twice."""
    looked = ["gate", "100.csv", *GATE, "--margin", "0.02"]
    (folder / "gate.json.lock").touch()
    assert "--state gate.json is in use by another process" in refused(*looked)
    (folder / "gate.json.lock").unlink()
    assert main(looked) == 4
    assert not (folder / "gate.json.lock").exists()
    assert main([*looked[:-1], "0.03"]) == 2
    assert not (folder / "gate.json.lock").exists()


def test_more_items_than_were_planned_are_no_part_of_them():
    rng = np.random.default_rng(2)
    old, new = rng.random((2, 50)) < 0.8
    shown = []
    for of in (50, 40):
        test = es.SequentialTest(of=of, looks=2, metric=es.Mean("acc"))
        test.look(new, old)
        shown.append(str(test.result))
    assert "on 50 of 50 segments (acc" in shown[0]
    assert "on 50 segments (acc" in shown[1]
