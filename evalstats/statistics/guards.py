"""Checks of the input: rules for texts or lists that are probably not what they seem.

A rule raises an `InputError` if no other reading is likely, or returns a caution, which results
print. Its sentence includes advice, and it must stay silent on good data.
"""

from __future__ import annotations

import json
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice, takewhile
from typing import Any, NamedTuple
from unicodedata import is_normalized
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import plain, shown
from evalstats.errors import InputError
from evalstats.metrics import BLEU, Metric
from evalstats.results.records import Caution, plural
from evalstats.statistics.alignment import Gold, batches_said, places_near, shift_cautions, shifted
from evalstats.statistics.files import Lines
from evalstats.text.tokenization import language_of

#: Outputs of a system, a list or the lines of a file.
Texts = Sequence[str] | Lines
#: Cautions about texts, by system; "" is for all systems.
Cautions = Mapping[str, Sequence[Caution]]
#: The kind of a plain note on fewer empty outputs.
FEW_EMPTY = "few empty"
#: The least number, and the least share, of empty outputs for a caution.
_FEWEST_EMPTY, _SHARE_EMPTY = 3, 0.05
#: The least number of equal texts for a caution.
_FEWEST_ALIKE = 10
#: The least number, and the least share, of outputs with the same text, such as an error message.
_FEWEST_REPEATED, _SHARE_REPEATED = 5, 0.05
#: Percentages are so many times as large as shares, or more; how far an estimated variance may be
#: above the largest one.
_SHARES_OF, _ROUGHLY = 30, 1.1
#: What programs write where there is no text; a length that none of it has.
_NONE, _LONGEST_NONE = {"nan", "none", "null", "n/a", "<na>", "undefined", "[]", "{}"}, 16
#: How many marks a text may have.
_BITS = 5
#: Marks are worth a word on so many texts: sacreBLEU's number, or a share of fewer texts.
_FEWEST_MARKED, _SHARE_MARKED, _MANY_MARKED = 5, 0.05, 100
#: Number of texts to examine for a tokenizer.
_SAMPLE = 100
#: Texts with more bytes per character may not be in the Latin script.
_MOST_BYTES = 1.1
#: Thresholds for lists of words: their average length, and shared words.
_FEWEST_WORDS, _FEWEST_SHARED = 3.0, 1.5
#: What begins or ends most outputs, a share in the middle of their sorted list, and is rare among
#: references. Sentences may end with any of the characters after it.
_FRAMED, _RARELY, _ENDS = 0.8, 0.2, ".!?。！？। "
#: The number at the beginning of a text.
_NUMBER = re.compile(r"\W*(\d{1,9})(?!\w)")
#: Marks of subwords: of subword-nmt, and of SentencePiece.
_PIECE_MARKS = ("@@ ", "▁")


class Marks(NamedTuple):
    """Numbers of N texts with some marks."""

    n: int
    empty: int
    spaced: int  # end in " .", as tokenised text does
    pieces: int  # have marks of subwords
    decomposed: int  # an accent is a character of its own (NFD)
    many: float  # so many texts are too many to be chance
    usual: str = ""  # the most frequent text
    none: int = 0  # stand for no text, as "nan" does


def bits_of(text: str) -> int:
    """Return what is seen in a text: empty 1, spaced 2, pieces 4, decomposed 8, none 16."""
    bits = 16 if len(text) < _LONGEST_NONE and text.strip().lower() in _NONE else 0
    # Invisible characters, such as a zero-width space, are not printable.
    if not text[:1].isalnum() and not any(map(str.isprintable, "".join(text.split()))):
        bits |= 1
    elif text.endswith(" ."):
        bits |= 2
    if _PIECE_MARKS[0] in text or _PIECE_MARKS[1] in text:
        bits |= 4
    if not text.isascii() and not is_normalized("NFC", text):
        bits |= 8
    return bits


