"""Logs as they should not be: cut, flipped, doubled, shuffled, with values of other types."""

from __future__ import annotations

import json
import random

import numpy as np

import evalstats as es

#: What may stand in the place of any value.
VALUES = (
    None, True, False, 0, 1, -1, 2, 0.5, 1e308, -0.0, 10**400, float("nan"), float("inf"), "", "C",
    "x", "\u202e", "1", [], [1], {}, {"value": 1}, [[]], {"a": {"b": {}}},
)  # fmt: skip


def check(original, path, are_values_confirmed=True, **settings):
    """Read what became of a log: an error, or the same numbers, or a word on why they are not.

    Where nothing in a format confirms a value, another one is as good.
    """
    try:
        run = es.read_log(path, **settings)
        tables = dict(run.tables)
    except es.InputError:
        return None
    text = str(run)
    run._repr_html_()
    for key, table in tables.items():
        assert np.all(np.isfinite(table.scores))
        if (
            not are_values_confirmed
            or key not in original.tables
            or run.incomplete.get(key)
            or run.disagreements
        ):
            continue
        before = original.tables[key]
        same = np.array_equal(np.shape(before.scores), np.shape(table.scores)) and np.allclose(
            before.scores, table.scores
        )
        assert same or run.skipped != original.skipped, text
    return run


def mutated_text(rng: random.Random, data: bytes) -> bytes:
    """Flip bytes, cut, or drop, double and shuffle lines."""
    kind = rng.randrange(6)
    if kind == 0:
        changed = bytearray(data)
        for _ in range(rng.choice((1, 1, 3))):
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
        return bytes(changed)
    if kind == 1:
        return data[: rng.randrange(len(data))]
    lines = data.splitlines(keepends=True)
    i = rng.randrange(len(lines))
    if kind == 2:
        rng.shuffle(lines)
    else:
        lines[i:] = {3: lines[i + 1 :], 4: [lines[i], *lines[i:]], 5: []}[kind]
    return b"".join(lines)


def mutated_json(rng: random.Random, document):
    """Change one value of a document, or lose, double or shuffle some of a list; return it."""
    holder, key = rng.choice(list(_places(document)))
    kind = rng.randrange(5)
    if kind == 0 or not isinstance(holder, list):
        if kind == 1:
            del holder[key]
        elif kind == 2 and isinstance(holder, dict):
            holder[f"{key}x"] = holder.pop(key)
        else:
            holder[key] = rng.choice(VALUES)
    elif kind == 1:
        del holder[key]
    elif kind == 2:
        holder.insert(rng.randrange(len(holder) + 1), holder[key])
    elif kind == 3:
        rng.shuffle(holder)
    else:
        del holder[key:]
    return document


def _places(document, depth=0):
    inner = document.items() if isinstance(document, dict) else enumerate(document)
    for key, value in inner:
        yield document, key
        if isinstance(value, (dict, list)) and depth < 12:
            yield from _places(value, depth + 1)


def mutated(rng: random.Random, data: bytes) -> bytes:
    """Change a file of JSON, of JSON lines or of text, as a text or as what it holds."""
    if rng.random() < 0.4:
        return mutated_text(rng, data)
    try:
        return json.dumps(mutated_json(rng, json.loads(data))).encode()
    except ValueError:
        lines = data.splitlines()
        i = rng.randrange(len(lines))
        try:
            record = json.loads(lines[i])
        except ValueError:
            record = None
        if not isinstance(record, (dict, list)):
            return mutated_text(rng, data)
        lines[i] = json.dumps(mutated_json(rng, record)).encode()
        return b"\n".join(lines) + b"\n"


def fuzz(path, data, count, are_values_confirmed=True, **settings):
    """Check that many mutations of a file, written to `path`; at least one must be readable."""
    path.write_bytes(data)
    original, rng = es.read_log(path, **settings), random.Random(path.name)
    read = 0
    for _ in range(count):
        path.write_bytes(mutated(rng, data))
        read += check(original, path, are_values_confirmed, **settings) is not None
    assert 0 < read < count
