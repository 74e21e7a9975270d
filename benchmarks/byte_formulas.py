"""Search for the arithmetic of `byte_formulas`: bytes to counts that are nearly Poisson.

A byte u becomes ``((a·u join u) shift c) // d``, all modulo 256. For every mean, of all a, c and d
and of six pairs of operations, the one that is printed leaves the fewest cells to points, among
those whose counts are decided by no few bits of u (an excess kurtosis of at most 0.6, as
`random_bytes` has it). A mean is left out where it costs hardly less than a smaller one.

    python -m benchmarks.byte_formulas
"""

from __future__ import annotations

import numpy as np
from scipy import linalg, stats

MEANS = [
    *np.arange(0.05, 0.71, 0.05),
    *np.arange(0.75, 0.985, 0.01),
    *np.arange(0.99, 0.999, 0.0025),
]
JOINS = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
SHIFTS = {"xor": np.bitwise_xor, "add": np.add}
MOST_KURTOSIS = 0.6
#: Nanoseconds that a draw and a point cost, measured on the machine of `docs/cost.md`.
DRAW, POINT = 2.6, 3.7
WORTH_A_LINE = 0.01
DIVISORS = np.arange(16, 256)
LARGEST = 6
BYTES = np.arange(256, dtype=np.uint8)
WALSH = linalg.hadamard(256)


def excess_kurtosis(counts: np.ndarray) -> float:
    """Return the most of the averages of the count, and of its being k or more."""
    found = []
    for event in (counts, *(counts >= k for k in range(1, int(counts.max()) + 1))):
        power = (WALSH @ (event - event.mean())) ** 2
        found.append(6 * np.sum(power**2) / np.sum(power) ** 2)
    return max(found)


def main() -> None:
    """Print the table."""
    wanted = stats.poisson.pmf(np.arange(LARGEST + 1), np.array(MEANS)[:, None])
    best: list[tuple[float, tuple]] = [(0.0, ())] * len(MEANS)
    # Where counts rise, for each divisor; counts beyond the largest are too many.
    edges = np.minimum(DIVISORS[:, None] * np.arange(LARGEST + 2), 256)
    for a in range(3, 256, 2):
        for join in JOINS:
            joined = JOINS[join](BYTES * np.uint8(a), BYTES)
            for shift in SHIFTS:
                values = SHIFTS[shift](joined, BYTES[:, None])  # (c, u)
                places = values + 256 * np.arange(256)[:, None]
                frequencies = np.bincount(places.ravel(), minlength=1 << 16).reshape(256, 256)
                below = np.concatenate(
                    [np.zeros((256, 1), dtype=int), np.cumsum(frequencies, axis=1)], axis=1
                )
                seats = np.diff(below[:, edges], axis=2)  # (c, d, k)
                complete = seats.sum(axis=2) == 256
                for i, shares in enumerate(wanted):
                    spared = np.full(seats.shape[:2], np.inf)
                    for k, share in enumerate(shares):
                        with np.errstate(divide="ignore"):
                            spared = np.minimum(spared, 256 * share / seats[..., k])
                    spared[~complete] = 0
                    while (largest := spared.max()) > best[i][0]:
                        c, j = np.unravel_index(np.argmax(spared), spared.shape)
                        d = int(DIVISORS[j])
                        if excess_kurtosis(values[c] // np.uint8(d)) <= MOST_KURTOSIS:
                            best[i] = float(largest), (a, join, int(c), shift, d)
                        spared[c, j] = 0
    least = np.inf
    for mean, (spared, (a, join, c, shift, d)) in zip(MEANS, best, strict=True):
        density = -np.log(spared)
        cost = DRAW * (1 - mean) + POINT * density
        if cost < least - WORTH_A_LINE:
            least = cost
            print(f'    ({mean:.4g}, {a}, "{join}", "{shift}", {c}, {d}),  # {density:.4f}')


if __name__ == "__main__":
    main()
