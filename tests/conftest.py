"""What several tests share: metrics, nasty text, real test sets."""

from __future__ import annotations

import csv
import gc
import os
import random
from pathlib import Path

import hypothesis.strategies as st
import pytest
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, settings

import evalstats as es
from tests import fuzz

settings.register_profile(
    "default", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("default")
# What is printed is as wide as it is, whatever shell the tests run in.
os.environ.pop("COLUMNS", None)


# A run ends 10% sooner if garbage collection comes after the collection of tests, and seldom.
gc.disable()


def pytest_collection_finish():
    gc.freeze()
    gc.set_threshold(50_000)
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give all tests of a file to one process, which then makes once what they share."""
    from xdist.scheduler import LoadFileScheduling

    return LoadFileScheduling(config, log) if config.option.dist == "load" else None


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Keep doctest from test files: it would skip, in silence, one that cannot be imported."""
    found = yield
    return [collector for collector in found if not isinstance(collector, DoctestModule)]


def first(n, values):
    """Return parameters of a test, of which the default run takes n and .ci/run takes all."""
    values = list(values)
    return values[:n] + [pytest.param(x, marks=pytest.mark.thorough) for x in values[n:]]


#: One row a metric: every property test runs over all of them.
SACREBLEU_METRICS = [
    es.BLEU(),
    es.BLEU(smooth_method="none", max_ngram_order=2, lowercase=True),
    es.BLEU(smooth_method="floor", tokenize="intl", effective_order=True),
    es.BLEU(smooth_method="add-k", smooth_value=0.5, tokenize="char"),
    es.BLEU(tokenize="zh", effective_order=True, max_ngram_order=6),
    es.BLEU(tokenize="none", smooth_method="floor", smooth_value=0.01),
    es.CHRF(),
    es.CHRF(word_order=2),
    es.CHRF(eps_smoothing=True, beta=3, whitespace=True, lowercase=True, word_order=1),
    es.CHRF(char_order=2, beta=0.5),
    es.TER(),
    es.TER(normalized=True, no_punct=True, asian_support=True, case_sensitive=True),
]
ROUGES = [
    es.ROUGE(1), es.ROUGE("2", stemmer=True), es.ROUGE("L", measure="recall"), es.ROUGE("Lsum"),
]  # fmt: skip
TEXT_METRICS = [*SACREBLEU_METRICS, es.WER(), es.CER(lowercase=True), *ROUGES]

WMT = Path(__file__).resolve().parents[2] / "shared" / "data"


def metric_id(metric):
    return f"{metric.name}[{metric.signature.partition('|sacrebleu')[0]}]"


@pytest.fixture(params=TEXT_METRICS, ids=metric_id)
def text_metric(request):
    return request.param


#: What `st.text` draws from; it asks first which signs UTF-8 has, one by one, for a second.
SIGNS = st.characters(exclude_categories=["Cs"])
#: Text as people and machines write it at their worst.
nasty_texts = st.one_of(
    st.integers(0, 2**32).map(lambda seed: fuzz.text(random.Random(seed), 12)),
    st.text(SIGNS, max_size=20),
)
#: Corpora: hypotheses and references, one to four a segment, `None` for an absent one.
nasty_corpora = st.integers(0, 2**32).map(
    lambda seed: fuzz.corpus(random.Random(seed), segments=6, longest=12)
)


def read_lines(path):
    lines = Path(path).read_bytes().decode("utf-8").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


class TestSet:
    """A real test set: references by label, systems by name."""

    __test__ = False

    def __init__(self, folder, skip=0):
        self.references = {
            path.stem.rpartition(".")[2]: read_lines(path)[skip:]
            for path in sorted(folder.glob("reference.*.txt"))
        }
        self.systems = {
            path.stem: read_lines(path)[skip:] for path in sorted(folder.glob("systems/*.txt"))
        }

    def prepared(self, label):
        """Return References: "A", "B", or "all", which the organisers scored in the order B, A."""
        if label == "all":
            return es.References(es.from_streams(self.references["B"], self.references["A"]))
        return es.References(self.references[label])


def _test_set(name, skip=0):
    if not (WMT / name).is_dir():
        pytest.skip(f"needs the WMT data sets in {WMT}")
    return TestSet(WMT / name, skip)


@pytest.fixture(scope="session")
def en_de():
    return _test_set("wmt22/en-de")


@pytest.fixture(scope="session")
def en_zh():
    return _test_set("wmt22/en-zh")


@pytest.fixture(scope="session")
def en_es():
    # Line 1 of the WMT24 files is a canary, not a segment.
    return _test_set("wmt24/en-es", skip=1)


@pytest.fixture(scope="session")
def published_scores():
    path = WMT / "wmt22" / "published-scores.tsv"
    if not path.exists():
        pytest.skip(f"needs {path}")
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


@pytest.fixture(scope="session")
def sample():
    from evalstats.data import load_sample

    return load_sample()


#: The systems that `files` holds.
SYSTEMS = ("baseline", "copy", "clearly-better")


@pytest.fixture(scope="session")
def small(sample):
    """Return the first segments of the sample, of which much can be asked in little time."""
    return first_segments(sample, SYSTEMS)


def first_segments(sample, systems):
    from evalstats.data import Sample

    return Sample(
        sample.references[:60],
        {name: sample.systems[name][:60] for name in systems},
        sample.documents[:60],
        sample.domains[:60],
    )


@pytest.fixture
def short_demo(sample, monkeypatch):
    """Let `evalstats demo` compare the first segments of the systems."""
    short = first_segments(sample, sample.systems)
    monkeypatch.setattr("evalstats.data.load_sample", lambda: short)


@pytest.fixture(scope="module")
def files(tmp_path_factory, small):
    folder = tmp_path_factory.mktemp("files")
    lines = {f"ref.{name}": [row[j] for row in small.references] for j, name in enumerate("AB")}
    lines |= small.systems | {"docs": small.documents, "domains": small.domains}
    for name, content in lines.items():
        (folder / f"{name}.txt").write_text("\n".join(content) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def examples_folder(tmp_path_factory):
    """Return a folder with the files that the pages use."""
    from evalstats.data import examples

    folder = tmp_path_factory.mktemp("examples")
    examples.write(folder)
    return folder


@pytest.fixture
def run_here(capsys):
    """Run the command line in this process; return exit code, stdout and stderr."""
    from evalstats import cli

    def run(*arguments):
        capsys.readouterr()
        try:
            code = cli.main([str(word) for word in arguments])
        except SystemExit as stop:
            code = stop.code
        return (code, *capsys.readouterr())

    return run


@pytest.fixture
def typed(run_here):
    """Run what is typed; return what it prints."""

    def typed(*words):
        code, out, err = run_here(*words)
        assert (code, err) == (0, "")
        return out

    return typed


@pytest.fixture
def refused(run_here):
    """Run what cannot be; return the one line that says why."""

    def refused(*words):
        code, out, err = run_here(*words)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert err.startswith("evalstats")
        return err

    return refused
