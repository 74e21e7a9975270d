"""A command loads what it needs and nothing else: whoever types it waits for every module."""

import subprocess
import sys

from tests.helpers import cases

CODE = (
    "import sys; from evalstats import cli\nsys.exit(cli.main(sys.argv[1:]) or print(*sys.modules))"
)
QUESTIONS = ("evalstats.questions", "evalstats.designs.spending", "evalstats.designs.samples")
LOGS, OPTIONS = "evalstats.logs.log", "evalstats.analysis.options"


@cases(
    ("--version", ("numpy", "evalstats.checks", OPTIONS, "evalstats.cli.parser")),
    ("--help", ("numpy", "evalstats.checks", OPTIONS, "evalstats.cli.parser")),
    # Where there is no evidence, a sentence says which difference would have been found.
    ("compare -r r.txt -i a.txt b.txt -m wer", ("scipy", "evalstats.questions.gates", LOGS)),
    ("compare s.csv", ("scipy", "evalstats.designs.arenas.arena", "evalstats.designs.judges")),
    ("compare s.csv --quiet", QUESTIONS),
)
def test_what_a_command_does_not_need_is_not_loaded(words, absent, tmp_path):
    for name, text in {"r": "a b\nc d\n", "a": "a b\nc\n", "b": "a\nc d\n"}.items():
        (tmp_path / f"{name}.txt").write_text(text * 6, encoding="utf-8")
    rows = [f"{i},{i % 2},{i % 3 % 2}\n" for i in range(30)]
    (tmp_path / "s.csv").write_text("".join(["item,a,b\n", *rows]), encoding="utf-8")
    typed = [str(tmp_path / word) if "." in word else word for word in words.split()]
    command = [sys.executable, "-c", CODE, *typed]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = done.stdout.splitlines()[-1].split()
    assert "evalstats.cli" in loaded
    assert [name for name in loaded if f"{name}.".startswith(tuple(f"{x}." for x in absent))] == []
