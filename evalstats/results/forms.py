"""The forms in which every result can be written: text, JSON, CSV, Markdown, LaTeX, HTML, pandas.

All hold the same numbers. Names are made safe for each form (`escaping`).
"""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

from evalstats.checks import integer
from evalstats.errors import MissingExtraError
from evalstats.results import escaping, report
from evalstats.results.records import distinct
from evalstats.results.report import Table

if TYPE_CHECKING:
    from pandas import DataFrame

#: Beyond these, decimals are rounding.
_MOST_DIGITS = 15


class Result:
    """What can be written in every form."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values: str, int, float, bool, None, lists and dicts."""
        raise NotImplementedError

    def _tables(self, digits: int | None = None) -> list[Table]:
        raise NotImplementedError

    def _footer(self) -> list[str]:
        raise NotImplementedError

    def _records(self) -> list[dict[str, Any]]:
        """Return the rows of `to_dataframe`: numbers and names, one type a column."""
        raise NotImplementedError

    def _title(self) -> str:
        """Return the title of a page."""
        return "; ".join(distinct(table.title for table in self._tables()))

    def to_json(self, indent: int | None = 2) -> str:
        """Return `to_dict` as JSON."""
        text = json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)
        return escaping.json_text(text)

    def to_csv(self) -> str:
        """Return the rows of `to_dataframe` as CSV, safe to be opened in a spreadsheet.

        Numbers are whole. A name that begins like a formula (with = + - or @) has an apostrophe
        before it, so that no spreadsheet computes it; what does not show is written out.
        """
        stream = io.StringIO()
        writer = csv.writer(stream, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
        records = self._records()
        writer.writerow(records[0])
        writer.writerows(map(escaping.csv_cell, record.values()) for record in records)
        return stream.getvalue()

    def to_dataframe(self) -> DataFrame:
        """Return a pandas DataFrame, a row a record; needs ``evalstats-text[pandas]``."""
        try:
            from pandas import DataFrame
        except ImportError as error:
            raise MissingExtraError(
                "to_dataframe needs pandas, which is not installed: "
                "pip install 'evalstats-text[pandas]'"
            ) from error
        frame: DataFrame = DataFrame.from_records(self._records())
        return frame

    def to_markdown(self, *, digits: int | None = None) -> str:
        """Return Markdown tables.

        `digits` are the decimals of scores and differences, 0 to 15; by default as many as give
        the smallest standard error two digits. p-values have four.
        """
        return report.document_markdown(self._tables(_as_digits(digits)), self._footer())

    def to_latex(
        self, *, caption: str | None = None, label: str | None = None, digits: int | None = None
    ) -> str:
        r"""Return LaTeX tables; they need the package booktabs.

        Parameters
        ----------
        caption : str, optional
            Plain text, which is escaped. The tables are then one float, a ``table``.
        label : str, optional
            What ``\ref`` refers to; needs a caption.
        digits : int, optional
            As in `to_markdown`.
        """
        tables = self._tables(_as_digits(digits))
        return report.document_latex(tables, self._footer(), caption, label)

    def to_html(self, *, digits: int | None = None) -> str:
        """Return an HTML page of its own, light or dark as the reader's system is.

        `digits` as in `to_markdown`.
        """
        return report.document_html(self._title(), self._tables(_as_digits(digits)), self._footer())

    def _repr_html_(self) -> str:
        """Return HTML for a notebook: escaped, without scripts, in the notebook's colours."""
        return report.fragment_html(self._tables(), self._footer())

    def __str__(self) -> str:
        return report.document_text(self._tables(), self._footer())


def _as_digits(digits: object) -> int | None:
    return None if digits is None else integer(digits, "digits", 0, _MOST_DIGITS)
