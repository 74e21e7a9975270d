"""Validators of arguments that more than one module uses.

Each takes a value and the name of its argument, and returns the value in a standard form, or raises
an error with the argument, the expectation and the value.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from decimal import Decimal
from difflib import get_close_matches
from functools import cache, wraps
from itertools import chain
from numbers import Real
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, cast
from unicodedata import category
from unicodedata import name as character_name

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.errors import InputError, InputTypeError

if TYPE_CHECKING:
    from pandas import Index

F = TypeVar("F", bound=Callable[..., Any])

#: The most characters of a name.
MOST_NAME = 1000
#: Control characters, bidirectional and zero-width ones, lone surrogates, line separators.
_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
#: Joiners needed for Persian, scripts of India and emoji.
_JOINERS = "\u200c\u200d"
#: Invisible letters and marks.
_BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"


def label(value: object, name: str, most: int = MOST_NAME) -> str:
    """Return `value` if it can be printed unchanged in tables and on terminals.

    The rule for all names, also from files: systems, metrics, their columns and signatures,
    references, segments. Any script is allowed, with the joiners U+200C and U+200D that Persian and
    emoji need, but not control characters, bidirectional or other zero-width characters, or line
    breaks.
    """
    if not isinstance(value, str) or not value.strip():
        raise InputTypeError(f"must be non-empty text, got {shown(value)}", argument=name)
    if len(value) > most:
        raise InputError(
            f"must have at most {most:,} characters, got {len(value):,}", argument=name
        )
    if not (value.isascii() and value.isprintable()):
        for i, c in enumerate(value):
            if is_unseen(c):
                code_point = f"U+{ord(c):04X} {character_name(c, '')}".strip()
                raise InputError(
                    f"must be printable text on one line, got {shown(value)}, in which character "
                    f"{i} ({code_point}) is invisible",
                    argument=name,
                )
    return value


def check_names(values: Sequence[str], name: str) -> None:
    """Check many strings like `label`, but allow empty ones."""
    for value in filter(None, dict.fromkeys(values)):
        label(value, name)


def is_unseen(character: str) -> bool:
    """Return whether a character is invisible, or moves visible ones."""
    return character not in _JOINERS and (category(character) in _UNSEEN or character in _BLANK)


def shown(value: object, most: int = 200) -> str:
    """Return a short form of any value for a message."""
    try:
        text = repr(value.item() if isinstance(value, np.generic) else value)
    except (RecursionError, ValueError):  # nested too deeply, or an integer of too many digits
        return f"a {type(value).__name__}"
    return text if len(text) <= most else f"{text[:most]}..."


def is_missing(value: object) -> bool:
    """Return whether a value is missing: None, NaN, NaT, pandas' NA."""
    if isinstance(value, tuple):
        return any(map(is_missing, value))
    if value is None or value is getattr(sys.modules.get("pandas"), "NA", None):
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # an array, say
        return False
    except ArithmeticError:  # a NaN of Decimal that signals
        return True


def entry(name: str, *places: object) -> str:
    """Return the name of an entry.

    >>> entry("references", 2), entry("hypotheses of system 'A'", 2)
    ('references[2]', "system 'A': hypotheses[2]")
    """
    what, _, system = name.partition(" of system ")
    what += f"[{', '.join(map(str, places))}]"
    return f"system {system}: {what}" if system else what


def refuse_masked(value: object, name: str) -> None:
    """Refuse NumPy arrays with masked entries, since most of NumPy ignores masks."""
    ma = sys.modules.get("numpy.ma")
    if ma is None:  # No masked arrays exist yet.
        return
    if isinstance(value, ma.MaskedArray):
        masked = np.argwhere(ma.getmaskarray(value))
        if len(masked):
            raise InputError(
                f"{entry(name, *masked[0].tolist())} is masked; remove or fill masked entries"
            )
    elif isinstance(value, (list, tuple)):
        kinds = {kind for kind in set(map(type, value)) if issubclass(kind, _NESTED)}
        if not any(issubclass(kind, np.ndarray) for kind in kinds):
            # Checking the types of rows first takes a tenth of the time.
            inside = chain.from_iterable(row for row in value if type(row) in kinds)
            kinds = kinds if any(issubclass(x, _NESTED) for x in set(map(type, inside))) else set()
        for i, item in enumerate(value if kinds else ()):
            if type(item) in kinds:
                refuse_masked(item, entry(name, i))


