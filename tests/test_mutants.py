"""The table of mutants fits the library: `python -m tests.mutants` runs them."""

import pytest

from tests.mutants.mutants import MUTANTS, ROOT, file_of


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.promise)
def test_a_mutant_changes_one_place_and_names_tests_that_exist(mutant):
    assert (ROOT / mutant.file).read_text("utf-8").count(mutant.old) == 1
    assert mutant.old != mutant.new
    assert mutant.tests
    assert all(file_of(name) for name in mutant.tests)
