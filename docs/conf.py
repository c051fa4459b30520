"""Lemmata's site. `make docs` builds it to build/site; theorems are proved and mathematics is typeset meanwhile."""

import os
import sys
from pathlib import Path

import lemmata

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE)]

project = "Lemmata"
author = "Lemmata contributors"
copyright = "Lemmata contributors, MIT licence"
version = release = lemmata.__version__
language = "en"

extensions = ["myst_parser", "sphinx.ext.autodoc", "lemmata.sphinx", "pictures", "theorem_pages", "whole_site"]
exclude_patterns = ["pictures", "notebooks", "_ext", "README*"]
nitpicky = True
# Signatures name SymPy's classes and our own internal ones, which have no page here.
nitpick_ignore_regex = [(r"py:.*", r".*")]
default_role = "code"
suppress_warnings = ["myst.header"]

myst_enable_extensions = ["dollarmath", "attrs_inline", "attrs_block", "colon_fence", "deflist"]
myst_heading_anchors = 4
# No MathJax is loaded, so there is nothing to set up; it would look like a changed configuration in each build.
myst_update_mathjax = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"

lemmata_theorem_pages = "/theorems/{name}.md"
theorem_jobs = int(os.environ.get("JOBS", "2"))

html_theme = "furo"
html_title = "Lemmata"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_last_updated_fmt = None
html_permalinks_icon = "#"
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1f4e8c", "color-brand-content": "#1f5fb0"},
    "dark_css_variables": {"color-brand-primary": "#8ab8f0", "color-brand-content": "#8ab8f0"},
}