def marks_of(texts: Texts) -> Marks:
    """Count the marks of texts."""
    counts: Counter[int] = Counter()
    hashes = array("q")
    for text in texts:
        hashes.append(hash(text))
        counts[bits_of(text)] += 1
    if not hashes:
        return _counted(counts)
    _, first, times = np.unique(hashes, return_index=True, return_counts=True)
    place = int(np.min(first[times == np.max(times)]))
    return _counted(counts, next(islice(texts, place, None)))


def _counted(counts: Mapping[int, int], usual: str = "") -> Marks:
    """Return the marks of texts from the number of texts with each of `bits_of`."""
    seen = [sum(n for bits, n in counts.items() if bits & 1 << i) for i in range(_BITS)]
    n = sum(counts.values())
    many = min(_MANY_MARKED, max(_FEWEST_MARKED, _SHARE_MARKED * n))
    return Marks(n, seen[0], seen[1], seen[2], seen[3], many, usual, seen[4])


def _count(usual: str, texts: Iterable[str | None]) -> int:
    """Return the number of texts equal to this one, 0 if it is empty."""
    return sum(text == usual for text in texts) if usual.strip() else 0


def _said_of_alike(
    marks: Mapping[str, Marks], outputs: Mapping[str, Texts], streams: Sequence[Texts]
) -> dict[str, list[Caution]]:
    """Return cautions if outputs, or references (""), are mostly the same text."""
    usual, n = marks[""].usual, marks[""].n
    cautions: dict[str, list[Caution]] = {}
    n_usual = _count(usual, streams[0])
    if n >= _FEWEST_ALIKE and n_usual == n:
        cautions[""] = [Caution(f"All {n:,} references are the same text.", "texts")]
    for name, texts in outputs.items() if n >= _FEWEST_ALIKE else ():
        usual = marks[name].usual
        n_alike = _count(usual, texts)
        # Answers and classes repeat in references too, and may be of one word.
        least = max(_FEWEST_REPEATED, _SHARE_REPEATED * n, 2 * n_usual)
        is_text = len(usual.split()) > 1 and n_alike >= least
        is_most = 2 * n_alike > n
        if (is_most or is_text) and not any(_count(usual, stream) for stream in streams):
            said = _alike(name, n_alike, n, f" ({shown(usual, 40)})")
            cautions[name] = [said if is_most else Caution(said, "texts")]
    return cautions


def _alike(name: str, n_alike: int, n: int, text: str = "") -> Caution:
    """Return the caution that outputs are the same text."""
    said = (
        f"{n_alike:,} of {n:,} outputs of {name} are the same text{text}, which is not among the "
        "references."
    )
    return Caution(said, "alike")


def text_cautions(
    metrics: Sequence[Metric], outputs: Mapping[str, Texts], streams: Sequence[Texts]
) -> list[Cautions]:
    """Return cautions about texts for each metric.

    `streams` are the references: the first of each segment, then further ones, `None` if absent.
    """
    references = streams[0]
    check_records(outputs, references)
    expected = marks_of(references)
    language, sample = language_of(references), list(islice(references, _SAMPLE))
    in_all = [Caution(sentence, "texts") for sentence in _said_of_references(streams)]
    marks = {"": expected, **{name: marks_of(texts) for name, texts in outputs.items()}}
    n_blank = expected.empty - max(marks[name].empty for name in outputs)
    if len(streams) == 1 and n_blank >= _few_empty(expected.n):
        what = f"{expected.empty:,} of {expected.n:,} references are empty, but the outputs are not"
        so = "No output can match an empty reference, so leave these segments out."
        in_all.append(Caution(f"{what}. {so}", "texts"))
    alike = _said_of_alike(marks, outputs, streams)
    framed = {name: list(_said_of_frames(name, texts, sample)) for name, texts in outputs.items()}
    shifts = shift_cautions(outputs, streams)
    cautions: list[Cautions] = []
    for metric in metrics:
        said = {"": [*in_all, *alike.get("", ()), *_said_of_scripts(metric, language, sample)]}
        for name in outputs:
            said[name] = list(_said_of_outputs(name, marks[name], expected, metric))
            said[name] += (*alike.get(name, ()), *framed[name], *shifts.get(name, ()))
            in_case = list(_said_of_case(name, outputs[name], sample))
            if in_case and not _ignores_case(metric, sample):
                said[name] += in_case
        cautions.append({name: several for name, several in said.items() if several})
    return cautions


