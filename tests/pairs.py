"""Pairs of integer sequences for the tests of edit distances."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from evalstats.text.ragged import Ragged, offsets_of

Pair = tuple[list[int], list[int]]


def pack(sequences: Sequence[Sequence[int]]) -> Ragged:
    """Put sequences into one container."""
    lengths = np.array([len(x) for x in sequences], dtype=np.int64)
    return Ragged(np.array([v for x in sequences for v in x], dtype=np.int64), offsets_of(lengths))


def packed(pairs: Sequence[Pair]) -> tuple[Ragged, Ragged]:
    """Put the first sequences of pairs into a container, and the second ones into another."""
    first, second = zip(*pairs, strict=True) if pairs else ((), ())
    return pack(first), pack(second)


def shuffle_blocks(rng: random.Random, sequence: list[int], times: int) -> list[int]:
    """Exchange two neighbouring blocks of a sequence, several times."""
    for _ in range(times):
        a, b, c = sorted(rng.randint(0, len(sequence)) for _ in range(3))
        sequence = sequence[:a] + sequence[b:c] + sequence[a:b] + sequence[c:]
    return sequence


def random_pairs(seed: int, count: int, longest: int) -> list[Pair]:
    """Draw unrelated sequences, and references whose blocks were moved before they were edited."""
    rng = random.Random(seed)
    pairs = []
    for _ in range(count):
        size = rng.choice([1, 2, 3, 5, 8, 15, 30, 100])
        hyp = [rng.randrange(size) for _ in range(rng.randint(0, longest))]
        ref = [rng.randrange(size) for _ in range(rng.randint(0, longest))]
        if rng.random() < 0.6:
            ref = shuffle_blocks(rng, hyp, rng.randint(0, 4))
            for _ in range(rng.randint(0, max(8, longest // 5))):
                place = rng.randint(0, len(ref))
                ref[place : place + rng.randint(0, 1)] = [rng.randrange(size)] * rng.randint(0, 1)
        pairs.append((hyp, ref))
    return pairs


def plain_distance(left: Sequence[Any], right: Sequence[Any]) -> int:
    """Levenshtein's recursion, row by row."""
    row = list(range(len(right) + 1))
    for i, token in enumerate(left, 1):
        corner, row[0] = row[0], i
        for j, other in enumerate(right, 1):
            best = min(corner + (token != other), row[j] + 1, row[j - 1] + 1)
            corner, row[j] = row[j], best
    return row[-1]
