"""The table of mutants fits the library: `python -m tests.mutants` runs them."""

from pathlib import Path

import pytest

from tests.mutants.mutants import MUTANTS

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.promise)
def test_a_mutant_changes_one_place_and_names_tests_that_exist(mutant):
    assert (ROOT / mutant.file).read_text("utf-8").count(mutant.old) == 1
    assert mutant.old != mutant.new
    assert mutant.tests
    assert all((ROOT / f"tests/test_{name}.py").exists() for name in mutant.tests)