def _said_of_frames(name: str, texts: Texts, references: Sequence[str]) -> Iterator[Caution]:
    """Yield cautions about the first outputs of a system, beside the first `references`.

    Outputs may all begin or end with the same characters, or with the number of their line, or may
    be UTF-8 that was read in another encoding.
    """
    outputs = list(islice(texts, _SAMPLE))
    n = len(outputs)
    # Texts that repeat show nothing.
    if n < _FEWEST_ALIKE or 2 * min(len({*outputs}), len({*references})) < n:
        return
    most = f"Most outputs of {name}"
    for step, verb in ((1, "begin"), (-1, "end")):
        frame, usual = (_shared_beginning(side, step) for side in (outputs, references))
        n_others = sum(text.strip()[::step].startswith(frame) for text in references)
        frame = frame[::step].strip()
        if frame.strip(_ENDS) and not usual.strip(_ENDS) and n_others <= _RARELY * n:
            yield Caution(
                f"{most} {verb} with {shown(frame, 40)}, but the references do not. Remove it.",
                "texts",
            )
    n_numbered, n_others = (sum(map(_is_numbered, x, range(n))) for x in (outputs, references))
    if n_numbered >= _FRAMED * n and n_others <= _RARELY * n:
        yield Caution(f"{most} begin with the number of their line. Remove it.", "texts")
    n_garbled, n_others = (sum(map(_is_garbled, x)) for x in (outputs, references))
    if n_garbled >= _FEWEST_MARKED > n_others:
        so = "contain UTF-8 that was read in another encoding, such as 'Ã¶' for 'ö'. Use UTF-8."
        yield Caution(f"{n_garbled} of the first {n} outputs of {name} {so}", "texts")


def _said_of_case(name: str, texts: Texts, references: Sequence[str]) -> Iterator[Caution]:
    """Yield that the first outputs of a system, or the first references, have no capitals."""
    outputs = list(islice(texts, _SAMPLE))
    sides = [("references", references), (f"outputs of {name}", outputs)]
    for (few, lower), (many, cased) in (sides, sides[::-1]):
        n_lower = sum(text == text.lower() != text.upper() for text in lower)
        n_cased = sum(text != text.lower() for text in cased)
        if min(n_lower, n_cased) >= _FRAMED * len(lower):
            said = f"Most {few} have no capital letters, but most {many} do"
            yield Caution(f"{said}. Use the same case for both.", "texts")


def _ignores_case(metric: Metric, texts: Sequence[str]) -> bool:
    """Return whether a metric of texts ignores case, by its statistics of these texts."""
    swapped = [text.swapcase() for text in texts]
    return np.array_equal(metric.statistics(texts, texts), metric.statistics(swapped, texts))


def _shared_beginning(texts: Sequence[str], step: int) -> str:
    """Return the characters with which most texts begin, read backwards if `step` is -1."""
    ordered = sorted(text.strip()[::step] for text in texts)
    n_left = round((1 - _FRAMED) / 2 * len(ordered))
    both = zip(ordered[n_left], ordered[-1 - n_left], strict=False)
    return "".join(a for a, _ in takewhile(lambda pair: pair[0] == pair[1], both))


def _is_numbered(text: str, i: int) -> bool:
    """Return whether a text begins with the number of its line, from 0 or 1 on."""
    number = _NUMBER.match(text)
    return number is not None and int(number[1]) in (i, i + 1)


def _is_garbled(text: str) -> bool:
    """Return whether the characters of a text were the bytes of UTF-8."""
    for encoding in () if text.isascii() else ("latin-1", "cp1252"):
        with suppress(UnicodeError):
            return text.encode(encoding).decode("utf-8") != text
    return False


