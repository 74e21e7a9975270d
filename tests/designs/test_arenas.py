"""Win rates and Bradley-Terry strengths of battles, against evalica, arena-rank and refits."""

import json
import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import evalstats as es
from evalstats.cli import main
from evalstats.designs.arenas import arena
from evalstats.designs.arenas.battles import BradleyTerry, as_battles
from tests.helpers import bad_cases, cases, refuses


def fixed():
    """Return 300 battles of six systems, 69 of them ties."""
    rows = []
    for i in range(300):
        a = i % 6
        b = (a + 1 + (i * 7) % 5) % 6
        k = (i * i * 31 + 17 * i + i // 7) % 11
        rows.append((f"m{a}", f"m{b}", "a" if k < 4 + (a < b) else "tie" if k < 7 else "b"))
    return rows


#: What evalica 0.4.2 (bradley_terry, tolerance 1e-15) says of these, as logarithms of mean 0.
EVALICA = {
    **{"m0": -0.1339584047, "m1": 0.117143158, "m2": 0.1507289922},
    **{"m3": 0.0501485898, "m4": -0.083654563, "m5": -0.1004077723},
}
#: What arena-rank (BradleyTerry, gtol 1e-13) says of them.
ARENA_RANK = {
    **{"m0": 976.7290416, "m1": 1020.3498508, "m2": 1026.1843078},
    **{"m3": 1008.7117023, "m4": 985.467714, "m5": 982.5573834},
}
#: Wins of the first and of the second, and strengths with a geometric mean of 1 (arena-rank's
#: `tests/test_bradley_terry.py`).
PUBLISHED = {"AB": (2, 3), "AD": (1, 4), "BC": (5, 3), "CD": (1, 3)}
STRENGTHS = {"A": 0.640, "B": 1.043, "C": 0.660, "D": 2.270}

fast = {"n_resamples": 199}


def scores(result):
    return {one.system: one.score for one in result.estimates}


def refitted(rows, names):
    """Return strengths by Zermelo's iteration (1929), which shares nothing with Newton's."""
    wins, battles = Counter(), Counter()
    for a, b, winner in rows:
        won = {"a": 1.0, "tie": 0.5, "b": 0.0}[winner]
        wins[a] += won
        wins[b] += 1 - won
        battles[a, b] += 1
        battles[b, a] += 1
    odds = dict.fromkeys(names, 1.0)
    for _ in range(5000):
        before = odds
        odds = {
            i: wins[i] / sum(battles[i, j] / (odds[i] + odds[j]) for j in names if j != i)
            for i in names
        }
        mean = np.exp(np.mean(np.log(list(odds.values()))))
        odds = {i: x / mean for i, x in odds.items()}
        if all(abs(odds[i] - before[i]) < 1e-13 for i in names):
            break
    return {i: float(np.log(x)) for i, x in odds.items()}


def test_strengths_are_those_of_evalica_and_arena_rank():
    assert scores(es.arena(fixed(), **fast)) == pytest.approx(EVALICA, abs=1e-9)
    assert scores(es.arena(fixed(), scale="elo", **fast)) == pytest.approx(ARENA_RANK, abs=1e-6)


def test_strengths_are_the_published_ones():
    rows = [
        (*pair, winner)
        for pair, (first, second) in PUBLISHED.items()
        for winner in ["a"] * first + ["b"] * second
    ]
    found = {name: np.exp(x) for name, x in scores(es.arena(rows, **fast)).items()}
    assert found == pytest.approx(STRENGTHS, abs=5e-4)


def test_every_resample_is_fitted_as_if_it_were_the_sample():
    """Rows are written down as often as each prompt was drawn, and fitted by Zermelo's method."""
    rows = fixed()
    prompts = [i // 5 for i in range(len(rows))]
    result = es.arena(rows, groups=prompts, n_resamples=40, rng=3)
    weights = es.bootstrap_weights(60, 40, rng=3)
    names = [one.system for one in result.estimates]
    for b in (0, 7, 39):
        drawn = [row for row, p in zip(rows, prompts, strict=True) for _ in range(weights[b, p])]
        again = refitted(drawn, names)
        for one in result.estimates:
            assert one.replicates[b] == pytest.approx(again[one.system], abs=1e-7)


def test_standard_errors_are_the_sandwich_of_groups():
    """With numerical derivatives of the log likelihood of each battle, summed within prompts."""
    rows = fixed()
    prompts = np.arange(len(rows)) // 5
    result = es.arena(rows, groups=prompts, method="t")
    table, _ = as_battles(rows)
    numbers = [table.systems.index(e.system) for e in result.estimates]
    theta = np.zeros(len(numbers))
    theta[numbers] = [e.score for e in result.estimates]

    def logs(at):
        first, second = at[table.pairs[:, 0]], at[table.pairs[:, 1]]
        return table.points / 2 * (first - second) - np.log1p(np.exp(first - second))

    at = theta
    h = 1e-4
    steps = np.eye(len(at)) * h
    slopes = np.stack([(logs(at + s) - logs(at - s)) / (2 * h) for s in steps])
    summed = np.stack([np.bincount(prompts, row) for row in slopes])
    curvature = np.array(
        [
            [
                np.sum(logs(at + s + r) - logs(at + s - r) - logs(at - s + r) + logs(at - s - r))
                for s in steps
            ]
            for r in steps
        ]
    ) / (4 * h * h)
    bread = np.linalg.pinv(-curvature, rcond=1e-5)
    units = 60
    sandwich = bread @ summed @ summed.T @ bread * units / (units - 1)
    expected = np.sqrt(np.diag(sandwich))[numbers]
    assert [e.standard_error for e in result.estimates] == pytest.approx(expected, rel=1e-4)
    d = result[0]
    a, b = table.systems.index(d.baseline), table.systems.index(d.system)
    error = np.sqrt(sandwich[a, a] + sandwich[b, b] - 2 * sandwich[a, b])
    assert d.standard_error == pytest.approx(error, rel=1e-4)


def test_many_units_have_the_same_errors_and_t(monkeypatch):
    strata = [i % 2 for i in range(300)]
    options = {"strata": strata, "method": "t"}
    rows = es.arena(fixed(), **options)
    monkeypatch.setattr(arena, "_MOST_INFLUENCE", 0)
    sums = es.arena(fixed(), **options)
    assert [d.pvalue for d in sums] == pytest.approx([d.pvalue for d in rows], rel=1e-9)
    assert [e.low for e in sums.estimates] == pytest.approx([e.low for e in rows.estimates])
    drawn = es.arena(fixed(), **fast)
    assert [d.low for d in drawn] == pytest.approx([d.low for d in es.arena(fixed(), **fast)])


def test_blocks_and_threads_change_no_bit(monkeypatch):
    first = es.arena(fixed(), n_resamples=99)
    monkeypatch.setattr(arena, "_TOGETHER", 5 * 36)
    again = es.arena(fixed(), n_resamples=99, executor=2)
    for one, other in zip(first.estimates, again.estimates, strict=True):
        assert one.replicates.tolist() == other.replicates.tolist()


def test_systems_without_a_finite_strength_are_named_and_left_out():
    """The others have the strengths that they have without them; the next one too is found."""
    more = [("best", "m1", "best")] * 4 + [("m2", "worst", "m2")] * 3
    more += [("besten", "best", "a")] * 2
    result = es.arena([*fixed(), *more], **fast)
    assert scores(result) == pytest.approx(EVALICA, abs=1e-9)
    (note,) = [note for note in result.notes if "left out" in note]
    assert note.endswith("battles: worst (lost all 3), besten (won all 2), best (won all 4).")
    assert note in result.ranking().notes
    with pytest.raises(es.InputError, match=r"baseline.*best \(won all 4\)"):
        es.arena([*fixed(), *more], baseline="best", **fast)


def test_sets_that_are_not_linked_are_refused():
    apart = [(a.replace("m", "x"), b.replace("m", "x"), winner) for a, b, winner in fixed()]
    refuses(r"battles connect 2 groups of systems.*Pass the", es.arena, [*fixed(), *apart], **fast)
    with pytest.raises(es.InputError, match="2 groups of systems in only one direction"):
        es.arena([*fixed(), *apart, ("m1", "x1", "a")], **fast)
    refuses(
        "too few systems have both won and lost",
        es.arena,
        [("a", "b", "a"), ("b", "c", "a")],
        **fast,
    )


def test_resamples_without_finite_strengths_are_counted_and_have_one_step():
    rows = [("x", "y", "a")] * 5 + [("x", "y", "b")] * 2 + [("y", "z", "tie")] * 9
    result = es.arena(rows, n_resamples=999, rng=1)
    weights = es.bootstrap_weights(16, 999, rng=1)
    gone = np.any(np.stack([weights[:, :5].sum(1), weights[:, 5:7].sum(1)]) == 0, axis=0)
    gone |= weights[:, 7:].sum(1) == 0
    (note,) = [note for note in result.notes if "Newton step" in note]
    assert note.startswith(f"In {np.sum(gone)} of 999 resamples a system won all battles, lost")
    assert np.sum(gone) > 10
    replicates = {e.system: e.replicates for e in result.estimates}
    assert max(np.max(np.abs(x)) for x in replicates.values()) < 5
    # One step for x - y: log(5/2) + (wins - n p)/(n p q) of the sample's p and n.
    p, n = 5 / 7, weights[:, :7].sum(1)
    step = np.log(5 / 2) + (weights[:, :5].sum(1) - n * p) / (7 * p * (1 - p))
    found = replicates["x"] - replicates["y"]
    assert found[gone] == pytest.approx(step[gone], abs=1e-9)


def test_a_difference_rests_on_the_units_of_the_system_that_has_fewer():
    rows = [*fixed(), *[("new", "m1", "new")] * 3, *[("m2", "new", "m2")] * 2]
    result = es.arena(rows, **fast)
    of_new = [d for d in result if "new" in (d.system, d.baseline)]
    assert {d.n_differing for d in of_new} == {5}
    assert {d.test for d in of_new} == {"t"}


def test_of_ties_alone_nothing_is_claimed():
    """Nothing varies, and one battle that somebody wins may be the next."""
    rows = 50 * [("x", "y", "tie"), ("y", "z", "tie")]
    for scale in ("log-odds", "elo"):
        result = es.arena(rows, margin=0.1, scale=scale, **fast)
        assert [d.is_tested for d in result] == [False] * 3
        assert result.to_text().count("identical  not shown") == 3
        assert any("Nothing varies, so intervals have no length" in x for x in result.notes)
    # One that is won is enough.
    some = es.arena([*rows, ("x", "y", "a"), ("y", "x", "a")], margin=0.1, **fast)
    assert all(d.is_tested and d.high > d.low for d in some)


def test_win_rates_of_two_systems():
    from scipy.stats import norm

    rows = [("old", "new", "new")] * 30 + [("new", "old", "old")] * 15
    result = es.wins(rows)
    assert scores(result) == {"new": 30 / 45, "old": 15 / 45}
    assert result["new"].pvalue == pytest.approx(2 * norm.sf(15 / 45**0.5))
    ties = es.wins([*rows, *[("old", "new", "tie (bothbad)")] * 5])
    assert scores(ties)["new"] == 32.5 / 50
    assert '5 of 50 battles are "both bad" and count as ties.' in ties.notes
    refuses("preferences must be between two systems, got 6: m0, m1", es.wins, fixed())


def test_winners_are_written_in_many_ways():
    rows = [("x", "y", w) for w in ("a", "model_a", "Model A", "x")]
    rows += [("x", "y", w) for w in ("b", "model_b", "y")]
    rows += [("x", "y", w) for w in ("tie", "tie (bothbad)", "both_bad")]
    table, _ = as_battles(rows)
    assert table.points.tolist() == [2] * 4 + [0] * 3 + [1] * 3


@bad_cases(
    ([], "battles is empty; pass at least two rows"),
    ({"model_a": [], "model_b": [], "winner": []}, "battles is empty; pass at least two rows"),
    ([("a", "b")], r"battles must be rows \(model_a, model_b, winner\), got \('a', 'b'\)"),
    ([("x", "x", "a")], "battles must be between two different systems, but in row 0"),
    ([("x", "y", "z")], "battles must have a system name, .*got 'z' for 'x' and 'y' in row 0"),
    ([("x", "y", None)], "battles must have a system name, .*got None"),
    ([("b", "c", "b")],
     "It is both a system name and a side, and they disagree; use 'model_a' or 'model_b'"),
    ([("x", None, "a")], "battles must be non-empty text, got None"),
    ({"model_a": ["x"], "winner": ["a"]}, "must have columns model_a, model_b and winner"),
    ("arena.csv", "got the path 'arena.csv'; to read a file, use es.compare_logs"),
    error=(es.InputError, TypeError),
)  # fmt: skip
def test_what_are_no_battles_is_refused(battles):
    es.arena(battles)


@bad_cases(
    ({"scale": "points"}, "scale must be one of log-odds, elo"),
    ({"groups": "prompt"}, "groups='prompt' is not a label of the battles; they have no labels"),
    ({"groups": [1, 2]}, "groups must have one label per battle, got 2 labels for 300"),
    ({"baseline": "m9"}, "baseline: there is no system 'm9'; available: m0, m1, m4"),
    ({"recover": 0.9}, "arena has no argument 'recover'"),
    error=(es.InputError, TypeError),
)
def test_options_that_are_not_for_strengths_are_refused(options):
    es.arena(fixed(), **options)


@pytest.fixture
def frame():
    found = pd.DataFrame(fixed(), columns=["model_a", "model_b", "winner"])
    found["winner"] = found["winner"].map({"a": "model_a", "b": "model_b", "tie": "tie"})
    return found.assign(question_id=np.arange(300) // 5)


@pytest.fixture
def path(frame, tmp_path):
    frame.to_csv(tmp_path / "arena.csv", index=False)
    return str(tmp_path / "arena.csv")


def test_files_and_frames_say_what_rows_say(frame, path, tmp_path, typed):
    prompts = [i // 5 for i in range(300)]
    expected = es.arena(fixed(), groups=prompts, **fast)
    assert scores(es.arena(frame, groups="question_id", **fast)) == scores(expected)
    frame.to_json(tmp_path / "arena.json", orient="records")
    frame.to_json(tmp_path / "arena.jsonl", orient="records", lines=True)
    for source in (frame, *(tmp_path / f"arena.{kind}" for kind in ("csv", "json", "jsonl"))):
        found = es.compare_logs(source, groups="question_id", **fast)
        assert scores(found) == pytest.approx(scores(expected), abs=1e-12)
        assert [d.pvalue for d in found] == pytest.approx([d.pvalue for d in expected])
    printed = typed("rank", path, "--resamples", "99")
    assert "Ranks by Bradley-Terry" in printed
    assert "300 battles are about 60 different question_ids." in printed
    assert "win rate" in typed("show", path)


@pytest.mark.parametrize("column", ["tstamp", "Battle ID", "note"])
def test_copies_of_battles_are_refused(column, tmp_path, refused):
    """Defect: a file that was appended to itself had twice as many battles."""
    rows = [f"{i % 9},{i},{'AB'[i % 2]},C,tie" for i in range(40)]
    path = tmp_path / "arena.csv"
    for lines in (rows, [*rows, *rows[5:8]]):
        path.write_text("\n".join([f"question_id,{column},model_a,model_b,winner", *lines]))
        if column == "note" or lines is rows:
            assert es.compare_logs(path, n_resamples=99)
        else:
            said = (
                "3 battles more than once, the same in every column, such as in line 7 and line 42"
            )
            assert said in refused("rank", path)


def test_columns_of_battles_have_any_names(frame, tmp_path, refused):
    expected = es.compare_logs(frame, groups="question_id", **fast)
    names = {"left": "model_a", "right": "model_b", "verdict": "winner", "Q": "label"}
    renamed = frame.rename(columns={**{of: name for name, of in names.items()}, "question_id": "Q"})
    renamed["model_a"] = "someone else"
    for path in [tmp_path / f"arena.{kind}" for kind in ("csv", "json", "jsonl")]:
        is_csv = path.suffix == ".csv"
        records = {"orient": "records", "lines": path.suffix == ".jsonl"}
        renamed.to_csv(path, index=False) if is_csv else renamed.to_json(path, **records)
        for source in (path, renamed):
            found = es.compare_logs(source, columns=names, groups="Q", **fast)
            assert scores(found) == pytest.approx(scores(expected), abs=1e-12)
    for named, message in (
        (
            ["left=model_a"],
            "must have the columns model_a, model_b and winner, got .* --columns left=mod",
        ),
        (
            ["left=model_a", "right=score"],
            "columns for battles must assign the roles model_a, model_b, winner or",
        ),
        (["left=model_a", "Left=model_b"], "has no column 'Left'; .* did you mean 'left'"),
    ):
        assert re.search(message, refused("compare", tmp_path / "arena.csv", "--columns", *named))


@cases(
    (("--human", "people.csv"), "--human applies only to scores of items, but these are battles;"),
    (("--epochs", "pass^2"), "--epochs applies only to scores of items, but these are battles;"),
    (
        ("--unpaired",),
        "--unpaired requires the statistics of every segment, but BattleTable objects keep only who won",
    ),
)
def test_options_of_items_are_refused_of_battles(arguments, message, path, tmp_path, refused):
    (tmp_path / "people.csv").write_text("segment,score\n1,1\n")
    arguments = [str(tmp_path / x) if x.endswith(".csv") else x for x in arguments]
    assert message in refused("compare", path, *arguments)


@pytest.mark.parametrize("command", ["rank", "compare", "estimate"])
def test_the_command_line_has_scales(path, tmp_path, capsys, command):
    """The scores that it writes are those of `arena`, and of two systems there are strengths."""
    call = [command, path, "--resamples", "199", "-o", str(tmp_path / "found.json")]
    for rows, systems in ((fixed(), None), (only(fixed(), "m0", "m2"), ["m0", "m2"])):
        expected = es.arena(rows, scale="elo", **fast)
        chosen = [] if systems is None else ["--systems", *systems]
        assert main([*call, *chosen, "--scale", "elo"]) == 0
        written = json.loads((tmp_path / "found.json").read_text())
        found = written["systems" if command == "rank" else "estimates"]
        (tmp_path / "found.json").unlink()
        found = {one["system"]: one["score"] for one in found}
        assert found == pytest.approx({e.system: e.score for e in expected.estimates}, abs=1e-6)
    capsys.readouterr()


def only(rows, *systems):
    return [row for row in rows if set(row[:2]) == set(systems)]


def test_scales_are_refused_where_there_are_no_battles(tmp_path, refused):
    (tmp_path / "scores.csv").write_text("system,segment,accuracy\nA,1,1\nA,2,0\nB,1,1\nB,2,1\n")
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    table, text, saved = (str(tmp_path / name) for name in ("scores.csv", "a.txt", "a.npz"))
    es.extract({"A": ["x", "y"], "B": ["x", "z"]}, ["x", "y"]).save(saved)
    cases = {
        (table,): "--scale applies only to battles (columns model_a, model_b, winner), but",
        (
            "-r",
            text,
            "-i",
            text,
            text,
        ): "--scale applies only to tables of battles, but these are texts",
        (saved,): f"--scale does not apply to {saved}",
    }
    for arguments, message in cases.items():
        assert message in refused("compare", *arguments, "--scale", "elo")


def test_systems_without_a_battle_between_them_are_told(path, refused):
    said = "battles must include at least one battle between two of these systems: m3"
    assert said in refused("rank", path, "--systems", "m3")


def test_two_systems_of_a_file_have_win_rates(path):
    found = es.compare_logs(path, system=["m0", "m2"], **fast)
    assert scores(found) == scores(es.wins(only(fixed(), "m0", "m2"), **fast))
    assert {d.metric for d in found} == {"win rate"}


def test_judges_of_mt_bench_and_arena_hard(tmp_path):
    pair = {"model_1": "x", "model_2": "y", "judge": "gpt-4"}
    games = [("model_1", "model_1"), ("model_1", "model_2"), ("model_2", "model_2")]
    games += [("tie", "model_1"), ("error", "model_1")]
    lines = [
        json.dumps({**pair, "question_id": i, "g1_winner": one, "g2_winner": two})
        for i, (one, two) in enumerate(games)
    ]
    (tmp_path / "mt.jsonl").write_text("\n".join(lines))
    log = es.read_log(tmp_path / "mt.jsonl")
    # A win each, and two ties: where games disagree and where one is a tie.
    marks = {r.system: r.values[:, 0].tolist() for r in log.rows}
    assert marks == {"x": [1, 0.5, 0, 0.5], "y": [0, 0.5, 1, 0.5]}
    assert log.skipped == ("1 of 5 battles, which have no winner",)
    judged = [["A>>B", "B>A"], ["A=B", "A>B"]]
    lines = [
        json.dumps({"uid": f"u{i}", "model": "new", "games": [{"score": s} for s in of]})
        for i, of in enumerate(judged)
    ]
    (tmp_path / "hard.jsonl").write_text("\n".join(lines))
    log = es.read_log(tmp_path / "hard.jsonl")
    # The baseline is A in the first game, and B in the second.
    marks = {r.system: r.values[:, 0].tolist() for r in log.rows}
    assert marks == {"baseline": [1, 1, 0.5, 0], "new": [0, 0, 0.5, 1]}


def test_a_table_of_battles_is_compared():
    table, _ = as_battles(fixed())
    refuses("aggregate must be 'micro' for battles", es.compare, table, aggregate="macro")
    result = es.compare(replace(table, metric=BradleyTerry("elo")), **fast)
    assert scores(result) == pytest.approx(ARENA_RANK, abs=1e-6)


def test_power_and_margins_know_strengths():
    table, _ = as_battles(fixed())
    prompts = [i // 5 for i in range(300)]
    plan = es.power(table, groups=prompts, difference=0.5)
    assert plan.pairs[0].power > 0.5
    assert "60 " in str(plan)


def crossed(n, each, n_voters, effects, seed):
    """Return battles of six equal systems as columns; prompts and voters have these effects."""
    rng = np.random.default_rng(seed)
    prompts, voters = np.repeat(np.arange(n), each), rng.integers(n_voters, size=n * each)
    labels = {"prompt": prompts, "voter": voters}
    a = rng.integers(6, size=n * each)
    b = (a + 1 + rng.integers(5, size=n * each)) % 6
    odds = 0
    for sd, of in zip(effects, labels.values(), strict=True):
        sway = sd * rng.normal(size=(of.max() + 1, 6))
        odds = odds + sway[of, a] - sway[of, b]
    won = np.where(rng.random(n * each) < 1 / (1 + np.exp(-odds)), "a", "b")
    names = np.array([f"m{i}" for i in range(6)])
    battles = {"model_a": names[a].tolist(), "model_b": names[b].tolist(), "winner": won.tolist()}
    return battles | {name: of.tolist() for name, of in labels.items()}


def test_two_labels_have_the_variance_of_both():
    rows = crossed(60, 6, 25, (0.7, 0.7), 1)
    names = ["prompt", "voter"]
    result = es.arena(rows, groups=names)
    t = {"method": "t"}
    pairs = list(zip(rows["prompt"], rows["voter"], strict=True))
    alone = [es.arena(rows, groups=of, **t) for of in (*names, pairs)]
    for d, *of in zip(result, *alone, strict=True):
        first, second, both = (one.standard_error**2 for one in of)
        expected = max(first + second - both, both) ** 0.5
        assert d.standard_error == pytest.approx(expected, rel=1e-9)
    assert (result.test, result.adjustment) == ("t", "holm")
    assert result.ranking().systems[0].probability_first is None
    by_value = es.arena(rows, groups={name: rows[name] for name in names})
    assert by_value.differences == result.differences
    sides = zip(rows["model_a"], rows["model_b"], strict=True)
    places = [i for i, pair in enumerate(sides) if set(pair) == {"m0", "m1"}]
    two = {name: [of[i] for i in places] for name, of in rows.items()}
    win_rates = es.wins(two, groups=names)
    assert win_rates.differences[0].test == "cluster-t"
    assert "unit:prompt+voter" in win_rates.signatures[0]


def shown_first(seed, n=900, share=0.8, bias=0.4):
    """Return battles of six equal systems: the first of them is shown first in 80%, and wins."""
    rng = np.random.default_rng([7, seed])
    a = rng.integers(6, size=n)
    b = (a + 1 + rng.integers(5, size=n)) % 6
    of_first, other = (a == 0) | (b == 0), np.where(a == 0, b, a)
    is_first = rng.random(n) < share
    a = np.where(of_first, np.where(is_first, 0, other), a)
    b = np.where(of_first, np.where(is_first, other, 0), b)
    won = np.where(rng.random(n) < 1 / (1 + np.exp(-bias)), "a", "b")
    return [(f"m{i}", f"m{j}", w) for i, j, w in zip(a.tolist(), b.tolist(), won, strict=True)]


def test_a_line_says_how_often_the_system_that_was_shown_first_won(tmp_path, typed):
    rows = shown_first(1)
    groups = [i // 3 for i in range(900)]
    first = np.array([w == "a" for *_, w in rows])
    share, of_groups = np.mean(first), np.bincount(groups, first - np.mean(first))
    half = 1.96793 * np.sqrt(np.sum(of_groups**2) * 300 / 299) / 900
    note = f"Systems shown first won {share:.1%} [{share - half:.1%}, {share + half:.1%}] of the"
    assert [x[: len(note)] for x in es.arena(rows, groups=groups, **fast).notes].count(note) == 1
    # Names of winners say nothing of the order, which a file keeps.
    path = tmp_path / "arena.csv"
    shown = zip(rows, groups, strict=True)
    lines = [f"{a},{b},{a if w == 'a' else b},{g}" for (a, b, w), g in shown]
    path.write_text("\n".join(["model_a,model_b,winner,prompt", *lines, ""]))
    assert note in " ".join(es.compare_logs(path, groups="prompt", **fast).notes)
    out = " ".join(typed("rank", path, "--verbose").split())
    assert "of the battles. Show each pair in both orders equally often." in out
    pair = [row for row in rows if set(row[:2]) <= {"m0", "m1"}]
    assert any(x.startswith("Systems shown first won") for x in es.wins(pair, **fast).notes)
    # Both games of a judge are one battle, and one order of all pairs says nothing.
    judged = [
        {"question_id": i, "model_1": a, "model_2": b, "g1_winner": w, "g2_winner": w}
        for i, (a, b, w) in enumerate((a, b, f"model_{1 + (w == 'b')}") for a, b, w in rows)
    ]
    (tmp_path / "judge.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in judged))
    turned = [(*sorted(row[:2]), max(row[:2]) if row[2] == "a" else min(row[:2])) for row in rows]
    for result in (es.compare_logs(tmp_path / "judge.jsonl", **fast), es.arena(turned, **fast)):
        assert not any("hown first" in note for note in result.notes)


def test_a_note_says_what_the_other_label_makes_of_the_errors(tmp_path, typed):
    battles = crossed(60, 6, 25, (0.0, 0.7), 1)
    frame = pd.DataFrame(battles)
    t = {"method": "t"}
    both = es.arena(battles, groups=["prompt", "voter"]).estimates
    for groups in ("prompt", None):
        result = es.arena(battles, groups=groups, **t)
        errors = zip(both, result.estimates, strict=True)
        ratios = [x.standard_error / y.standard_error for x, y in errors]
        note = (
            f"Battles have prompts and voters. Standard errors are {min(ratios):.2f} to "
            f"{max(ratios):.2f} times as large if they account for both. To do this, pass the groups prompt and voter."
        )
        assert [x[: len(note)] for x in result.notes].count(note) == 1
    assert max(ratios) > 1.2
    frame.to_csv(tmp_path / "arena.csv", index=False)
    printed = " ".join(
        typed("rank", tmp_path / "arena.csv", "--verbose", "--resamples", "99").split()
    )
    assert "the groups prompt and voter" in printed
    assert "are about 60 different prompts" not in printed
    # Of one label, of few judges, or where both are drawn there is nothing to say.
    few = {**battles, "voter": [i % 3 for i in battles["voter"]]}
    without = {x: of for x, of in battles.items() if x != "voter"}
    for rows, groups in ((few, None), (without, "prompt"), (battles, ["prompt", "voter"])):
        assert not any("prompts and voters" in x for x in es.arena(rows, groups=groups, **t).notes)
