"""Whatever is typed, and whatever the files hold: a result, or one line that says what is wrong."""

import gzip
import io
import random

import pytest

from evalstats.cli.flags import COMMANDS, options_of
from evalstats.cli.parser import metric_options
from evalstats.metrics import NAMED
from tests import fuzz
from tests.cli.test_cli import SCORES

ODD = ("", "-", "--", "-1", "0", "nan", "inf", "1e400", "9" * 30, "é", "\x1b[2J", "a\nb", "%s")
TEXTS = ("ref.txt", "ref2.txt", "a.txt", "b.txt", "c.txt.gz")
BAD = ("short.txt", "empty.txt", "latin1.txt", "nothing.txt", ".", "bad.npz", "bad.csv")
LOGS = ("scores.csv", "scores.csv", "gap.csv", "tasks.csv", "wide.csv", "made.npz", "made.npz")
#: What can come after an option, by what its help calls that.
VALUES = {
    "FILE...": TEXTS,
    "FILE": ("out.txt", "out.html", "a.txt", "no/x.md", "."),
    "FILE.npz": ("made.npz", "made.npz", "a.txt", "no/x.npz"),
    "NAME|FILE": ("document", "a.txt", "x"),
    "METRIC...": (*NAMED, "acc", "acc,none", "a*", "rouge", "["),
    "PATTERN...": ("*", "a", "b", "x*", "none", "no"),
    "NAME...": ("x", "y", "z", "\u202e"),
    "NAME": ("a", "A", "zh", "intl", "wmt99", "../x"),
    "FILE|COLUMN": ("people.csv", "score", "x"),
    "ITEM,TRIAL": ("1,0.1", "0,1", "1", "a,b"),
    "COLUMN=ROLE...": ("trial=epoch", "metric=label", "x=score", "="),
    "KIND...": ("shots", "prompts", "all"),
    "SRC-TRG": ("en-de", "en-ZH", "zh", "en_zh"),
    "N": ("0", "1", "2", "30", "1001", "x"),
    "NUMBER": ("0", "0.5", "3", "-1", "1e200"),
    **dict.fromkeys(("POINTS", "SHARE", "LEVEL"), ("0.1", "0.9", "1", "0", "95")),
    "TEXT": ("Ours & theirs",),
}


def write_files(rng, folder):
    """Write files of as many lines, hard on tokenisers, and some that cannot be used."""
    n = rng.choice((1, 2, 3, 8, 8, 20, 20))
    lines = [fuzz.text(rng).replace("\n", " ") for _ in range(n)]
    end = rng.choice(("\n", "\r\n"))
    for name in TEXTS:
        some = [fuzz.perturbed(rng, line).replace("\n", " ") for line in lines]
        data = (end.join(some) + "\n").encode("utf-8", "replace")
        (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    header, *rows = SCORES.splitlines()
    tasks = [f"task,{header}", *(f"{task},{row}" for task in "xy" for row in rows)]
    for name, data in {
        "short.txt": b"a\n" * (n + 1),
        "empty.txt": b"",
        "latin1.txt": b"\xe9\n" * n,
        "bad.npz": rng.randbytes(99),
        "bad.csv": b"system,id,score\nA,1,\xff\n",
        "scores.csv": SCORES.encode(),
        "gap.csv": SCORES.replace("B,4,acc,1", "B,4,acc,").encode(),
        "tasks.csv": "\n".join(tasks).encode(),
        "trials.csv": "\n".join(
            [f"{header},trial", *(f"{x},{i}" for x in rows for i in (1, 2))]
        ).encode(),
        "people.csv": "\n".join([header, *rows[::2]]).encode(),
        "wide.csv": b"id,A,B,C\n1,1,2,3\n2,2,1,3\n3,1,1,1\n",
    }.items():
        (folder / name).write_bytes(data)


def value(rng, kind):
    """Draw what comes after an option: now and then something odd."""
    known = VALUES.get(kind) or kind.split("|")
    return rng.choice(ODD if rng.random() < 0.04 else known)


#: Options that texts or logs do not have, and those of one kind of output. They are drawn seldom.
OF_LOGS = ("--task", "--filter", "--missing", "--epochs", "--columns", "--lower-is-better",
           "--higher-is-better", "--allow-changes")  # fmt: skip
OF_TEXTS = ("-i", "-r", "-t", "-l", "--scores", "--ids")
OF_LATEX = ("--caption", "--label", "--plan")


def drawn(rng):
    """Draw what is typed, right for the most part: texts, or logs and files of statistics."""
    command = rng.choice([name for name in COMMANDS if name not in ("demo", "guide")])
    options = [option for some in options_of(command).values() for option in some]
    is_text = command == "extract" or (command not in ("show", "cases") and rng.random() < 0.5)
    # What can be a baseline where systems are given so.
    bases = ("A", "A", "scores.csv", "nobody")
    if is_text:
        systems = rng.sample(TEXTS, 1 if command == "gate" else rng.randint(2, 3))
        words = ["-r", *rng.sample(TEXTS, rng.randint(1, 2)), "-i", *systems]
        bases = (*TEXTS, "a") if command == "gate" else (*(name[:1] for name in systems), "nobody")
        options += metric_options(command)
    else:
        logs = ("trials.csv",) if command == "cases" else LOGS
        words = rng.sample(BAD[4:] if rng.random() < 0.1 else logs, 1)
    seldom = {*OF_LATEX, *(OF_LOGS if is_text else OF_TEXTS)}
    likely = [x for x in options if rng.random() < 0.1 or not seldom & set(x.flags)]
    needed = {
        "gate": ["--baseline", "--recovery"],
        "extract": ["-o"],
        "cases": ["--baseline"],
        "plan": ["--items"],
    }
    needed = needed.get(command, [])
    few = [flag for flag in ("--resamples", "--paired-ar-n") if rng.random() < 0.95]
    asked = [option for option in options if option.flags[0] in needed]
    asked += [x for x in rng.sample(likely, rng.choice((0, 1, 1, 2))) if x not in asked]
    for option in asked:
        if option.flags[0] != "logs":
            words += [rng.choice(option.flags)]
            kind = option.value
            words += [rng.choice(bases) if kind == "BASE" else value(rng, kind)] if kind else []
        # An option such as --chrf-beta is of one metric.
        metrics = [name for name in NAMED if option.flags[-1].startswith(f"--{name[:3]}")]
        words += ["-m", metrics[0]] if metrics and "-m" not in words else []
    for option in options:
        if option.flags[0] in few and option.flags[0] not in words:
            words += [option.flags[0], "30"]
    if rng.random() < 0.05:
        rng.shuffle(words)
    return [command, *words]


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in range(1, 21))]
)
def test_a_result_or_one_line(seed, tmp_path, monkeypatch, run_here):
    rng = random.Random(seed)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a\nb\n")))
    codes = []
    for i in range(100 if seed else 40):
        if i % 5 == 0:
            write_files(rng, tmp_path)
        words = drawn(rng)
        code, out, err = run_here(*words)
        codes.append(code)
        if code == 2:
            assert out == "", words
            assert err.startswith("evalstats"), words
            assert err.count("\n") == 1, words
            assert err.rstrip("\n").isprintable(), words
            assert " error: " in err, words
        else:
            assert (code in (0, 1, 3, 4), err) == (True, ""), words
            assert "-o" in words or "--output" in words or out.endswith("\n"), words
    # The draws reach the work behind the checks as well: the code is that of a result.
    assert sum(code != 2 for code in codes) >= len(codes) / 6
