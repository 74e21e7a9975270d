"""The forms of every result: text, JSON and back, CSV, Markdown, LaTeX, HTML, pandas.

All hold the same numbers. Names are made safe for each form (`files`).
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, overload

import numpy as np

from evalstats.checks import also_called, integer
from evalstats.errors import InputError, MissingExtraError
from evalstats.results import convert, files, widths
from evalstats.results.records import CAUTION, Record, distinct, named
from evalstats.results.signatures import in_short, together
from evalstats.results.tabular import Page, Table

if TYPE_CHECKING:
    from pandas import DataFrame

    from evalstats.pictures.figures import Panels
    from evalstats.pictures.marks import Curve
    from evalstats.pictures.report import Texts

T = TypeVar("T", bound="Result")
R = TypeVar("R", bound=Any)
#: Beyond these, decimals are rounding.
_MOST_DIGITS = 15
#: Notes that are printed; the first are the most important.
_PRINTED_NOTES = 3
#: Findings of scores, ranks, plans and other tests at most; all are in the tables.
_MOST_FINDINGS = 12


class Finding(NamedTuple):
    """What is said first, which it is ("better", "worse", "open"), and how sure that is.

    A terminal has room for one line below: `brief`, or of one line that.
    """

    said: str
    kind: str = "open"
    lines: Sequence[str] = ()
    brief: str = ""


class Result(Record):
    """What can be written in every form; printed, and at the prompt, it is its table."""

    def _rows(self) -> Sequence[Any]:
        """Return the records, or results, of which it is made; by default itself alone."""
        return [self]

    def _parts(self) -> list[Result]:
        """Return the results of which it is made, which is none of itself."""
        return [row for row in self._rows() if isinstance(row, Result) and row is not self]

    def _tables(self, digits: int | None = None) -> list[Table]:
        return [table for part in self._parts() for table in part._tables(digits)]

    def _brief(self, digits: int | None = None) -> list[Table]:
        """Return the tables without what only a verbose table has."""
        return [table.brief() for table in self._tables(digits) if not table.is_detail]

    def _records(self) -> list[dict[str, Any]]:
        """Return the rows of `to_dataframe` and `to_csv`."""
        whole = [record for part in self._parts() for record in part._records()]
        return whole or [convert.row(record) for record in self._rows()]

    def _notes(self) -> Sequence[str]:
        whole = [note for part in self._parts() for note in part._notes()]
        return [*getattr(self, "notes", ()), *whole]

    def _signatures(self) -> Sequence[str]:
        lines = getattr(self, "signatures", None) or [getattr(self, "signature", None)]
        return [*filter(None, lines), *(s for part in self._parts() for s in part._signatures())]

    def _below(self, verbose: bool = False) -> tuple[list[str], list[str]]:
        """Return cautions, the first notes and one line for the signatures, or all of both."""
        # Cautions are never folded away.
        notes = sorted(distinct(self._notes()), key=lambda note: not note.startswith(CAUTION))
        n_cautions = sum(note.startswith(CAUTION) for note in notes)
        signatures = distinct(self._signatures())
        if verbose:
            return notes, signatures
        n_printed = max(n_cautions, _PRINTED_NOTES)
        more = len(notes) - n_printed
        if more > 0:
            of_more = "1 more note" if more == 1 else f"{more} more notes"
            notes = [*notes[:n_printed], f"{of_more}: to_text(verbose=True)."]
        return notes, [together(signatures)] if signatures else []

    def _page(
        self,
        digits: int | None = None,
        all_notes: bool = False,
        findings: bool = True,
        *,
        details: bool = False,
    ) -> Page:
        """Return the tables with the lines around them, which every form is made of.

        Cautions stand above the tables, and if asked for what was found; below them other notes.
        """
        digits = None if digits is None else integer(digits, "digits", 0, _MOST_DIGITS)
        tables = self._tables(digits) if details else self._brief(digits)
        notes, signatures = self._below(all_notes)
        above = [(note, "") for note in notes if note.startswith(CAUTION)]
        notes = [note for note in notes if not note.startswith(CAUTION)]
        if findings:
            from evalstats.pictures.findings import told

            first, notes = told(self._findings(), notes)
            above += first
        return Page(tables, notes, signatures, above, in_short(self._signatures()))

    def _title(self) -> str:
        """Return the title of a page."""
        return "; ".join(distinct(table.title for table in self._tables()))

    def _headline(self) -> str:
        """Return the title of a report."""
        return self._title()

    def _findings(self) -> list[Finding]:
        """Return what a report says first, the surest before the rest."""
        return []

    def _curves(self) -> list[Curve]:
        """Return what a report draws above the tables, but for what tables draw themselves."""
        return []

    def _sections(self, texts: Texts) -> dict[str, str]:
        """Return what else a report has, as HTML under names; texts of segments are shown there.

        What is under "Results" is folded away below the tables.
        """
        if texts:
            raise InputError("texts cannot be shown: this result has no segments")
        return {}

    def plot(self, ax: Panels | None = None) -> Panels:
        """Draw the tables that have intervals, one below the other.

        Parameters
        ----------
        ax : Axes or array of Axes, optional
            Where to draw: one a table. By default a new figure.

        Raises
        ------
        InputError
            Where there is nothing to draw.
        """
        from evalstats.pictures import plots

        return plots.tables(self._brief(), ax)

    def describe(self) -> str:
        """Return the sentences for a paper's section on methods, where there are some."""
        return " ".join(distinct(said for part in self._parts() if (said := part.describe())))

    def noting(self: T, *notes: str) -> T:
        """Return the result with notes before its own."""
        notes = (*notes, *getattr(self, "notes", ()))
        return replace(self, notes=notes)  # type: ignore[type-var]

    def to_json(self, indent: int | None = 2) -> str:
        """Return `to_dict` as JSON."""
        return files.as_json(self.to_dict(), indent)

    @classmethod
    def from_json(cls: type[T], text: str) -> T:
        """Return the result that `to_json` wrote, equal to it; replicates are not kept.

        Safe for files from strangers: fields are of their types, numbers finite and in their range,
        names printable and on one line, and what follows from other fields does; all else is an
        `InputError`.

        Examples
        --------
        >>> import evalstats as es
        >>> result = es.compare({"A": [1, 2, 2], "B": [2, 2, 3]}, metrics=es.Mean("marks"))
        >>> es.Comparison.from_json(result.to_json()) == result
        True
        """
        return convert.from_json(cls, text)

    def to_csv(self) -> str:
        """Return the rows of `to_dataframe` as CSV; numbers are whole, names as they are.

        A spreadsheet computes text that begins like a formula (with = + - or @): import the columns
        of names that strangers chose as text.
        """
        stream = io.StringIO()
        writer = csv.writer(stream, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
        records = self._records()
        writer.writerow(records[0])
        writer.writerows(record.values() for record in records)
        return stream.getvalue()

    def to_dataframe(self) -> DataFrame:
        """Return a pandas DataFrame, a row a record; needs the extra `pandas`."""
        try:
            from pandas import DataFrame
        except ImportError as error:
            raise MissingExtraError(
                "to_dataframe needs pandas, which is not installed: pip install '.[pandas]'"
            ) from error
        frame: DataFrame = DataFrame.from_records(self._records())
        return frame

    def to_text(
        self,
        *,
        verbose: bool = False,
        digits: int | None = None,
        findings: bool = True,
        width: int | None = None,
    ) -> str:
        """Return the findings and the tables as `print` shows them.

        `verbose` means every column, all notes, not the three that matter most, and every
        signature. `digits` are decimals of scores and differences, 0 to 15; by default as many as
        give the smallest standard error two digits. p-values have two significant digits, three
        near the level, and at least `digits`. Without `findings` there are no sentences above the
        tables. No line is longer than `width`, if one is given: what has no room is folded, left
        out or cut, in this order. `print` gives the width of the terminal that it prints on.
        """
        return self._page(digits, verbose, findings, details=verbose).text(width, not verbose)

    def to_markdown(self, *, digits: int | None = None) -> str:
        """Return Markdown tables; `digits` as in `to_text`."""
        return files.as_markdown(self._page(digits, findings=False))

    @also_called()
    def to_latex(
        self, *, caption: str | None = None, label: str | None = None, digits: int | None = None
    ) -> str:
        r"""Return LaTeX tables, which need the package booktabs, with all notes as comments.

        Each fits a column of two: where there is no room for all its columns, type is smaller, then
        the columns go that one can do without, and a comment names them. With a caption, which is
        plain text, the tables are one float, a ``table``, or where columns that matter have no room
        a ``table*``; `label` is what ``\ref`` refers to, and needs a caption. Without one a table
        goes on below itself. `digits` as in `to_text`.
        """
        from evalstats.pictures import latex

        return latex.as_latex(self._page(digits, True, False), caption, label)

    def to_html(self, *, digits: int | None = None) -> str:
        """Return an HTML page of its own, light or dark as the reader's system is.

        `digits` as in `to_text`.
        """
        from evalstats.pictures import markup

        return markup.as_html(self._page(digits, True), self._title())

    def report(
        self,
        path: str | os.PathLike[str],
        texts: Texts | None = None,
        title: str | None = None,
    ) -> None:
        """Write a report: one HTML file to hand to a colleague, which loads nothing from elsewhere.

        What was found stands first, in sentences; then figures, tables, strata, the segments that
        drive each difference, notes and the method. It needs no JavaScript and no extra.

        Parameters
        ----------
        path : str or path
            Of the file, which is replaced when all is written; it ends in ``.html``, or at least
            not as a file of another form does.
        texts : mapping of str to sequence of str, optional
            What is shown of segments, by name: ``{"source": ..., "reference": ...}``, one text a
            segment, or a mapping from ids to texts. Outputs and references are known where lists of
            texts were compared; else the names of systems here bring them.
        title : str, optional
            What the page is called; by default it says who is compared.

        Raises
        ------
        InputError
            For texts that fit no segments, and for a path that cannot be written or is that of
            another form (``.pdf``).
        """
        from evalstats.pictures.report import document

        with files.replacing(path, "html") as file:
            file.write(document(self, texts, title).encode())

    def _repr_html_(self) -> str:
        """Return HTML for a notebook: escaped, without scripts, in the notebook's colours."""
        return self._page(all_notes=True).fragment()

    def __str__(self) -> str:
        return self.to_text(width=widths.of_terminal())

    __repr__ = __str__


class Several(Result, Generic[R]):
    """A result that is several records."""

    def _rows(self) -> Sequence[R]:
        """Return the records, which are its first field."""
        rows: Sequence[R] = getattr(self, next(iter(vars(self))))
        return rows

    def _check(self) -> None:
        if not self._rows():
            raise InputError("it has no records")

    def _finding(self, row: R) -> Finding | None:
        """Return what a report says first of a record."""
        return None

    def _findings(self) -> list[Finding]:
        findings = [self._finding(row) for row in self._rows()]
        return [finding for finding in findings if finding is not None][:_MOST_FINDINGS]

    def __getitem__(self, index: Any) -> Any:
        """Return the record of a place."""
        return self._rows()[index]

    def __iter__(self) -> Iterator[R]:
        """Iterate over the records; totals come last."""
        return iter(self._rows())

    def __len__(self) -> int:
        """Return the number of records, totals among them."""
        return len(self._rows())


class Listed(Several[R], Sequence[R]):
    """A sequence of records of tasks, metrics and systems, which are found by these names."""

    def _named(self, rows: Sequence[R], system: str, *others: str) -> R:
        """Return the one among records of a task and a metric."""
        raise NotImplementedError

    @overload
    def __getitem__(self, index: int | str | tuple[str, ...]) -> R: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[R, ...]: ...
    def __getitem__(self, index: Any) -> Any:
        """Return the record of names or of a place; for a slice, a tuple."""
        if isinstance(index, (int, slice, np.integer)):
            return super().__getitem__(index)
        rows, names = named(self._rows(), index)
        return self._named(rows, *names)

    def _ipython_key_completions_(self) -> list[tuple[str, ...]]:
        """Return the names that stand in brackets, for the TAB key of a notebook."""
        keys: list[tuple[str, ...]] = []
        for row in self._rows():
            pair = tuple(filter(None, (row.system, getattr(row, "baseline", ""))))
            keys += [(row.metric, *pair), *([(row.task, row.metric, *pair)] if row.task else [])]
        return list(dict.fromkeys(keys))

    @property
    def tasks(self) -> tuple[str, ...]:
        """Names of the tasks; none where there is one without a name."""
        return tuple(distinct(row.task for row in self.rows if row.task))

    @property
    def rows(self) -> tuple[R, ...]:
        """The records on tasks, without the totals."""
        return tuple(row for row in self._rows() if row.aggregate is None)

    @property
    def totals(self) -> tuple[R, ...]:
        """The totals: one of each system, or pair, and metric."""
        return tuple(row for row in self._rows() if row.aggregate is not None)
