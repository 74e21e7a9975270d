"""The notebooks run from top to bottom, and are committed without outputs."""

from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytest.importorskip("matplotlib")
pytest.importorskip("pandas")

NOTEBOOKS = sorted((Path(__file__).parents[1] / "docs" / "notebooks").glob("*.ipynb"))
#: What a notebook must have shown, by its name.
SHOWN = {
    "custom-metric": ["rare-word F1", "signature of its metric", "image/png"],
    "shared-task": ["better than", "TER", "image/png", "tabular"],
    "training-loop": ["real improvement", "corrected", "image/png", "agreement"],
}


def read(path):
    return nbformat.read(path, as_version=4)


def test_there_is_a_notebook_for_each_expectation():
    assert [path.stem for path in NOTEBOOKS] == sorted(SHOWN)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_not_committed(path):
    for cell in read(path).cells:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None


# The kernel is a process of its own; what its client warns of is not ours.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path, tmp_path, monkeypatch):
    from nbclient import NotebookClient

    monkeypatch.setenv("TMPDIR", str(tmp_path))
    book = read(path)
    NotebookClient(
        book, timeout=120, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    ).execute()
    outputs = [output for cell in book.cells for output in cell.get("outputs", [])]
    assert [output for output in outputs if output.get("name") == "stderr"] == []
    shown = str(outputs)
    for text in SHOWN[path.stem]:
        assert text in shown
