"""Hold every test, interval, gate and Monitor to what the library promises.

    python -m benchmarks.calibration --output cells.jsonl [--subset] [--cells REGEX]
    python -m benchmarks.calibration --tables --output cells.jsonl
    python -m benchmarks.calibration --check

A *cell* is a population whose scores are known, a number of segments or documents that each trial
draws from it with replacement, and a question put to the library. Files, in the order data passes:

- `texts`: the test sets: WMT22 en-de and en-zh, WMT24 en-es, the bundled sample.
- `manipulations`: outputs cut, lengthened, emptied, corrupted, to a degree between 0 and 1.
- `equality`: two systems made equal: exchangeable, or by swaps of a few segments.
- `populations`: statistics of two systems on all segments, their true scores, and draws of them.
- `cells`: which cells there are, and which of them are the subset for `.ci/run`.
- `answers`: what the trials of one cell found, as counts that become rates.
- `pairs`, `gates`, `runs`, `peers`: trials of tests and intervals, of `assert_not_worse`, of whole
  Monitor runs, and of other tools' formulas.
- `runner`: cells over processes, results kept line by line, finished cells skipped.
- `promises`: what must hold, and which cells are outside it.
- `tables`, `summaries`: results as Markdown, a row a cell, and the few numbers for the docs.
- `marked`: fills the marked parts of README.md and docs/, or says which differ.
"""
