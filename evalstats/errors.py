"""Errors that a caller can act on: the argument, what was expected, what came, what to do.

`InputError` is a `ValueError`, `InputTypeError` is a `TypeError` as well; the command line
prints either as one line and exits with 2, and lets every other exception through, so that a
defect of ours is never mistaken for bad input.
"""

from __future__ import annotations

_MOST_MESSAGE = 2000


class InputError(ValueError):
    """An argument has the right type but not a usable value.

    What came may be hostile: its message shows control characters, and all others that are not
    printable, as escapes, and is cut where it is too long to read.
    """

    def __str__(self) -> str:
        """Return the message, printable and on one line."""
        text = super().__str__()
        if len(text) > _MOST_MESSAGE:
            text = f"{text[:_MOST_MESSAGE]}..."
        if text.isprintable():
            return text
        return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


class InputTypeError(InputError, TypeError):
    """An argument has the wrong type."""


class MissingExtraError(InputError, ImportError):
    """An optional dependency is needed; the message names what to install."""