def _said_of_scripts(metric: Metric, language: str, texts: Sequence[str]) -> Iterator[Caution]:
    """Yield why a metric does not suit the language of the references, or does not read them."""
    text = "".join(texts)
    # Nearly all characters are ASCII, of one byte each.
    if len(text.encode("utf-8", "replace")) <= _MOST_BYTES * len(text):
        return
    unread = metric.unread(texts)
    if why := metric.unsuited(language) or unread:
        yield Caution(f"{metric.name}: {why}.", "unread" if unread else "texts")


#: What is kept of N pairs of texts: checksums of the references and of the output, and bits, which
#: are what is seen in the output, then in the reference (times 32), and the two below.
KEPT = np.dtype([("references", np.uint32), ("output", np.uint32), ("bits", np.uint16)])
#: Most letters of the reference are not ASCII; the output is one of its references; and how far the
#: reference is to which the output belongs.
_FOREIGN, _EQUAL = 1 << 2 * _BITS, 2 << 2 * _BITS
_OFFSETS = {0: 4 << 2 * _BITS, -1: 8 << 2 * _BITS, 1: 16 << 2 * _BITS}
#: In a batch, so many outputs are compared with references near by, or one in so many.
_LEAST_NEAR, _ONE_IN = 2, 10
#: Texts that are kept to tell how a tokenizer reads them.
_FEW = 20


