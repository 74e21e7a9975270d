"""Sphinx configuration: guides in Markdown, notebooks that are run, the API from the docstrings."""

from __future__ import annotations

import evalstats

project = "evalstats"
author = "the evalstats developers"
copyright = "2026, " + author
release = evalstats.__version__
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
]
exclude_patterns = ["_build"]
myst_enable_extensions = ["dollarmath", "fieldlist"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 120
html_theme = "furo"
html_title = "evalstats"
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
autodoc_typehints = "none"
# The frameworks of `evalstats.integrations` are not needed to describe it.
autodoc_mock_imports = ["lightning", "torch", "torchmetrics", "transformers"]
autodoc_member_order = "bysource"
nitpicky = False
# Several classes have an attribute of one name, which an "any" reference cannot tell apart.
suppress_warnings = ["ref.python"]
