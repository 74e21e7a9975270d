"""Imports run one way, nothing heavy is loaded before it is needed, `__all__` is honest."""

import ast
import importlib
import re
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import evalstats as es

PACKAGE = Path(es.__file__).parent

#: The rooms, in the order in which data walks through them. A file may import from its own row
#: and the rows above it; between rooms of one row nothing is imported.
ROOMS = [
    {"errors", "checks"},
    {"text"},
    {"metrics"},
    {"resampling", "inference"},
    {"results"},
    {"statistics"},
    {"shards"},
    {"analysis"},
    {"training", "compat", "logs"},
]
DOORS = {"auditing", "testing", "integrations", "data", "cli", "__init__", "__main__"}


def room(module):
    return module.split(".")[0]


def row(module):
    rows = [i for i, rooms in enumerate(ROOMS) if room(module) in rooms]
    assert rows or room(module) in DOORS, f"{module} stands in no room and is no door"
    return rows[0] if rows else len(ROOMS)


PATHS = sorted(PACKAGE.rglob("*.py"))
NAMES = [".".join(path.relative_to(PACKAGE).with_suffix("").parts) for path in PATHS]
MODULES = {name.removesuffix(".__init__"): path for name, path in zip(NAMES, PATHS, strict=True)}


FORKS = (
    *(ast.If, ast.IfExp, ast.For, ast.While, ast.ExceptHandler, ast.Assert),
    *(ast.comprehension, ast.match_case),
)
LEAVES = (ast.Name, ast.Constant, ast.arg, ast.alias)


def n_ways(function):
    """Return the ways through a function: 1, one more for each fork and each `and` or `or`."""
    ways, left = 1, [function]
    while left:
        node = left.pop()
        ways += isinstance(node, FORKS)
        if isinstance(node, ast.BoolOp):
            ways += len(node.values) - 1
        # Names and numbers, the most nodes there are, fork nowhere.
        left += [x for x in ast.iter_child_nodes(node) if type(x) not in LEAVES]
    return ways


@pytest.fixture(scope="module")
def trees():
    return {name: ast.parse(path.read_text("utf-8")) for name, path in MODULES.items()}


@pytest.fixture(scope="module")
def nodes(trees):
    return {name: list(ast.walk(tree)) for name, tree in trees.items()}


@pytest.fixture(scope="module")
def imports(nodes):
    """Return the evalstats modules that each imports, wherever and for whatever it does."""
    found = {name: set() for name in MODULES}
    for name, every in nodes.items():
        for node in every:
            if isinstance(node, ast.ImportFrom) and room(node.module or "") == "evalstats":
                package = node.module.partition(".")[2]
                inner = [f"{package}.{alias.name}".lstrip(".") for alias in node.names]
                found[name] |= {x if x in MODULES else package or "__init__" for x in inner}
    return {name: targets - {name} for name, targets in found.items()}


def test_imports_run_one_way(imports):
    for name, targets in imports.items():
        for target in targets:
            if room(name) == room(target) or room(name) in DOORS:
                continue
            assert row(target) < row(name) or row(target) == 0, f"{name} must not import {target}"


def test_there_is_no_circle(imports):
    inside = {name: targets - {"__init__"} for name, targets in imports.items()}
    try:
        TopologicalSorter(inside).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_inference_takes_arrays_and_returns_arrays(imports):
    """And its files stand side by side: all that they share are two files of formulas."""
    for name, targets in imports.items():
        if name.startswith("inference."):
            shared = {"inference.student", "inference.counts"}
            outside = {room(target) for target in targets - shared}
            assert outside <= {"errors", "checks", "metrics"}, name


def test_every_room_has_a_map_and_files_are_short(trees):
    for name, path in MODULES.items():
        n_lines = len(path.read_text(encoding="utf-8").splitlines())
        assert n_lines <= 900, f"{name} is too long"
        if path.name == "__init__.py" and room(name) in set().union(*ROOMS) and "." not in name:
            described = ast.get_docstring(trees[name])
            files = {other.partition(".")[2] for other in MODULES if room(other) == name != other}
            named = set(re.findall(r"`(\w+)`", " ".join(re.findall("(?m)^- (.*?):", described))))
            assert named == {file for file in files if "." not in file}, f"the map of {name}"


def test_functions_are_short_and_take_few_arguments(nodes):
    for name, every in nodes.items():
        for node in every:
            if isinstance(node, ast.FunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                n_lines = body[-1].end_lineno - body[0].lineno + 1 if body else 0
                assert n_lines <= 90, f"{name}.{node.name} has {n_lines} lines"
                assert n_ways(node) <= 25 or room(name) == "compat", f"{name}.{node.name} forks"
                n = len([*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs])
                # `compare` names each of its options, so that an editor knows them.
                limit = 22 if node.name == "compare" else 19
                assert n <= limit, f"{name}.{node.name} has {n} parameters"


def test_import_loads_nothing_and_every_name_what_it_needs():
    # Rooms before those that import them.
    rooms = sorted({room(name) for name in MODULES} - {"__init__", "__main__"}, key=row)
    code = "import sys, evalstats; print(*sys.modules)"
    code += f"\nfor name in {[*rooms, *es.__all__]}: getattr(evalstats, name)\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    first, loaded = map(str.split, done.stdout.splitlines())
    assert [m for m in first if room(m) == "evalstats"] == ["evalstats"]
    heavy = {"scipy", "sacrebleu", "matplotlib", "pandas"} & {room(m) for m in loaded}
    peers = {f"evalstats.compat.{peer}" for peer in ("sacrebleu", "nltk", "axion", "futureagi")}
    assert not heavy | (peers & set(loaded))


def test_all_is_honest_and_type_checkers_see_it(trees):
    assert len(es.__all__) == len(set(es.__all__))
    assert {*es.__all__, "__version__"} <= set(dir(es))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = es.nothing
    nodes = [node for node in ast.walk(trees["__init__"]) if isinstance(node, ast.ImportFrom)]
    found = {a.asname: node.module for node in nodes for a in node.names if a.asname}
    assert sorted(found) == sorted(es.__all__)
    for name, module in found.items():
        assert getattr(es, name) is getattr(importlib.import_module(module), name)
        assert getattr(es, name).__doc__
