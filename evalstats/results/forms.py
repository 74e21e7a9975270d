"""The forms of every result: text, JSON and back, CSV, Markdown, LaTeX, HTML, pandas.

All forms contain the same numbers. Names are made safe for each form (`files`).
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
#: More decimals than these are rounding errors.
_MOST_DIGITS = 15
#: Number of notes that are printed; the first are the most important.
_PRINTED_NOTES = 3
#: Largest number of findings on scores, ranks, plans and other tests; the tables have all.
_MOST_FINDINGS = 12


class Finding(NamedTuple):
    """A sentence that a report begins with, its kind ("better", "worse", "open"), and details.

    A terminal has room for one line below the sentence: `brief`, or the only line of `lines`.
    """

    said: str
    kind: str = "open"
    lines: Sequence[str] = ()
    brief: str = ""


class Result(Record):
    """A result that can be written in every form; `print` and the prompt show its table."""

    def _rows(self) -> Sequence[Any]:
        """Return the records, or results, that the result consists of; by default only itself."""
        return [self]

    def _parts(self) -> list[Result]:
        """Return the other results that the result consists of."""
        return [row for row in self._rows() if isinstance(row, Result) and row is not self]

    def _tables(self, digits: int | None = None) -> list[Table]:
        return [table for part in self._parts() for table in part._tables(digits)]

    def _brief(self, digits: int | None = None) -> list[Table]:
        """Return the tables without the parts that only a verbose table has."""
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

    def _below(self, verbose: bool = False, findings: bool = False) -> tuple[list[str], list[str]]:
        """Return cautions, the first notes and one line for the signatures, or all of them.

        `findings` is whether findings are printed, too.
        """
        # Cautions are always printed.
        notes = sorted(distinct(self._notes()), key=lambda note: not note.startswith(CAUTION))
        n_cautions = sum(note.startswith(CAUTION) for note in notes)
        signatures = distinct(self._signatures())
        if verbose:
            return notes, signatures
        n_printed = max(n_cautions, _PRINTED_NOTES)
        more = len(notes) - n_printed
        if more > 0:
            of_more = "1 more note" if more == 1 else f"{more} more notes"
            notes = [*notes[:n_printed], f"to_text(verbose=True) shows {of_more}."]
        return notes, [together(signatures)] if signatures else []

    def _page(
        self,
        digits: int | None = None,
        all_notes: bool = False,
        findings: bool = True,
        *,
        details: bool = False,
    ) -> Page:
        """Return the tables with the lines around them; every form is made from this page.

        Cautions are above the tables, and so are findings if requested; other notes are below.
        """
        digits = None if digits is None else integer(digits, "digits", 0, _MOST_DIGITS)
        tables = self._tables(digits) if details else self._brief(digits)
        notes, signatures = self._below(all_notes, findings)
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
        """Return the findings that a report begins with, the most certain first."""
        return []

    def _curves(self) -> list[Curve]:
        """Return the figures of a report above the tables, except the figures of tables."""
        return []

    def _sections(self, texts: Texts) -> dict[str, str]:
        """Return other sections of a report, as HTML by name; they show the texts of segments.

        The section "Results" is folded, below the tables.
        """
        if texts:
            raise InputError("texts cannot be shown, because this result has no segments")
        return {}

    def plot(self, ax: Panels | None = None) -> Panels:
        """Draw the tables that have intervals, one below the other.

        Parameters
        ----------
        ax : Axes or array of Axes, optional
            Where to draw, one per table; by default in a new figure.

        Raises
        ------
        InputError
            If there is nothing to draw.
        """
        from evalstats.pictures import plots

        return plots.tables(self._brief(), ax)

    def describe(self) -> str:
        """Return the sentences for a paper's methods section, or ""."""
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

        Safe for files from strangers: the types of fields are checked, numbers must be finite and
        in their range, names printable and on one line, and fields must agree with one another.
        Otherwise an `InputError` is raised.

        Examples
        --------
        >>> import evalstats as es
        >>> result = es.compare({"A": [1, 2, 2], "B": [2, 2, 3]}, metrics=es.Mean("quality"))
        >>> es.Comparison.from_json(result.to_json()) == result
        True
        """
        return convert.from_json(cls, text)

    def to_csv(self) -> str:
        """Return the rows of `to_dataframe` as CSV; numbers are not rounded, names not changed.

        A spreadsheet computes text that begins like a formula (with = + - or @). If strangers chose
        the names, import the columns of names as text.
        """
        stream = io.StringIO()
        writer = csv.writer(stream, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
        records = self._records()
        writer.writerow(records[0])
        writer.writerows(record.values() for record in records)
        return stream.getvalue()

    def to_dataframe(self) -> DataFrame:
        """Return a pandas DataFrame with one row per record; needs the extra `pandas`."""
        try:
            from pandas import DataFrame
        except ImportError as error:
            raise MissingExtraError(
                "to_dataframe requires pandas, which is not installed: pip install '.[pandas]'"
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

        `verbose` gives every column, all notes instead of the three most important, and every
        signature. `digits` are decimals of scores and differences, 0 to 15; by default the smallest
        standard error has two digits. p-values have two significant digits, three near the level,
        and at least `digits`. Without `findings` there are no sentences above the tables. If
        `width` is given, no line is longer: columns are folded, left out or cut, in this order.
        `print` uses the width of the terminal.
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

        Each table fits into one column of a two-column page. If there is not enough room, type is
        smaller, and then columns that are not essential are left out; a comment names them. With a
        caption, which is plain text, the tables are one float: a ``table``, or a ``table*`` if
        essential columns do not fit. `label` is the target of ``\ref``, and needs a caption.
        Without a caption a table continues below itself. `digits` as in `to_text`.
        """
        from evalstats.pictures import latex

        return latex.as_latex(self._page(digits, True, False), caption, label)

    def to_html(self, *, digits: int | None = None) -> str:
        """Return a complete HTML page, light or dark like the reader's system.

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
        """Write a report for a colleague: a single HTML file that does not load anything else.

        It begins with the findings in sentences. Then it has figures, tables, strata, the segments
        that contribute most to each difference, notes and the method. It does not need JavaScript
        or an extra.

        Parameters
        ----------
        path : str or path
            Path of the file, which is replaced when everything is written. It ends in ``.html``, or
            at least not in the suffix of another form.
        texts : mapping of str to sequence of str, optional
            Texts of segments to show, by name: ``{"source": ..., "reference": ...}``, with one text
            per segment, or a mapping from ids to texts. If lists of texts were compared, outputs
            and references are known; otherwise pass them here, under the names of the systems.
        title : str, optional
            Title of the page; by default it names the systems that are compared.

        Raises
        ------
        InputError
            If texts do not match the segments, and for a path that cannot be written or has the
            suffix of another form (``.pdf``).
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
    """A result that consists of several records."""

    def _rows(self) -> Sequence[R]:
        """Return the records, which are in the first field."""
        rows: Sequence[R] = getattr(self, next(iter(vars(self))))
        return rows

    def _check(self) -> None:
        if not self._rows():
            raise InputError("it does not contain any records")

    def _finding(self, row: R) -> Finding | None:
        """Return the finding on a record that a report begins with."""
        return None

    def _findings(self) -> list[Finding]:
        findings = [self._finding(row) for row in self._rows()]
        return [finding for finding in findings if finding is not None][:_MOST_FINDINGS]

    def __getitem__(self, index: Any) -> Any:
        """Return the record at a place."""
        return self._rows()[index]

    def __iter__(self) -> Iterator[R]:
        """Iterate over the records; totals come last."""
        return iter(self._rows())

    def __len__(self) -> int:
        """Return the number of records, including totals."""
        return len(self._rows())


