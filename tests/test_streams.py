"""Random streams: each its own, the same for the same numbers."""

import subprocess
import sys

import numpy as np
import pytest

from evalstats.resampling.streams import generator


def beginning(*arguments):
    return tuple(generator(*arguments).bit_generator.random_raw(2).tolist())


def test_every_stream_is_another():
    """Seeds, keys of one or two numbers, and streams within a group of 64 and beyond."""
    arguments = [
        (seed, key, number)
        for seed in (0, 1, 2**70)
        for key in ((0,), (1,), (17, 0), (17, 1))
        for number in (*range(200), 10**9)
    ]
    found = {beginning(*given) for given in arguments}
    assert len(found) == len(arguments)


def test_the_same_in_any_order():
    first = [beginning(5, (0,), number) for number in range(130)]
    assert [beginning(5, (0,), number) for number in reversed(range(130))] == first[::-1]
    one, other = generator(5, (0,), 3), generator(5, (0,), 3)
    assert one is not other
    one.random(10)
    assert other.random() == generator(5, (0,), 3).random()


def test_words_are_those_of_a_seed_sequence():
    """Streams 64 to 127 are the second group: PCG64 from four words each."""
    words = np.random.SeedSequence(9, spawn_key=(3, 1)).generate_state(256, np.uint64)

    class Fourth(np.random.bit_generator.ISeedSequence):
        def generate_state(self, n_words, dtype=np.uint32):
            assert (n_words, dtype) == (4, np.uint64)
            return words[12:16]

    expected = np.random.Generator(np.random.PCG64(Fourth())).integers(1 << 62, size=5)
    np.testing.assert_array_equal(generator(9, (3,), 67).integers(1 << 62, size=5), expected)


def test_importing_it_does_not_load_random_numbers():
    code = (
        "import sys, numpy; before = 'numpy.random' in sys.modules; import evalstats.resampling.streams;"
        "assert before or 'numpy.random' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_words_are_for_pcg64_alone():
    """Another generator would read other words than there are."""
    seed = generator(1, (0,), 0).bit_generator.seed_seq
    assert len(seed.generate_state(4, np.uint64)) == 4
    with pytest.raises(ValueError, match="these are 4 words of 64 bits, not 8 of"):
        seed.generate_state(8, np.uint32)