def kept_of(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> NDArray[Any]:
    """Return the records of texts, `(N,)`, from which `kept_cautions` makes cautions later."""
    rows, n = [], len(outputs)
    near = places_near(outputs, Gold(n, references.__getitem__), max(_LEAST_NEAR, n // _ONE_IN))
    for i, (output, texts) in enumerate(zip(outputs, references, strict=True)):
        j = near.get(i)
        bits = 0 if j is None else _OFFSETS.get(j - i, 0)
        bits += bits_of(output) + (bits_of(texts[0]) << _BITS)
        bits += _FOREIGN * is_foreign(texts[0]) + _EQUAL * (output in texts)
        rows.append((checksum(texts), checksum([output]), bits))
    return np.array(rows, dtype=KEPT)


def checksum(texts: Sequence[str]) -> int:
    """Return the checksum of the references of a segment."""
    return crc32("\0".join(texts).encode("utf-8", "surrogatepass"))


def is_foreign(text: str) -> bool:
    """Return whether most characters of a text are not Latin."""
    return not text.isascii() and 2 * len(text.encode("utf-8", "replace")) > 3 * len(text)


def few_of(texts: Iterable[str]) -> tuple[str, ...]:
    """Return a few of the foreign texts: the same ones for every split into batches."""
    return tuple(sorted({*filter(is_foreign, texts)}, key=lambda x: (checksum([x]), x))[:_FEW])


def kept_cautions(
    metric: Metric, name: str, kept: NDArray[Any], foreign: Sequence[str]
) -> Cautions:
    """Return cautions about the texts of a system, from their records."""
    bits, n = kept["bits"], len(kept)
    seen, expected = (_counted(Counter((bits >> i & 31).tolist())) for i in (0, _BITS))
    said: dict[str, list[Caution]] = {
        "": [],
        name: list(_said_of_outputs(name, seen, expected, metric)),
    }
    if foreign and 2 * np.count_nonzero(bits & _FOREIGN) > n:
        said[""] += _said_of_scripts(metric, language_of(foreign), foreign)
    of = {bit: offset for offset, bit in _OFFSETS.items()}
    offsets = enumerate((bits & sum(of)).tolist())
    said[name] += shifted(name, batches_said({i: i + of[bit] for i, bit in offsets if bit}))
    sums, texts = kept["references"], kept["output"]
    outputs, counts = np.unique(texts, return_counts=True)
    usual, n_alike = outputs[np.argmax(counts)], int(np.max(counts))
    is_known = np.any(sums == usual) or np.any(bits[texts == usual] & _EQUAL)
    is_blank = np.any(bits[texts == usual] & 1)
    if 2 * n_alike > n >= _FEWEST_ALIKE and not is_known and not is_blank:
        said[name].append(_alike(name, n_alike, n))
    return {system: several for system, several in said.items() if several}


#: Names of ids of records, to recognise a table given as texts.
_IDS = frozenset(("id", "idx", "index", "key", "segment", "segment_id", "sample_id", "item_id"))
#: Names of fields with the text of a system, or its reference.
_TEXT_KEYS = re.compile(
    r"prediction|output|hypothes|translation|response|completion|answer|generat|text|ref|target",
    re.I,
)


def check_records(outputs: Mapping[str, Texts], references: Texts) -> None:
    """Refuse JSON lines and tables given as texts, whose names and syntax would be scored.

    Outputs that are JSON themselves are allowed: then references are objects with mostly the same
    keys, and file names do not end in .jsonl.
    """
    given = {"the references": references, **outputs}
    keys_of = {name: _keys_of(texts) for name, texts in given.items()}
    first = next(iter(outputs), "the references")
    for name, texts in given.items():
        path = texts.path if isinstance(texts, Lines) else ""
        where, keys = path or name, keys_of[name]
        others = keys_of[first if name == "the references" else "the references"]
        is_named = path.removesuffix(".gz").endswith((".jsonl", ".ndjson", ".json"))
        n_shared = len(keys.keys() & others.keys())
        if keys and (is_named or 2 * n_shared < len({**keys, **others})):
            text = next(filter(_TEXT_KEYS.search, keys), list(keys)[-1])
            raise InputError(
                f"{where} must contain texts, but it contains JSON lines with "
                f"{', '.join(map(repr, list(keys)[:4]))}. Write the values of {text!r} to a "
                "file, one segment per line. If it contains scores, pass it as a log, without "
                "-i."
            )
        if columns := _header_of(texts):
            raise InputError(
                f"{where} must contain texts, but it is a table with the columns "
                f"{', '.join(columns[:4])}. Write only the column of texts to a file, without a "
                "header, one segment per line."
            )


def _keys_of(texts: Texts) -> dict[str, None]:
    """Return all keys of texts that are JSON objects or quoted texts; none if any is not."""
    known: dict[str, None] = {}
    for text in islice(filter(str.strip, texts), _SAMPLE):
        if not text.lstrip().startswith(("{", '"')):
            return {}
        try:
            record = json.loads(text)
            known |= dict.fromkeys(record if isinstance(record, dict) else ["text in quotes"])
        except (ValueError, RecursionError):
            return {}
    return known


def _header_of(texts: Texts) -> list[str]:
    """Return the names of columns if the first text is the header of a table with ids."""
    first, *others = islice(texts, _SAMPLE)
    for mark in "\t,;":
        names = [name.strip('" ') for name in first.split(mark)]
        if len(names) > 1 and names[0].lower() in _IDS and all(mark in text for text in others):
            return names
    return []


def _said_of_references(streams: Sequence[Iterable[str | None]]) -> Iterator[str]:
    """Yield cautions about references: tabs, and empty ones beside others."""
    if all("\t" in text for text in streams[0] if text is not None):
        tabs = min(text.count("\t") for text in streams[0] if text is not None)
        yield (
            f"Every reference has a tab. If tabs separate {tabs + 1} references, pass --num-refs "
            f"{tabs + 1} (in Python, a list of {tabs + 1} strings)."
        )
    n = n_blank = 0
    for texts in zip(*streams, strict=True) if len(streams) > 1 else ():
        n += 1
        blanks = [not text or text.isspace() for text in texts if text is not None]
        n_blank += any(blanks) and not all(blanks)
    if n_blank:
        yield (
            f"{n_blank:,} of {n:,} segments have an empty reference among others. It counts as a "
            "reference of length 0. If it is missing, pass None instead (--blank-is-absent on the "
            "command line)."
        )


def _few_empty(n: int) -> float:
    """Return how many empty ones of n texts are worth a word."""
    return max(_FEWEST_EMPTY, _SHARE_EMPTY * n)


def _said_of_outputs(name: str, seen: Marks, expected: Marks, metric: Metric) -> Iterator[Caution]:
    """Yield cautions about the outputs of a system, compared with the references."""
    outputs = f"of {seen.n:,} outputs of {name}"
    # As a reference such a text is a word.
    none = 0 if expected.none else seen.none
    if seen.empty - expected.empty + none >= _few_empty(seen.n):
        are = "are empty or a placeholder such as 'nan'" if none else "are empty"
        yield Caution(f"{seen.empty + none:,} {outputs} {are}.", "empty")
    elif seen.empty > expected.empty:
        are = "is empty" if seen.empty == 1 else "are empty"
        yield Caution(f"{seen.empty:,} {outputs} {are}.", FEW_EMPTY)
    if seen.spaced >= seen.many:
        end = f"{seen.spaced:,} {outputs} end in ' .', as tokenised text does"
        if expected.spaced < expected.many:
            yield Caution(f"{end}, but the references do not. Detokenise them.", "texts")
        elif isinstance(metric, BLEU) and metric.tokenizer != "none":
            yield Caution(
                f"{end}, but {metric.name} expects text that is not tokenised. Detokenise it.",
                "texts",
            )
    elif expected.spaced >= expected.many:
        yield Caution(
            f"{expected.spaced:,} of {seen.n:,} references end in ' .', as tokenised text does, "
            f"but the outputs of {name} do not. Detokenise the references.",
            "texts",
        )
    if seen.pieces >= seen.many and expected.pieces < expected.many:
        yield Caution(
            f"{seen.pieces:,} {outputs} contain subwords ('@@ ' or '▁'), but the references do "
            "not. Join the subwords first.",
            "texts",
        )
    if seen.decomposed >= seen.many and expected.decomposed < expected.many:
        yield Caution(
            f"{seen.decomposed:,} {outputs} have accents as separate characters (NFD), but the "
            "references do not. Convert both to NFC (unicodedata.normalize).",
            "texts",
        )


#: Names of labels of documents and other wholes, whose parts resemble each other.
_WHOLES = re.compile(
    r"(document|doc|passage|dialog|dialogue|conversation|conv|chat|thread|session|article|story|"
    r"paragraph|page|call|meeting|interview|cluster)(name|id|s)?"
)
#: Names of labels of wholes, or of a few kinds of items.
_MAYBE_WHOLES = re.compile(
    r"(?:source)?(repo|repository|user|author|speaker|patient|customer|ticket|book|chapter|video|"
    r"file|url)(name|id|s)?"
)
#: Below this number such labels may be kinds, and above this share of the items most are alone.
_FEWEST_WHOLES, _MOST_WHOLES = 20, 0.9


def may_be_of_wholes(name: str) -> bool:
    """Return whether a label may be of wholes, or of something else: `user`, `file`, `repo`."""
    return _MAYBE_WHOLES.fullmatch(plain(name)) is not None


def ungrouped(labels: Mapping[str, Sequence[str]], unit: str) -> list[Caution]:
    """Return a caution if items are parts of documents by their labels, but no groups are given.

    Not if each item has its own label, or if all have the same. A label such as `file` may also be
    a kind of items, so it needs 20 values, with several items each.
    """
    for name, cells in labels.items():
        n, n_wholes, called = len(cells), len(set(cells)), plain(name.rpartition(".")[2])
        whole, least, most = _WHOLES.fullmatch(called), 2.0, n - 1.0
        if whole is None:
            whole, least, most = _MAYBE_WHOLES.fullmatch(called), _FEWEST_WHOLES, _MOST_WHOLES * n
        if whole and least <= n_wholes <= most:
            return [
                Caution(
                    f"{n:,} {plural(unit)} come from {n_wholes:,} {plural(whole[1])} but count as "
                    f'independent, so standard errors are too small. Pass groups="{name}".',
                    "units",
                )
            ]
    return []


def share_and_percentage(
    metric: str, scores: Mapping[str, float], variances: Iterable[float]
) -> Iterator[Caution]:
    """Yield that the mean score of a system looks like a percentage, and another's like a share.

    Of numbers from 0 to 1 with the mean m the variance is at most m(1 - m) (Bhatia and Davis,
    2000), so that normal scores near 0 are not shares.
    """
    sizes = [abs(score) for score in scores.values()]
    least, most = sizes.index(min(sizes)), sizes.index(max(sizes))
    if not 0 < _SHARES_OF * sizes[least] <= sizes[most] or sizes[most] <= 1:
        return
    known = list(variances)
    for i, end in ((least, 1), (most, 100)):
        if known[i] > _ROUGHLY * sizes[i] * (end - sizes[i]):
            return
    named = [f"{score:.4g} {_of_number(system, score)}" for system, score in scores.items()]
    said = f"{metric} is {named[most]} and {named[least]}, which look like a percentage and a share"
    yield Caution(f"{said}. Pass both in the same unit.", "scale")


def _of_number(system: str, score: float) -> str:
    """Return whose score it is; the number that a score has to reach is its own name."""
    return "as the number to reach" if system == f"{score:.10g}" else f"for {system}"


#: Numbers that often stand for no score.
_STAND_INS = {sign * n for sign in (1, -1) for n in (99, 999, 9999, 99999)} | {-1, -9}
#: Beside 0 and 1, a number below, or above, these is not a score; -1 may be one if it is more than
#: this share of the scores of all systems.
_LEAST, _MOST, _SHARE_STANDING = -1, 9, 0.1


def standing_in(metric: str, scores: Mapping[str, NDArray[np.float64]]) -> Iterator[Caution]:
    """Yield that numbers of a system, `(n,)`, may stand for no score: -1 among 0 and 1, or 999."""
    for name, values in scores.items():
        for odd in sorted({float(np.min(values)), float(np.max(values))}) if len(values) else ():
            if odd not in _STAND_INS and _LEAST <= odd <= _MOST:
                continue
            others = np.unique(values[values != odd])
            n, steps = int(np.sum(values == odd)), np.diff(others)
            are_flags = np.array_equal(others, (0, 1))
            if are_flags:
                is_rare = n <= _SHARE_STANDING * len(values)
                is_odd = (
                    odd != -1 or is_rare or any(np.min(x, initial=0) >= 0 for x in scores.values())
                )
            elif is_odd := len(others) > 2 and n > 1 and odd in _STAND_INS:
                gap = max(others[0] - odd, odd - others[-1])
                is_odd = bool(gap > np.sum(steps) or (odd == -1 and gap > np.max(steps)))
            if is_odd:
                are = "is" if n == 1 else "are"
                known = "0 or 1" if are_flags else f"from {others[0]:g} to {others[-1]:g}"
                failure = '. If it is a failure, also pass missing="failure"' if are_flags else ""
                yield Caution(
                    f"{metric}: {n:,} of {len(values):,} scores of {name} {are} {odd:g}, but the "
                    f"others are {known}. If {odd:g} stands for no score, leave it out{failure}.",
                    "scale",
                )


def check_reference_lists(outputs: Mapping[str, Any], references: object) -> None:
    """Refuse references that are lists of words, because each word would be a reference.

    Lists of answers, `["42", "forty-two"]`, are references: few of them are words of the output.
    """
    if not isinstance(references, (list, tuple)) or not references:
        return
    if not all(isinstance(entry, (list, tuple)) for entry in references):
        return
    entries = references[:_SAMPLE]
    words = [word for entry in entries for word in entry]
    if len(words) < _FEWEST_WORDS * len(entries):
        return
    if not all(isinstance(word, str) and not any(map(str.isspace, word)) for word in words):
        return
    texts = next(iter(outputs.values()))[: len(entries)]
    pairs = [
        (set(text.split()), set(entry))
        for text, entry in zip(texts, entries, strict=False)
        if isinstance(text, str)
    ]
    if pairs and sum(len(a & b) for a, b in pairs) >= _FEWEST_SHARED * len(pairs):
        raise InputError(
            "references[0] is a list of words, so each word would count as a reference. Pass "
            "one string per segment, as in ' '.join(words); if this is intended, pass "
            "evalstats.References(references)."
        )
