"""Perplexity and bits per unit: what a language model gives to text, from log-likelihoods.

Rows are what harnesses log: the log-likelihood of a text and its words, bytes or tokens. Texts are
resampled, not tokens: those of one text depend on each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from evalstats.checks import as_numbers, choice, flag
from evalstats.errors import InputError
from evalstats.metrics.base import Floats, keep, signature_of
from evalstats.metrics.ratios import Quotient

#: What a text is divided into; an "item" counts once, whatever its length.
UNITS = ("word", "byte", "character", "token", "item")


@dataclass(frozen=True)
class _PerUnit(Quotient):
    """A function of the mean negative log-likelihood per unit, in nats; of 0 for no units."""

    unit: str = "token"
    nll: bool = False

    columns = ("negative log-likelihood", "units")
    unsigned = "likelihoods are at most 1"
    higher_is_better = False
    uses_references: ClassVar[bool] = False
    #: What tables call the score of a unit, and what signatures do.
    title: ClassVar[str]
    key: ClassVar[str]

    def __post_init__(self) -> None:
        choice(self.unit, UNITS, "unit")
        keep(self, nll=flag(self.nll, "nll"))
        name = self.title.format(self.unit).removeprefix("item ")
        keep(self, name=name, entry_depth=int(self.unit != "item"))

    @property
    def signature(self) -> str:
        """Identity: what is counted."""
        return signature_of(**{self.key: self.unit})

    def statistics(self, hypotheses: Any, references: Any = None) -> Floats:
        """Return `(N, 2)`, negative log-likelihood and units; references are not used.

        Rows `(N, 2)` are the log-likelihood (natural logarithm, at most 0; at least 0 with `nll`)
        and the units (more than 0) of each text; for ``unit="item"`` the log-likelihood alone.
        """
        item = self.unit == "item"
        rows = as_numbers(hypotheses, "log-likelihoods", None if item else 2)
        rows = np.stack([rows, np.ones_like(rows)], axis=-1) if item else rows
        sign, kind = (1, "negative log-likelihood") if self.nll else (-1, "log-likelihood")
        for i in np.flatnonzero(sign * rows[:, 0] < 0)[:1]:
            raise InputError(
                f"log-likelihoods[{i}] is {rows[i, 0]:g}, and a {kind} must be at "
                f"{'least' if self.nll else 'most'} 0; say nll={not self.nll} for numbers of the "
                f"other sign"
            )
        for i in np.flatnonzero(rows[:, 1] <= 0)[:1]:
            raise InputError(
                f"log-likelihoods[{i}] has {rows[i, 1]:g} {self.unit}s; every row must be "
                f"(log-likelihood, number of {self.unit}s) with more than 0: leave empty texts out"
            )
        # 0 and not -0 where a text is certain.
        return np.stack([sign * rows[:, 0] + 0.0, rows[:, 1]], axis=-1)


@dataclass(frozen=True)
class Perplexity(_PerUnit):
    r"""Perplexity per word, byte, character, token or item.

    .. math:: \exp\left(-\sum_i \ell_i \,/\, \sum_i n_i\right)

    with :math:`\ell_i` the log-likelihood of text i and :math:`n_i` its units (Jelinek et al.,
    1977). lm-evaluation-harness's ``word_perplexity`` and ``byte_perplexity`` log such rows, its
    ``perplexity`` is that of items. Models with other tokens compare per word, byte or character.

    Parameters
    ----------
    unit : {"token", "word", "byte", "character", "item"}
        What is counted.
    nll : bool
        Whether rows hold *negative* log-likelihoods (losses, summed over the text).

    An unknown unit raises an `InputError`, in `statistics` a wrong sign or a text without units.

    Examples
    --------
    >>> perplexity = Perplexity("word")
    >>> rows = perplexity.statistics([[-100.0, 20], [-50.0, 12]])
    >>> print(perplexity.score(rows.sum(axis=0)).round(3))
    108.581
    """

    title = "{} perplexity"
    key = "perplexity"

    def score(self, totals: ArrayLike) -> Floats:
        """Return the perplexity, `(..., 2) -> (...)`, at least 1; 1 for no units.

        Above 700 nats per unit it is no number that doubles hold, and infinite.
        """
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(super().score(totals)))

    def gradient(self, totals: ArrayLike) -> Floats:
        """Return the gradient of the perplexity, `(..., 2) -> (..., 2)`; 0 for no units."""
        by_mean = super().gradient(totals)
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(self.score(totals)[..., None] * by_mean)


@dataclass(frozen=True)
class BitsPerUnit(_PerUnit):
    r"""Bits per byte, word, character, token or item: the logarithm of perplexity.

    .. math:: -\sum_i \ell_i \,/\, \left(\ln 2 \sum_i n_i\right)

    With the parameters, rows and errors of `Perplexity`. lm-evaluation-harness's ``bits_per_byte``
    is ``BitsPerUnit("byte")``, the default.

    Examples
    --------
    >>> bits = BitsPerUnit("byte")
    >>> print(bits.score(bits.statistics([[-100.0, 120], [-50.0, 61]]).sum(axis=0)).round(4))
    1.1956
    """

    unit: str = "byte"
    title = "bits per {}"
    key = "bits"

    def score(self, totals: ArrayLike) -> Floats:
        """Return bits per unit, `(..., 2) -> (...)`, at least 0; 0 for no units."""
        return np.asarray(super().score(totals) / np.log(2))

    def gradient(self, totals: ArrayLike) -> Floats:
        """Return the gradient of bits per unit, `(..., 2) -> (..., 2)`; 0 for no units."""
        return np.asarray(super().gradient(totals) / np.log(2))
