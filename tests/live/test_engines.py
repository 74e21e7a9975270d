"""Ray and Spark: each recipe has the table of one process, whatever dies."""

import csv

import pytest

import evalstats as es
from tests import engines
from tests.engines import RECIPES

PARTS = RECIPES["parts"]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    rows = engines.write_corpus(folder)
    return folder, rows, engines.in_one_process(folder)


def check_engine(corpus, recipe):
    """Run a recipe as it is, and with a worker that dies."""
    folder, _, expected = corpus
    (folder / "died").unlink(missing_ok=True)
    # An engine may say in between that a worker died.
    assert expected in engines.printed(folder, PARTS, recipe)
    assert expected in engines.printed(folder, PARTS, engines.DEADLY, recipe)
    assert (folder / "died").exists()


def test_ray_has_the_table_of_one_process(corpus):
    pytest.importorskip("ray", reason="needs ray, of the extra engines")
    check_engine(corpus, RECIPES["ray"])


def test_spark_has_the_table_of_one_process(corpus):
    pytest.importorskip("pyspark", reason="needs pyspark, of the extra engines, and Java")
    recipe = RECIPES["spark"].replace("local[2]", "local[2, 4]")
    assert recipe != RECIPES["spark"]
    check_engine(corpus, recipe)


def test_spark_has_the_table_of_a_table(corpus):
    """Documents within domains, of rows in any order: the numbers are those of all rows by t."""
    pytest.importorskip("pyspark", reason="needs pyspark, of the extra engines, and Java")
    folder, rows, _ = corpus
    session = RECIPES["spark"].split("tasks =")[0]
    setup = """
import csv
rows = [(int(i), *more) for i, *more in csv.reader(open("rows.csv", newline=""))]
columns = "document long, domain string, A string, B string, ref string"
spark.createDataFrame(rows, columns).repartition(5).createOrReplaceTempView("corpus")
"""
    with (folder / "rows.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    imports = "import evalstats as es\nfrom operator import add"
    got = engines.printed(folder, imports, session, setup, RECIPES["spark table"])
    table = engines.table_of(rows)
    labels = {"groups": table.labels["document"], "strata": table.labels["domain"]}
    whole = es.Moments.of(table, **labels)
    assert got == f"{es.compare(whole)}\n"
    (one,) = es.compare(whole)
    (other,) = es.compare(table, **labels, method="t")
    for field in ("difference", "standard_error", "low", "high", "pvalue", "n_differing"):
        assert getattr(one, field) == pytest.approx(getattr(other, field), rel=1e-10)
