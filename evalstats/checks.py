"""Validators: every check of an argument that more than one module makes, once.

Each takes a value and the name of the argument that it came in, and returns the value in one form,
or raises an error that names the argument, what was expected and what came.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sized
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from evalstats.errors import InputError, InputTypeError

F = TypeVar("F", bound=Callable[..., Any])


def choice(value: object, options: tuple[str, ...], name: str) -> str:
    """Return `value` if it is one of `options`, or say which there are."""
    if not isinstance(value, str) or value not in options:
        raise InputError(f"{name} must be one of {', '.join(options)}; got {value!r}")
    return value


def integer(value: object, name: str, minimum: int, maximum: int | None = None) -> int:
    """Return `value` as an int in the given range; booleans and floats are refused."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise InputTypeError(f"{name} must be an integer, got {type(value).__name__} {value!r}")
    if value < minimum:
        raise InputError(f"{name} must be at least {minimum}, got {value}")
    if maximum is not None and value > maximum:
        raise InputError(f"{name} must be at most {maximum}, got {value}")
    return int(value)


def flag(value: object, name: str) -> bool:
    """Return `value` as a bool; anything that is not one is refused."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputTypeError(f"{name} must be True or False, got {type(value).__name__} {value!r}")
    return bool(value)


def real(value: object, name: str, minimum: float) -> float:
    """Return `value` as a finite float of at least `minimum`."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(
        value, (int, float, np.integer, np.floating)
    ):
        raise InputTypeError(f"{name} must be a number, got {type(value).__name__} {value!r}")
    if not np.isfinite(value) or value < minimum:
        least = f" of at least {minimum:g}" if np.isfinite(minimum) else ""
        raise InputError(f"{name} must be a finite number{least}, got {value}")
    return float(value)


def listed(value: object, name: str, content: str) -> list[Any]:
    """Turn an ordered iterable into a list, refusing what would iterate into nonsense."""
    if isinstance(value, (str, bytes)):
        raise InputTypeError(
            f"{name} must be a list of {content}, got a bare {type(value).__name__}; "
            f"wrap it in a list"
        )
    if isinstance(value, (dict, set, frozenset)) or not isinstance(value, Iterable):
        raise InputTypeError(f"{name} must be a list of {content}, got {type(value).__name__}")
    return list(value)


def as_numbers(values: object, name: str, n_columns: int | None) -> NDArray[np.float64]:
    """Return finite float64 numbers, `(N,)` or `(N, n_columns)`, or say what is wrong."""
    if isinstance(values, (str, bytes)):
        raise InputTypeError(f"{name} must be numbers, one row a segment, got a bare string")
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InputError(f"{name} must be numbers of one shape per segment: {error}") from None
    if array.dtype.kind not in "buif":
        raise InputTypeError(f"{name} must be numbers, one row a segment, got {array.dtype} values")
    expected = "(N,)" if n_columns is None else f"(N, {n_columns})"
    fits = array.ndim == 1 if n_columns is None else array.ndim == 2 and array.shape[1] == n_columns
    if array.size == 0:
        raise InputError(f"{name} is empty; give at least one segment")
    if not fits:
        raise InputError(f"{name} must have shape {expected}, got {array.shape}")
    numbers = array.astype(np.float64)
    if not np.all(np.isfinite(numbers)):
        row = int(np.argwhere(~np.isfinite(numbers))[0][0])
        raise InputError(f"{name}[{row}] is {array[row]}; scores must be finite")
    return numbers


def as_scores(values: object, name: str) -> NDArray[np.float64]:
    """Return one finite score per segment, `(N,)`; any ordered iterable of numbers is welcome."""
    array = values if isinstance(values, np.ndarray) else listed(values, name, "numbers")
    return as_numbers(array, name, None)


def as_paired_scores(x1: object, x2: object) -> NDArray[np.float64]:
    """Return two systems' scores of the same segments, `(N, 2)`."""
    first, second = as_scores(x1, "x1"), as_scores(x2, "x2")
    if len(first) != len(second):
        raise InputError(
            f"x1 and x2 must be the same length, one score a segment, got {len(first)} "
            f"and {len(second)}"
        )
    return np.stack([first, second], axis=1)


def check_same_length(**lists: Sized) -> None:
    """Refuse lists of different lengths, with all of these in the message."""
    lengths = [len(entries) for entries in lists.values()]
    if len(set(lengths)) > 1:
        raise InputError(
            f"{', '.join(lists)} must be the same length, got {', '.join(map(str, lengths))}"
        )


def share(value: object, name: str, most: float = 1.0) -> float:
    """Return `value` as a float between 0 and `most`, both excluded."""
    found = real(value, name, 0.0)
    if not 0 < found < most:
        raise InputError(f"{name} must be between 0 and {most:g}, got {value}")
    return found


def also_called(**names: str) -> Callable[[F], F]:
    """Let arguments be given under other names as well: ``@also_called(seed="rng")``.

    What is called `rng` here is called a seed elsewhere, and one function takes a metric where the
    next takes metrics: whoever mixes these up is understood. Both at once are an `InputError`.
    """

    def decorated(function: F) -> F:
        code = cast(Any, function).__code__
        positional = code.co_varnames[: code.co_argcount]

        @wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            for other in names.keys() & kwargs.keys():
                name = names[other]
                if name in kwargs or name in positional[: len(args)]:
                    raise InputError(f"{name} and {other} are the same argument; give one of them")
                kwargs[name] = kwargs.pop(other)
            return function(*args, **kwargs)

        return cast(F, called)

    return decorated
