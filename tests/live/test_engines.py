"""Ray and Spark: each recipe has the table of one process, whatever dies or comes twice."""

import csv

import pytest

from tests import engines
from tests.engines import RECIPES

PARTS = RECIPES["parts"]
TWICE = "parts.append(parts[2])"
NAMED = r"share a segment: row 0 of the file whose hash is 0x"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    rows = engines.write_corpus(folder)
    return folder, rows, engines.in_one_process(folder)


def check_engine(corpus, recipe):
    """Run a recipe as it is, with a worker that dies, and with a part that comes twice."""
    folder, _, expected = corpus
    (folder / "died").unlink(missing_ok=True)
    # An engine may say in between that a worker died.
    assert expected in engines.printed(folder, PARTS, recipe)
    assert expected in engines.printed(folder, PARTS, engines.DEADLY, recipe)
    assert (folder / "died").exists()
    with pytest.raises(AssertionError, match=NAMED):
        engines.printed(folder, PARTS, TWICE, recipe)


def test_ray_has_the_table_of_one_process(corpus):
    pytest.importorskip("ray", reason="needs ray, of the extra engines")
    check_engine(corpus, RECIPES["ray"])


def test_spark_has_the_table_of_one_process(corpus):
    pytest.importorskip("pyspark", reason="needs pyspark, of the extra engines, and Java")
    recipe = RECIPES["spark"].replace("local[2]", "local[2, 4]")
    assert recipe != RECIPES["spark"]
    check_engine(corpus, recipe)


def test_spark_has_the_table_of_a_table(corpus):
    pytest.importorskip("pyspark", reason="needs pyspark, of the extra engines, and Java")
    pytest.importorskip("pyarrow", reason="needs pyarrow, of the extra engines")
    folder, rows, _ = corpus
    session = RECIPES["spark"].split("tasks =")[0]
    setup = """
import csv
rows = [(int(i), a, b, ref) for i, a, b, ref in csv.reader(open("rows.csv", newline=""))]
frame = spark.createDataFrame(rows, "id long, A string, B string, ref string")
frame.repartition(5).createOrReplaceTempView("corpus")
"""
    with (folder / "rows.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    got = engines.printed(folder, "import evalstats as es", session, setup, RECIPES["spark table"])
    assert got == f"{engines.at_once(rows)}\n"