#: Types that may contain masked entries.
_NESTED = (list, tuple, np.ndarray)


def check_same_index(columns: Mapping[str, object]) -> None:
    """Refuse pandas objects whose indexes disagree: rows are paired by position, not by label."""
    first: tuple[str, Any] | None = None
    for name, column in columns.items():
        index = index_of(column)
        if index is None:
            continue
        if first is None:
            first = name, index
        elif len(index) == len(first[1]) and not index.equals(first[1]):
            unlike = (i for i, (a, b) in enumerate(zip(index, first[1], strict=True)) if a != b)
            row = next(unlike, 0)
            raise InputError(
                f"{first[0]} and {name} must have the same index, because rows are paired by "
                f"position. Row {row} is {shown(first[1][row])} in the first and "
                f"{shown(index[row])} in the second; align them, or drop both indexes "
                "(reset_index(drop=True))."
            )


def index_of(column: object) -> Index | None:
    """Return the index of a pandas object, or of what was made from one; else None."""
    if is_from("pandas", column):
        return column.index  # type: ignore[attr-defined]
    return getattr(column, "pandas_index", None)


def is_from(library: str, value: object, *kinds: str) -> bool:
    """Return whether a value is a series or frame of a library, without importing it."""
    module = sys.modules.get(library)
    known = (getattr(module, kind, ()) for kind in kinds or ("Series", "DataFrame"))
    return isinstance(value, tuple(known))


def choice(value: object, options: tuple[str, ...], name: str) -> str:
    """Return `value` if it is one of `options`, or raise with the options."""
    if not isinstance(value, str) or value not in options:
        raise InputError(expected(value, options), argument=name)
    return value


def expected(value: object, options: Iterable[str], more: str = "") -> str:
    """Return a message with the options, and the one that was probably meant.

    Names of a very different length are not suggested: BLEURT is not BLEU. `more` is another
    sentence.
    """
    known = list(options)
    near = [one for one in known if isinstance(value, str) and abs(len(one) - len(value)) < 2]
    guess = _guess(str(value), near, 0.7)
    end = f"{guess or '.'} {more}" if more else guess
    return f"must be one of {', '.join(known)}; got {shown(value, 60)}{end}"


def _guess(name: str, known: Iterable[str], least: float) -> str:
    """Return a question about the most similar name, or ""."""
    folded = {one.casefold(): one for one in known}
    close = get_close_matches(name.casefold(), folded, 1, least)
    return f"; did you mean {folded[close[0]]!r}?" if close else ""


def meant(name: str, known: Iterable[str]) -> str:
    """Return a list of existing names, and the one that was probably meant."""
    known = list(dict.fromkeys(known))
    more = f" and {len(known) - 12} more" if len(known) > 12 else ""
    if not known:
        return "none are available"
    return f"available: {', '.join(known[:12])}{more}{_guess(name, known, 0.5)}"


def plain(name: object) -> str:
    """Return a name without case, blanks and punctuation: "Segment ID" becomes "segmentid"."""
    return "".join(c for c in str(name).casefold() if c.isalnum())


def integer(value: object, name: str, minimum: int, maximum: int | None = None) -> int:
    """Return `value` as an int in the given range; booleans and floats are refused.

    Like the results of `flag` and `real`, it is a Python object: keep it instead of the argument,
    since NumPy scalars overflow and are not JSON values.
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise InputTypeError(
            f"must be an integer, got {type(value).__name__} {value!r}", argument=name
        )
    if value < minimum:
        raise InputError(f"must be at least {minimum}, got {shown(value)}", argument=name)
    if maximum is not None and value > maximum:
        raise InputError(f"must be at most {maximum}, got {shown(value)}", argument=name)
    return int(value)


def flag(value: object, name: str) -> bool:
    """Return `value` as a bool; anything else is refused."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputTypeError(
            f"must be True or False, got {type(value).__name__} {value!r}", argument=name
        )
    return bool(value)


def real(value: object, name: str, minimum: float) -> float:
    """Return `value` as a finite float of at least `minimum`."""
    return float(number(value, name, minimum))


