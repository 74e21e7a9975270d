"""The table of mutants fits the library: `python -m tests.mutants` runs them."""

from tests.mutants import MUTANTS, ROOT, file_of


def test_a_mutant_changes_one_place_and_names_tests_that_exist():
    texts = {file: (ROOT / file).read_text("utf-8") for file in {m.file for m in MUTANTS}}
    for mutant in MUTANTS:
        assert texts[mutant.file].count(mutant.old) == 1, mutant
        assert mutant.old != mutant.new, mutant
        assert mutant.tests, mutant
        assert all(file_of(name) for name in mutant.tests), mutant
