"""Run the notebooks, and put the outputs below their cells: `python docs/notebook.py`.

A cell gives what it prints and, where its last line is an expression that does not end in ";", the
value of that. Figures are drawn by whoever runs a notebook, and not kept in the file.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent / "notebooks"
PATHS = sorted(FOLDER.glob("*.ipynb"))


def read(path: Path) -> dict[str, Any]:
    """Return a notebook."""
    return dict(json.loads(path.read_text(encoding="utf-8")))


def write(path: Path, notebook: dict[str, Any]) -> None:
    """Write a notebook as Jupyter does."""
    text = json.dumps(notebook, ensure_ascii=False, indent=1)
    path.write_text(text + "\n", encoding="utf-8")


def executed(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return a notebook whose code cells were run from the first to the last."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells, count = [], 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            count += 1
            outputs = _outputs("".join(cell["source"]), names, count)
            cell = {**cell, "execution_count": count, "outputs": outputs}
        cells.append(cell)
    return {**notebook, "cells": cells}


def _outputs(source: str, names: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """Run a cell; return what it prints, and its last value as Jupyter would show it."""
    tree, value = ast.parse(source), None
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "<cell>", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        text = printed.getvalue().splitlines(keepends=True)
        outputs.append({"name": "stdout", "output_type": "stream", "text": text})
    if value is not None and not source.rstrip().endswith(";"):
        data = {"text/plain": repr(value).splitlines(keepends=True)}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = value._repr_html_().splitlines(keepends=True)
        result = {"output_type": "execute_result", "execution_count": count, "metadata": {}}
        outputs.append({**result, "data": data})
    return outputs


if __name__ == "__main__":
    for each in PATHS:
        write(each, executed(read(each)))
        print(f"ran {each}")
