"""Imports run one way, nothing heavy is loaded before it is needed, `__all__` is honest."""

import ast
import re
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import evalstats as es
from tests.helpers import trees

#: One process parses the package.
pytestmark = pytest.mark.xdist_group("architecture")
PACKAGE = Path(es.__file__).parent
STUB = PACKAGE / "__init__.pyi"

#: The rooms of the core, in the order in which data walks through them. A file may import from its
#: own row and the rows above it; between rooms of one row nothing is imported.
ROWS = "errors checks, text, metrics, resampling inference, results, statistics, analysis"
CORE = [set(rooms.split()) for rooms in ROWS.split(", ")]
CAPABILITIES = {"designs", "questions", "pictures"}
DOORS = {"logs", "compat", "training", "integrations", "cli", "testing", "data"}
TOP = {"__init__", "__main__"}
#: Capabilities that import another, which is said here: all others import the core alone.
BETWEEN = {
    "designs.arenas": {"designs.units"},
    "designs.meta": {"designs.swaps"},
    "designs.moments": {"designs.units"},
    "designs.plans": {"designs.judges"},
    "designs.trials": {"designs.units"},
    "questions.gates": {"designs.samples", "questions.needed"},
    "questions.needed": {"designs.samples", "questions.power"},
    "questions.looks": {
        "designs.arrivals", "designs.judges", "designs.samples", "designs.spending",
        "questions.gates",
    },
    "questions.power": {"designs.samples", "designs.spending", "designs.trials"},
}  # fmt: skip


def room(module):
    return module.split(".")[0]


def capability(module):
    """Return "questions.looks" for a module of it; pictures are one."""
    return "pictures" if room(module) == "pictures" else ".".join(module.split(".")[:2])


def row(module):
    rows = [i for i, rooms in enumerate(CORE) if room(module) in rooms]
    known = rows or room(module) in CAPABILITIES | DOORS | TOP
    assert known, f"{module} stands in no room and is no door"
    return rows[0] if rows else len(CORE)


PATHS = {path: path.relative_to(PACKAGE).with_suffix("") for path in PACKAGE.rglob("*.py")}
MODULES = {".".join(name.parts).removesuffix(".__init__"): path for path, name in PATHS.items()}


FORKS = (
    *(ast.If, ast.IfExp, ast.For, ast.While, ast.ExceptHandler, ast.Assert),
    *(ast.comprehension, ast.match_case),
)


def n_ways(function):
    """Return the ways through a function: 1, one more for each fork and each `and` or `or`."""
    nodes = list(ast.walk(function))
    return 1 + sum(
        isinstance(node, FORKS) + (len(node.values) - 1 if isinstance(node, ast.BoolOp) else 0)
        for node in nodes
    )


def top_level(node):
    """Yield what runs, or is imported, as soon as a module is: functions and types apart."""
    for child in ast.iter_child_nodes(node):
        is_typing = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test)
        is_statement = isinstance(child, (ast.stmt, ast.ExceptHandler, ast.match_case))
        if is_statement and not isinstance(child, ast.FunctionDef) and not is_typing:
            yield child
            yield from top_level(child)


@pytest.fixture(scope="module")
def imports():
    """Return the evalstats modules that each imports as soon as it is imported itself."""
    found = {name: set() for name in MODULES}
    for name, path in MODULES.items():
        for node in top_level(trees()[path]):
            if isinstance(node, ast.ImportFrom) and room(node.module or "") == "evalstats":
                package = node.module.partition(".")[2]
                inner = [f"{package}.{alias.name}".lstrip(".") for alias in node.names]
                found[name] |= {x if x in MODULES else package or "__init__" for x in inner}
    return {name: targets - {name} for name, targets in found.items()}


def test_the_core_reads_alone(imports):
    """It imports no capability and no door; its rooms stand in a row."""
    for name, targets in imports.items():
        if row(name) < len(CORE):
            for target in targets:
                above = row(target) < row(name) or row(target) == 0
                assert room(name) == room(target) or above, f"{name} must not import {target}"


def test_capabilities_import_the_core_and_few_others(imports):
    between = {}
    for name, targets in imports.items():
        if room(name) in CAPABILITIES:
            for target in targets:
                assert room(target) not in DOORS, f"{name} must not import {target}"
                if room(target) in CAPABILITIES and capability(target) != capability(name):
                    between.setdefault(capability(name), set()).add(capability(target))
    assert between == BETWEEN


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
            known = ("student", "counts", "distributions")
            shared = {f"inference.{name}" for name in known}
            outside = {room(target) for target in targets - shared}
            assert outside <= {"errors", "checks", "metrics"}, name


def test_every_room_has_a_map_and_files_are_short():
    for name, path in MODULES.items():
        n_lines = len(path.read_text(encoding="utf-8").splitlines())
        assert n_lines <= 900, f"{name} is too long"
        if (
            path.name == "__init__.py"
            and room(name) in set().union(*CORE, CAPABILITIES, {"logs", "training", "compat"})
            and "." not in name
        ):
            described = ast.get_docstring(trees()[path])
            files = {other.partition(".")[2] for other in MODULES if room(other) == name != other}
            named = set(re.findall(r"`(\w+)`", " ".join(re.findall("(?m)^- (.*?):", described))))
            assert named == {file for file in files if "." not in file}, f"the map of {name}"


def test_functions_are_short_and_take_few_arguments():
    for name, path in MODULES.items():
        for node in ast.walk(trees()[path]):
            if isinstance(node, ast.FunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                n_lines = body[-1].end_lineno - body[0].lineno + 1 if body else 0
                assert n_lines <= 90, f"{name}.{node.name} has {n_lines} lines"
                assert n_ways(node) <= 25 or room(name) == "compat", f"{name}.{node.name} forks"
                n = len([*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs])
                # These name each of their options, so that an editor knows them.
                limit = 22 if node.name in ("compare", "power") else 19
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


def stub():
    """Return what type checkers know of the package: an import of each public name, and a type."""
    ordered = sorted(
        (f"evalstats.{module}", not name.isupper(), name.islower(), name)
        for module, names in es._MODULES.items()
        for name in names.split()
    )
    lines = [f"from {module} import {name} as {name}\n" for module, *_, name in ordered]
    return f"{''.join(lines)}\n__version__: str\n"


def test_all_is_honest_and_type_checkers_see_it():
    assert len(es.__all__) == len(set(es.__all__))
    assert set(dir(es)) == {*es.__all__, "__version__"}
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = es.nothing
    for name in es.__all__:
        assert getattr(es, name).__doc__
    written = STUB.read_text("utf-8")
    assert written == stub(), "python -m tests.test_architecture writes the stub"


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
