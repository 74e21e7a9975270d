"""Random streams: each its own, the same for the same numbers."""

import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

from evalstats.resampling.streams import generator, random_bytes


def beginning(*arguments):
    return tuple(generator(*arguments).bit_generator.random_raw(2).tolist())


def test_every_stream_is_another():
    arguments = [
        (seed, key, number)
        for seed in (0, 1, 2**70)
        for key in ((0,), (1,), (17, 0), (17, 1))
        for number in (*range(50), 10**9)
    ]
    assert len({beginning(*given) for given in arguments}) == len(arguments)


def test_streams_are_those_of_numpy():
    """In any order, and as NumPy documents them."""
    spawned = np.random.SeedSequence(9).spawn(1)[0].spawn(4)[3]
    expected = np.random.Generator(np.random.PCG64(spawned)).integers(1 << 62, size=5)
    generator(9, (0,), 2).random(10)
    np.testing.assert_array_equal(generator(9, (0,), 3).integers(1 << 62, size=5), expected)


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 1000])
def test_bytes_are_those_of_whole_words(size):
    drawn = random_bytes(generator(1, (0,), 0), size)
    words = generator(1, (0,), 0).bit_generator.random_raw(125)
    assert drawn.tobytes() == b"".join(int(w).to_bytes(8, "little") for w in words)[:size]


def test_bytes_are_uniform():
    """Chi-square of a million bytes, false alarm 1e-4. Seed 3."""
    observed = np.bincount(random_bytes(generator(3, (0,), 0), 10**6), minlength=256)
    assert stats.chisquare(observed).pvalue > 1e-4


def test_importing_it_does_not_load_random_numbers():
    code = (
        "import sys, numpy; before = 'numpy.random' in sys.modules; import evalstats.resampling.streams;"
        "assert before or 'numpy.random' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
