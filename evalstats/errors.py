"""Errors that a caller can act on: the argument, what was expected, what came, what to do.

`InputError` is a `ValueError`, `InputTypeError` is a `TypeError` as well; the command line
prints either as one line and exits with 2, and lets every other exception through, so that a
defect of ours is never mistaken for bad input.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

E = TypeVar("E", bound="InputError")

_MOST_MESSAGE = 2000
_NO_VALUE: Any = object()


@dataclass(frozen=True)
class Argument:
    """An argument that a message mentions: its name, or its name with a value to give.

    >>> str(Argument("n_resamples")), str(Argument("missing", "intersect"))
    ('n_resamples', "missing='intersect'")
    """

    name: str
    value: Any = _NO_VALUE

    @property
    def has_value(self) -> bool:
        """Whether the message says what to give."""
        return self.value is not _NO_VALUE

    def __str__(self) -> str:
        """Return the argument as it is written in Python."""
        return f"{self.name}={self.value!r}" if self.has_value else self.name


class InputError(ValueError):
    """An argument has the right type but not a usable value.

    The message is `argument` and then the `parts`, each a str or an `Argument`; it reads as Python
    is written, and as another interface is where that spells the arguments (`spelled`). What came
    may be hostile: control characters, and all others that are not printable, are shown as escapes,
    and what is too long to read is cut.

    Parameters
    ----------
    *parts : str or Argument
        The message, or with `argument` what follows that name.
    argument : str, optional
        The name of the argument that is at fault, with which the message begins.

    Examples
    --------
    >>> error = InputError("must be at least 2, got 1", argument="n_resamples")
    >>> print(error)
    n_resamples must be at least 2, got 1
    >>> error.argument
    'n_resamples'
    """

    def __init__(self, *parts: object, argument: str | None = None) -> None:
        super().__init__(*parts)
        self.argument = argument

    @property
    def parts(self) -> tuple[object, ...]:
        """The whole message: text, and the arguments that it mentions."""
        if self.argument is None:
            return self.args
        between = "" if str(self.args[0]).startswith(":") else " "
        return (Argument(self.argument), between, *self.args)

    def spelled(self, spell: Callable[[Argument], str]) -> str:
        """Return the message with its arguments as `spell` writes them, printable, on one line."""
        parts = (spell(part) if isinstance(part, Argument) else str(part) for part in self.parts)
        text = "".join(parts)
        if len(text) > _MOST_MESSAGE:
            text = f"{text[:_MOST_MESSAGE]}..."
        if text.isprintable():
            return text
        return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)

    def within(self: E, where: str) -> E:
        """Return the error with the place that it is about before its message."""
        return type(self)(f"{where}: ", *self.parts)

    def __str__(self) -> str:
        """Return the message, printable and on one line."""
        return self.spelled(str)


class InputTypeError(InputError, TypeError):
    """An argument has the wrong type.

    Examples
    --------
    >>> import evalstats as es
    >>> es.compare({"A": [1, 0], "B": [1, 1]}, metrics=es.Mean("acc"), rgn=1)
    Traceback (most recent call last):
    ...
    evalstats.errors.InputTypeError: compare has no argument 'rgn'; ... did you mean 'rng'?
    """


class MissingExtraError(InputError, ImportError):
    """An optional dependency is needed; the message names what to install.

    Examples
    --------
    >>> import evalstats as es
    >>> issubclass(es.MissingExtraError, ImportError)
    True
    """
