"""DuckDB and Dask: each recipe has the table of one process; `tests/live` has Ray and Spark."""

import numpy as np
import pytest

import evalstats as es
from evalstats.data import load_sample
from tests import engines
from tests.engines import RECIPES

PARTS = RECIPES["parts"]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    return folder, engines.write_corpus(folder)


@pytest.fixture(scope="module")
def duckdb():
    return pytest.importorskip("duckdb", reason="needs duckdb, of the extra test")


def test_every_recipe_is_run():
    """Those of Ray and Spark in `tests/live`."""
    assert set(RECIPES) == {"parts", "dask", "ray", "spark", "spark table", "duckdb", "moments"}


@pytest.mark.thorough
def test_dask_has_the_table_of_one_process(corpus):
    """Also where a worker dies at its task."""
    pytest.importorskip("distributed", reason="needs distributed, of the extra test")
    folder, _ = corpus
    expected = engines.in_one_process(folder)
    assert engines.printed(folder, PARTS, engines.DEADLY, RECIPES["dask"]) == expected
    assert (folder / "died").exists()


@pytest.mark.thorough
def test_duckdb_has_the_table_of_one_process(corpus, duckdb):
    """Whatever the size of a batch."""
    folder, rows = corpus
    with duckdb.connect(str(folder / "corpus.duckdb")) as connection:
        connection.execute('CREATE TABLE corpus ("A" VARCHAR, "B" VARCHAR, ref VARCHAR)')
        places = ", ".join(["(?, ?, ?)"] * 500)
        values = [value for row in rows[:500] for value in row[2:]]
        connection.execute(f"INSERT INTO corpus VALUES {places}", values)
    expected = f"{es.compare(es.Moments.of(engines.table_of(rows[:500])))}\n"
    small = RECIPES["duckdb"].replace("50_000", "123")
    assert small != RECIPES["duckdb"]
    for code in (RECIPES["duckdb"], small):
        assert engines.printed_here(folder, PARTS, code) == expected


@pytest.mark.thorough
def test_the_recipe_of_moments(tmp_path, duckdb):
    rng = np.random.default_rng(8)
    scores = {name: rng.normal(size=300) for name in "AB"}
    domains = ["news", "chat", "law"] * 100
    with duckdb.connect(str(tmp_path / "corpus.duckdb")) as connection:
        connection.execute("CREATE TABLE scores (a DOUBLE, b DOUBLE, domain VARCHAR)")
        rows = zip(*(x.tolist() for x in scores.values()), domains, strict=True)
        connection.executemany("INSERT INTO scores VALUES (?, ?, ?)", list(rows))
    imports = "import duckdb, evalstats as es"
    opened = "corpus = duckdb.connect('corpus.duckdb', read_only=True)"
    got = engines.printed_here(tmp_path, imports, opened, RECIPES["moments"])
    rows = es.extract(scores, None, es.Mean("judge"))
    options = {"method": "t", "strata": domains, "aggregate": "macro"}
    assert got == f"{es.compare(rows, **options)}\n"


@pytest.mark.parametrize("labels", [{}, {"groups": "document"}, {"strata": "domain"}])
def test_moments_of_duckdb_are_those_of_the_rows(duckdb, labels):
    """Of two systems under BLEU: 20 columns, 210 products."""
    sample = load_sample()
    pair = {name: sample.systems[name] for name in ("baseline", "slightly-better")}
    once = es.extract(pair, sample.references, "bleu")
    table = es.SegmentStatistics(np.tile(once.values, (1, 50, 1)), once.systems, once.metric)
    of_segments = {
        "document": np.arange(table.n_segments) // 7,
        "domain": np.arange(table.n_segments) // 7 % 3,
    }
    names = {s: [f"{s} {c}" for c in table.metric.columns] for s in table.systems}
    columns = dict(of_segments)
    for system, rows in zip(table.systems, table.values, strict=True):
        columns |= dict(zip(names[system], rows.T, strict=True))
    with duckdb.connect() as connection:
        connection.register("statistics", {name: np.array(x) for name, x in columns.items()})
        query = es.moments_query("statistics", table.systems, "bleu", names, **labels)
        answer = connection.execute(query).fetchall()
    moments = es.Moments.from_rows(answer, table.systems, "bleu")
    (one,) = es.compare(moments)
    given = {kind: of_segments[name].tolist() for kind, name in labels.items()}
    (other,) = es.compare(table, method="t", **given)
    for field in ("difference", "standard_error", "low", "high", "pvalue", "n_differing"):
        assert getattr(one, field) == pytest.approx(getattr(other, field), rel=1e-10, abs=1e-12)