def number(value: object, name: str, minimum: float) -> int | float:
    """Return `value` as a finite Python int or float of at least `minimum`.

    Narrow floats are converted by their decimal form: np.float32(0.05) is 0.05.
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(
        value, (int, float, np.integer, np.floating)
    ):
        raise InputTypeError(
            f"must be a number, got {type(value).__name__} {value!r}", argument=name
        )
    whole = isinstance(value, (int, np.integer))
    parsed = int(value) if whole else float(str(value) if isinstance(value, np.floating) else value)
    if abs(parsed) > sys.float_info.max or parsed != parsed or parsed < minimum:
        least = f" of at least {minimum:g}" if np.isfinite(minimum) else ""
        raise InputError(f"must be a finite number{least}, got {shown(value)}", argument=name)
    return parsed


def listed(value: object, name: str, content: str) -> list[Any]:
    """Turn an ordered iterable into a list, refusing strings, sets and the like."""
    if isinstance(value, (str, bytes)):
        more = "wrap it in a list"
        if isinstance(value, str) and value.endswith((".txt", ".csv", ".tsv", ".jsonl", ".json")):
            more = f"if {shown(value)} is a file, read its lines first"
        raise InputTypeError(
            f"must be a list of {content}, got a bare {type(value).__name__}; {more}",
            argument=name,
        )
    if isinstance(value, (dict, set, frozenset)) or not isinstance(value, Iterable):
        raise InputTypeError(
            f"must be a list of {content}, got {type(value).__name__}", argument=name
        )
    refuse_masked(value, name)
    # Iterating over pyarrow columns gives wrapped values.
    if is_from("pyarrow", value, "Array", "ChunkedArray"):
        return list(cast(Any, value).to_pylist())
    return list(value)


def as_numbers(values: object, name: str, n_columns: int | None) -> NDArray[np.float64]:
    """Return finite float64 numbers, `(N,)` or `(N, n_columns)`, checked."""
    if isinstance(values, (str, bytes)):
        raise InputTypeError("must be numbers, one row per segment, got a string", argument=name)
    refuse_masked(values, name)
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InputError(
            f"must be numbers with the same shape for every segment ({error})", argument=name
        ) from None
    array = as_floats(array, name)
    if array.dtype.kind not in "buif":
        if array.dtype.kind == "O" and (gone := [i for i, v in enumerate(array) if is_missing(v)]):
            raise InputTypeError(
                f"{entry(name, gone[0])} is missing; pass a number for every segment"
            )
        raise InputTypeError(
            f"must be numbers, one row per segment, got {array.dtype} values", argument=name
        )
    expected = "(N,)" if n_columns is None else f"(N, {n_columns})"
    fits = array.ndim == 1 if n_columns is None else array.ndim == 2 and array.shape[1] == n_columns
    if array.size == 0:
        raise InputError("is empty; pass at least one segment", argument=name)
    if not fits:
        raise InputError(f"must have shape {expected}, got {array.shape}", argument=name)
    numbers = array.astype(np.float64)
    if not np.all(np.isfinite(numbers)):
        row = int(np.argwhere(~np.isfinite(numbers))[0][0])
        raise InputError(
            f"{entry(name, row)} is {array[row]}, but scores must be finite. Leave such "
            "segments out for all systems, or use `missing` in compare_logs."
        )
    return numbers


def as_floats(array: NDArray[Any], name: str) -> NDArray[Any]:
    """Return an array of Python numbers (Decimal, Fraction) as float64; others unchanged."""
    if array.dtype.kind != "O" or not all(isinstance(v, (Real, Decimal)) for v in array.flat):
        return array
    if any(map(is_missing, array.flat)):
        return array
    try:
        return array.astype(np.float64)
    except OverflowError:
        raise InputError("must be finite, got a number above 1.8e308", argument=name) from None


def finite_array(values: ArrayLike, name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return finite numbers of a shape; a first axis of length 1 may be left out."""
    array = as_floats(np.array(values), name)
    if array.dtype.kind not in "buif" or not np.all(np.isfinite(array.astype(np.float64))):
        raise InputError("must be finite numbers", argument=name)
    if shape[0] == 1 and array.shape == shape[1:]:
        array = array[None]
    if array.shape != shape:
        wanted = shape[1:] if shape[0] == 1 else shape
        raise InputError(f"must have shape {wanted}, got {array.shape}", argument=name)
    return np.array(array, dtype=np.float64)


