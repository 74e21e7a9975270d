"""Cohen's d, as in ``evaluatio.effect_size.cohen``; the formulas are `evalstats.cohens_d`'s."""

from evalstats.inference.effects import cohens_d as cohens_d_independent
from evalstats.inference.effects import cohens_d_paired

__all__ = ["cohens_d_independent", "cohens_d_paired"]
