"""The notebooks run, and show what their cells give."""

import re

import pytest

from docs import fill, notebook


@pytest.mark.parametrize("path", notebook.PATHS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_what_its_cells_give(path, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot

    monkeypatch.chdir(tmp_path)
    stored = notebook.read(path)
    ran = notebook.executed(stored)
    pyplot.close("all")
    assert len(stored["cells"]) == len(ran["cells"])
    for cell, again in zip(stored["cells"], ran["cells"], strict=True):
        assert {**cell, "outputs": ()} == {**again, "outputs": ()}
        assert fill.says(shown(cell), shown(again)), "run python docs/notebook.py"
    assert list(tmp_path.iterdir()) == []


def shown(cell):
    """Return what stands below a cell, as text and as HTML."""
    outputs = [x.get("data", {"text/plain": x.get("text")}) for x in cell.get("outputs", ())]
    return "".join(part for data in outputs for text in data.values() for part in text)


@pytest.mark.parametrize("path", notebook.PATHS, ids=lambda path: path.stem)
def test_jupyter_can_open_it(path):
    """What nbformat 4.5 asks for; with the package at hand, its own check."""
    found = notebook.read(path)
    assert (found["nbformat"], found["nbformat_minor"]) == (4, 5)
    names = [cell["id"] for cell in found["cells"]]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[\w-]{1,64}", name) for name in names)
    try:
        import nbformat
    except ImportError:
        return
    nbformat.validate(nbformat.from_dict(found))


def test_a_cell_gives_what_it_prints_and_its_last_value():
    def outputs(source):
        cell = {"cell_type": "code", "source": [source], "outputs": []}
        (ran,) = notebook.executed({"cells": [cell]})["cells"]
        return shown(ran)

    assert outputs("print(1)\n2 + 3") == "1\n5"
    assert outputs("2 + 3;") == outputs("x = 5") == ""
    with pytest.raises(ZeroDivisionError):
        outputs("1 / 0")
