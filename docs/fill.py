"""Run the commands of README.md and of these pages, and put what they print below them.

    python docs/fill.py            # all pages; then read the difference
    python docs/fill.py logs.md

The table of options is made of their schema (`evalstats.analysis.options`).

A command is a line of an `sh` block that begins with `evalstats`; it runs in a folder of examples.
What the last command of a block prints belongs into the `text` block that follows, if one does,
which may be empty before. How many words each page has is printed at the end.
Commands that read others' test sets and logs need them in the folder that EVALSTATS_DATA names, or
beside the checkout; elsewhere what they print stays as it is.
Signatures are cut short, since they name versions, and long notes are broken into lines.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import sys
import tempfile
import textwrap
from pathlib import Path

import evalstats
from evalstats.analysis.settings import SETTINGS
from evalstats.cli import main
from evalstats.cli.flags import EVERY
from evalstats.data import examples

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("EVALSTATS_DATA", ROOT.parent / "shared" / "data"))
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
#: Commands, words, and what is shown of their output, if it is.
_COMMANDS = re.compile(
    r"```sh\n((?:(?!```).)*?)```\n(?:((?:\n|[^`#|\n][^\n]*\n)*?)```text\n((?:(?!```).)*?)```)?",
    re.DOTALL,
)
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
_VERSION = re.compile(r"\b(sacrebleu|evalstats|numpy):\d[\w.+]*?(?=\.{3}|[|`,<\n]|$)")
_SHOWN, _WIDE, _ROOM = 60, 96, 96


_OPTIONS = re.compile(r"(<!-- options -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def options_table() -> str:
    """Return a row for each option of the schema: its name, words, default, flag and sentence."""
    typed = {option.name for option in EVERY}
    lines = ["| option | default | command line | |", "|:--|:--|:--|:--|"]
    for name, setting in SETTINGS.items():
        default = "" if setting.default is None else f"`{setting.default!r}`"
        flag = f"`{setting.typed}`".replace("|", "\\|") if name in typed else ""
        lines.append(f"| `{name}` | {default} | {flag} | {setting.sentence} |")
    return "\n".join(lines) + "\n"


def commands(text: str) -> list[tuple[str, str | None]]:
    """Return every block of commands with what is shown below it."""
    return [(match[1], match[3]) for match in _COMMANDS.finditer(text)]


def ours(block: str) -> list[str]:
    """Return the commands of a block that are evalstats'."""
    lines = block.replace("\\\n", " ").splitlines()
    lines = ["evalstats demo" if line.endswith("bin/evalstats demo") else line for line in lines]
    return [line for line in lines if line.startswith("evalstats ")]


def test_sets(block: str) -> list[str]:
    """Return the test sets and logs of others that commands of a block read."""
    return sorted(set(re.findall(r"\b(?:wmt\d\d|runs)/[\w-]+", block)))


def lacks(block: str) -> bool:
    """Return whether one of them is not here."""
    return not all((DATA / name).is_dir() for name in test_sets(block))


def write_files(folder: Path) -> None:
    """Write the files of examples, and links to test sets that are here."""
    examples.write(folder)
    for path in (*DATA.glob("wmt*"), *DATA.glob("runs")):
        (folder / path.name).symlink_to(path)
    if not lacks("wmt22/cs-en"):
        # What is not drawn has not been run.
        texts = {
            path.stem: path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
            for path in (folder / "wmt22" / "cs-en").rglob("*.txt")
        }
        earlier = {name: of for name, of in sorted(texts.items()) if name.startswith("Online-")}
        run = set(evalstats.plan(earlier, texts["reference.B"], "chrf", n=300).drawn)
        new = [x if i in run else "" for i, x in enumerate(texts["CUNI-DocTransformer"])]
        (folder / "cuni.txt").write_text("\n".join(new) + "\n", encoding="utf-8")


def printed(line: str) -> tuple[int, str, str]:
    """Run a command here; return its exit code, and what it printed on either stream."""
    words = [
        word
        for typed in shlex.split(line, comments=True)[1:]
        for word in (sorted(map(str, Path().glob(typed))) or [typed])
    ]
    # A page has room for so many columns, whatever shell this runs in.
    out, errors, columns = io.StringIO(), io.StringIO(), os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = str(_ROOM)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            code = main(words)
    finally:
        del os.environ["COLUMNS"]
        os.environ |= {} if columns is None else {"COLUMNS": columns}
    return code, out.getvalue(), errors.getvalue()


def says(shown: str, got: str) -> bool:
    """Return whether a page shows what was printed, but for "...", breaks of lines and versions."""
    shown, got = (_VERSION.sub(r"\1:", text) for text in (shown, got))
    return doctest.OutputChecker().check_output(shown, got, _FLAGS)


def filled(text: str) -> str:
    """Return a page whose commands are followed by what they print."""

    def part(match: re.Match[str]) -> str:
        if match[3] is None or not ours(match[1]) or lacks(match[1]):
            return match[0]
        *_, (_, got, _) = [printed(line) for line in ours(match[1])]
        if says(match[3], got):
            return match[0]
        return f"```sh\n{match[1]}```\n{match[2]}```text\n{_readable(got)}```"

    return _OPTIONS.sub(
        lambda match: f"{match[1]}{options_table()}{match[3]}", _COMMANDS.sub(part, text)
    )


def _readable(got: str) -> str:
    lines = []
    for line in got.rstrip("\n").splitlines():
        if "|evalstats:" in line:
            line = line[:_SHOWN] + "..."
        is_note = len(line) > _WIDE and "  " not in line and not line.startswith(("-", "|"))
        lines += textwrap.wrap(line, _WIDE, break_on_hyphens=False) if is_note else [line]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    names = {Path(argument).name for argument in sys.argv[1:]}
    if unknown := names - {path.name for path in PAGES}:
        sys.exit(f"not a page: {', '.join(sorted(unknown))}")
    chosen = [path for path in PAGES if not names or path.name in names]
    texts = {path: path.read_text(encoding="utf-8") for path in chosen}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_files(Path(folder))
        for path, text in texts.items():
            if filled(text) != text:
                path.write_text(filled(text), encoding="utf-8")
                print(f"filled {path}")
        os.chdir(ROOT)
    # No page fails for its length; whoever writes sees which is long.
    for path in sorted(chosen, key=lambda path: -len(texts[path].split())):
        print(f"{len(texts[path].split()):6,d} words  {path.name}")
