"""Jobs and small parts, timed by pytest-benchmark: ``python -m pytest benchmarks``.

The jobs are those of `benchmarks.jobs`, on the bundled sample; who does the same job is in the same
group.
"""

from importlib.util import find_spec

import pytest

from benchmarks.jobs import jobs

pytest.importorskip("pytest_benchmark", reason="needs the extra test")
PARTS = ("parts", "texts to answer", "statistics to answer", "texts to statistics")
#: Names of peers that are not the names of their modules.
MODULES = {"sacreBLEU": "sacrebleu", "NLTK": "nltk", "NumPy": "numpy"}
CASES = [
    pytest.param(job, who, id=f"{job.part}, {job.what}, {who}")
    for job in jobs(quick=True)
    for who in job.runs
    if job.part in PARTS
]


@pytest.mark.benchmark(min_rounds=1, max_time=0.4, warmup=False)
@pytest.mark.parametrize("job, who", CASES)
def test_a_job(benchmark, job, who):
    if find_spec(MODULES.get(who, who)) is None:
        pytest.skip(f"{who} is not installed")
    benchmark.group = f"{job.part}: {job.what}"
    benchmark(job.runs[who]())
