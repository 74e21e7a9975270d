"""The recipes of `docs/large-corpora.md`, run as they stand there, and a corpus in files for them."""

import io
import os
import re
import subprocess
import sys
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path

import numpy as np

import evalstats as es
from evalstats.data import load_sample

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "large-corpora.md").read_text(encoding="utf-8")
RECIPES = dict(re.findall(r"```python\n# recipe: ([^\n]+)\n(.*?)```", PAGE, re.DOTALL))
#: So many segments; 200,000 of them in EVALSTATS_ENGINE_SEGMENTS take a minute an engine.
SEGMENTS = int(os.environ.get("EVALSTATS_ENGINE_SEGMENTS", "800"))
PARTS = 8
#: The first time that it works at the second part, a worker dies.
DEADLY = """
import os
def dying(part, work=moments_of):
    if part == "01.txt" and not os.path.exists("died"):
        open("died", "w").close()
        os._exit(1)
    return work(part)
moments_of = dying
"""


def write_corpus(folder, n=SEGMENTS):
    """Write the parts of a corpus of n segments; return its rows (document, domain, A, B, ref)."""
    sample, rng = load_sample(), np.random.default_rng(6)
    systems = sample.systems["baseline"], sample.systems["slightly-better"]
    first = [one if isinstance(one, str) else one[0] for one in sample.references]
    rows = []
    for i in rng.integers(0, len(first), n).tolist():
        texts = [text[i].split() for text in (*systems, first)]
        cut = rng.integers(0, 4)
        # Texts differ from copy to copy.
        document = len(rows) % (n // 7)  # in several places
        labels = (document, ("news", "chat", "law")[document % 3])
        rows.append((*labels, *(" ".join(words[cut:] or words) for words in texts)))
    for name, column in (("A", 2), ("B", 3), ("ref", 4)):
        (folder / name).mkdir()
        for part in range(PARTS):
            lines = [
                row[column] + "\n" for row in rows[part * n // PARTS : (part + 1) * n // PARTS]
            ]
            (folder / name / f"{part:02}.txt").write_text("".join(lines), encoding="utf-8")
    return rows


def printed(folder, *codes):
    """Return what codes print one after the other, in a process of their own."""
    (folder / "recipe.py").write_text("\n".join(codes), encoding="utf-8")
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "PYSPARK_PYTHON": sys.executable}
    command = [sys.executable, "recipe.py"]
    run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-3000:]
    return run.stdout


def printed_here(folder, *codes):
    """Return what codes print one after the other, in this process."""
    out, before = io.StringIO(), Path.cwd()
    os.chdir(folder)
    try:
        with redirect_stdout(out):
            exec(compile("\n".join(codes), "recipe", "exec"), {"__name__": "__main__"})
    finally:
        os.chdir(before)
    return out.getvalue()


def in_one_process(folder):
    """Return the table of the parts, one after the other."""
    each = "print(es.compare(reduce(add, map(moments_of, parts))))"
    return printed_here(folder, RECIPES["parts"], each)


def table_of(rows):
    """Return the statistics of a whole corpus, with its documents and domains as labels."""
    document, domain, a, b, references = map(list, zip(*rows, strict=True))
    labels = {"document": list(map(str, document)), "domain": domain}
    return replace(es.extract({"A": a, "B": b}, references, "bleu"), labels=labels)
