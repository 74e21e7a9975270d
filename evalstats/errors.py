"""Errors that a caller can act on: the argument, the expectation, the value, and advice.

`InputError` is a `ValueError`, `InputTypeError` is a `TypeError` as well; the command line prints
either as one line and exits with 2, and does not catch other exceptions, so that our defects are
never mistaken for bad input.
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
        """Whether the message has a value to give."""
        return self.value is not _NO_VALUE

    def __str__(self) -> str:
        """Return the argument as written in Python."""
        return f"{self.name}={self.value!r}" if self.has_value else self.name


class InputError(ValueError):
    """An argument has the right type but not a usable value.

    The message is `argument` followed by the `parts`, each a str or an `Argument`, in Python
    notation; another interface can change the notation of arguments (`spelled`). Values may be
    hostile: characters that are not printable are escaped, and long texts are cut.

    Parameters
    ----------
    *parts : str or Argument
        The message, or, with `argument`, the rest of the message after its name.
    argument : str, optional
        The name of the wrong argument, with which the message begins.

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
        """The whole message: text and arguments."""
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
        """Return the error with its place before the message."""
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