def whole_array(values: ArrayLike, name: str, shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Return whole numbers of a shape, like `finite_array`."""
    array = finite_array(values, name, shape)
    if np.any(array != np.rint(array)) or np.any(np.abs(array) >= 2**53):
        raise InputError("must be whole numbers below 2**53", argument=name)
    return array.astype(np.int64)


def as_scores(values: object, name: str) -> NDArray[np.float64]:
    """Return one finite score per segment, `(N,)`, from any ordered iterable of numbers."""
    array = values if isinstance(values, np.ndarray) else listed(values, name, "numbers")
    return as_numbers(array, name, None)


def check_same_length(**lists: Sized) -> None:
    """Refuse lists of different lengths, with all lengths in the message."""
    lengths = [len(entries) for entries in lists.values()]
    if len(set(lengths)) > 1:
        raise InputError(
            f"{', '.join(lists)} must have the same length, got {', '.join(map(str, lengths))}"
        )


def share(value: object, name: str, most: float = 1.0) -> float:
    """Return `value` as a float between 0 and `most`, both excluded."""
    fraction = real(value, name, 0.0)
    if not 0 < fraction < most:
        raise InputError(f"must be between 0 and {most:g}, got {value}", argument=name)
    return fraction


#: Cached signatures of functions.
_signature = cache(inspect.signature)


def required(function: Callable[..., Any]) -> list[str]:
    """Return the names of the required arguments of a function or a class."""
    parameters = _signature(function).parameters.values()
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p.name for p in parameters if p.default is p.empty and p.kind not in variadic]


def check_arguments(
    function: Callable[..., Any], called: str, names: Iterable[str], others: Iterable[str] = ()
) -> None:
    """Refuse names that are not arguments of a function, and suggest the one probably meant.

    `others` are alternative names of arguments.
    """
    parameters = _signature(function).parameters.values()
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return
    known = [p.name for p in parameters if p.kind is not p.POSITIONAL_ONLY]
    for name in names:
        if name not in known:
            there = meant(name, [*(other for other in known if other != "self"), *others])
            if name == "columns":
                there = "pass it to read_log, and then pass the log that read_log returns"
            raise InputTypeError(f"{called} has no argument {name!r}; {there}")


class _Usual:
    """The default of an option that a function passes on, as a signature shows it."""

    def __repr__(self) -> str:
        return "..."


_USUAL = _Usual()


def taking(options: type, defaults: Mapping[str, Any] = MappingProxyType({})) -> Callable[[F], F]:
    """Let the signature of a function name the options, a `TypedDict`, that it takes by ``**``.

    Editors use `Unpack`; notebooks, and checks of unknown names, use the signature.
    """

    def decorated(function: F) -> F:
        signature = inspect.signature(function)
        known = {n: p for n, p in signature.parameters.items() if p.kind is not p.VAR_KEYWORD}
        for name, hint in options.__annotations__.items():
            kind = getattr(hint, "__forward_arg__", hint)
            known[name] = inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=defaults.get(name, _USUAL),
                annotation=kind,
            )
        vars(function)["__signature__"] = signature.replace(parameters=list(known.values()))
        return function

    return decorated


def also_called(unknown: str = "", /, **names: str) -> Callable[[F], F]:
    """Let arguments be given by other names as well: ``@also_called(seed="rng")``.

    For example, `rng` is a seed in other libraries, and some functions have `metric` and others
    `metrics`: both are accepted. Giving both raises an `InputError`, and so does an unknown
    argument, with the message `unknown`.
    """

    def decorated(function: F) -> F:
        code = cast(Any, function).__code__
        positional = code.co_varnames[: code.co_argcount]
        name_of_it = function.__qualname__.removesuffix(".__init__").rpartition(".")[2]

        @wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            for other in names.keys() & kwargs.keys():
                name = names[other]
                if name in kwargs or name in positional[: len(args)]:
                    raise InputError(
                        f"and {other} are the same argument; pass only one of them", argument=name
                    )
                kwargs[name] = kwargs.pop(other)
            for name in kwargs if unknown else ():
                if name not in _signature(function).parameters:
                    raise InputTypeError(unknown, argument=name)
            check_arguments(function, name_of_it, kwargs, names)
            if len(args) > len(positional):
                known = ", ".join(name for name in positional if name != "self")
                one = (
                    "; pass several systems as one mapping" if positional[0] == "hypotheses" else ""
                )
                raise InputTypeError(
                    f"{name_of_it} accepts only {known} as positional arguments, got "
                    f"{len(args)}{one}"
                )
            return function(*args, **kwargs)

        return cast(F, called)

    return decorated
