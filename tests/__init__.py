"""Each process of a run of the tests has one thread of BLAS: so many processes keep all cores busy."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
