"""Imports run one way, nothing heavy is loaded before it is needed, `__all__` is honest."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import evalstats as es

PACKAGE = Path(es.__file__).parent

#: Each module may import from its own row and the rows below it.
LAYERS = [
    {"__main__"},
    {"cli", "compat", "integrations"},
    {"__init__"},
    {"testing", "auditing", "monitor"},
    {"accumulator"},
    {"bleu_inference", "paired", "analysis", "files", "data", "data.generate"},
    {"notes"},
    {"results", "sampling", "sacrebleu_tests"},
    {"extraction", "options", "layout", "plots", "selection", "sequential"},
    {"shards"},
    {
        "segments",
        "intervals",
        "significance",
        "multiplicity",
        "influence",
        "effects",
        "resampling",
        "sacrebleu_draws",
        "hierarchy",
        "segment_ids",
    },
    {"products", "interchange", "report"},
    {"archives"},
    {"weights"},
    {"multinomial_rows"},
    {"metrics", "tasks"},
    {"keyed"},
    {"poisson", "philox"},
    {"random_bytes", "byte_formulas", "row_sums", "streams"},
    {"scratch", "column_relations"},
    {"_signature", "errors"},
]
LEAVES = {"intervals", "significance", "multiplicity", "report"}


def imported(path):
    """Yield the evalstats modules that a file imports at run time."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    guarded = {
        node
        for branch in ast.walk(tree)
        if isinstance(branch, ast.If) and ast.unparse(branch.test) == "TYPE_CHECKING"
        for node in ast.walk(branch)
    }
    for node in ast.walk(tree):
        if node in guarded:
            continue
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "evalstats":
            inner = node.module.split(".", 1)[1:]
            yield from inner or [alias.name for alias in node.names]


def layer(name):
    parts = name.split(".")
    for known in (name, parts[0]):
        for i, row in enumerate(LAYERS):
            if known in row:
                return i
    raise AssertionError(f"module {name} has no place in LAYERS")


def modules():
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        yield path, name.removesuffix(".__init__")


@pytest.mark.parametrize("path, name", list(modules()), ids=lambda value: str(value)[-30:])
def test_imports_run_one_way(path, name):
    for target in imported(path):
        if target.split(".")[0] != name.split(".")[0]:
            assert layer(name) <= layer(target), f"{name} must not import {target}"
            assert name not in LEAVES or target == "errors", (
                f"{name} is a leaf: it takes arrays and returns arrays"
            )
            assert layer(name) != layer(target) or name in ("analysis", "results"), (name, target)


def test_import_loads_neither_scipy_nor_sacrebleu():
    code = (
        "import sys, evalstats;"
        "heavy = {'scipy', 'sacrebleu', 'argparse', 'matplotlib', 'pandas', 'evalstats.compat'};"
        "heavy &= set(sys.modules);"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_all_is_honest():
    assert len(es.__all__) == len(set(es.__all__))
    for name in es.__all__:
        assert getattr(es, name).__doc__
    public = {name for name in vars(es) if not name.startswith("_")}
    modules_of_ours = {name for _, name in modules()} | {"metrics", "data"}
    assert public - modules_of_ours == set(es.__all__)
    assert es.__version__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = es.nothing
