"""How often tests, intervals, gates, ranks and Monitor are wrong, on data with a known truth.

    python -m benchmarks.calibration --output cells.jsonl [--subset] [--cells REGEX] [--scale 0.5]
    python -m benchmarks.calibration --tables --output cells.jsonl
    python -m benchmarks.calibration --check

A *job* draws samples from a source whose truth is known and puts one question to the library about
each; what happened is counted in *cells*, one a metric. Files, in the order data passes:

- `samples`: what a trial sees, and how the library is asked.
- `populations`: real systems, made exchangeable or of equal scores, as sources.
- `simulated`: sources that no text is behind: normal, skewed, 0/1; totals, several runs.
- `questions`: tests and intervals, families, gates, ranks, power; other tools' formulas.
- `growing`: whole walks of `SequentialTest`, and whole runs of `Monitor`.
- `designs`: unpaired systems, systems run on a part, metrics in the place of systems.
- `jobs`: which jobs there are.
- `runner`: jobs over processes, results kept line by line.
- `promises`: what must hold, and which cells are outside.
- `tables`: results as Markdown, in marked parts of README.md and docs/.
"""
