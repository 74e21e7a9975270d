"""Examples of these pages run in a folder with the files that they read."""

import pytest

from evalstats.data import examples

#: Programs that make the pages have no examples, and load what the default run does not need.
collect_ignore_glob = ["*.py"]


@pytest.fixture(scope="session")
def folder_of_examples(tmp_path_factory):
    """Return a folder with all files."""
    folder = tmp_path_factory.mktemp("examples")
    examples.write(folder)
    return folder


@pytest.fixture(autouse=True)
def _in_it(folder_of_examples, monkeypatch):
    monkeypatch.chdir(folder_of_examples)