class Listed(Several[R], Sequence[R]):
    """A sequence of records of tasks, metrics and systems, which are found by these names."""

    def _named(self, rows: Sequence[R], system: str, *others: str) -> R:
        """Return the record with these names among the records of a task and a metric."""
        raise NotImplementedError

    @overload
    def __getitem__(self, index: int | str | tuple[str, ...]) -> R: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[R, ...]: ...
    def __getitem__(self, index: Any) -> Any:
        """Return the record with these names or at a place; for a slice, a tuple."""
        if isinstance(index, (int, slice, np.integer)):
            return super().__getitem__(index)
        rows, names = named(self._rows(), index)
        return self._named(rows, *names)

    def _ipython_key_completions_(self) -> list[tuple[str, ...]]:
        """Return the names that can be in brackets, for the TAB key of a notebook."""
        keys: list[tuple[str, ...]] = []
        for row in self._rows():
            pair = tuple(filter(None, (row.system, getattr(row, "baseline", ""))))
            keys += [(row.metric, *pair), *([(row.task, row.metric, *pair)] if row.task else [])]
        return list(dict.fromkeys(keys))

    @property
    def tasks(self) -> tuple[str, ...]:
        """Names of the tasks; empty for a single task without a name."""
        return tuple(distinct(row.task for row in self.rows if row.task))

    @property
    def rows(self) -> tuple[R, ...]:
        """The records on tasks, without the totals."""
        return tuple(row for row in self._rows() if row.aggregate is None)

    @property
    def totals(self) -> tuple[R, ...]:
        """The totals, one for each metric and system, or pair."""
        return tuple(row for row in self._rows() if row.aggregate is not None)
