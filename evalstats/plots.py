"""Figures, for a paper's column; the results' `plot` methods draw the same."""

from evalstats.analysis.influence import influence
from evalstats.results.plots import differences, pvalues, replicates, scores
from evalstats.results.power_plot import power
from evalstats.training.curves import curve

__all__ = ["curve", "differences", "influence", "power", "pvalues", "replicates", "scores"]
