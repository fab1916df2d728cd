"""How Sphinx builds the site: `sphinx-build -W docs docs/_build`."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

import api_pages  # noqa: E402
from pygments.lexers.special import TextLexer  # noqa: E402
from sphinx.highlighting import lexers  # noqa: E402

import oclgenomics  # noqa: E402

project = "oclgenomics"
author = "oclgenomics developers"
version = release = oclgenomics.__version__
extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.mathjax", "myst_parser", "numpydoc"]
exclude_patterns = ["_build"]
highlight_language = "none"  # of blocks that name no language

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4

autosummary_generate = False  # api_pages writes the pages
autodoc_typehints = "none"  # the docstrings say the types
numpydoc_show_class_members = False  # autodoc lists them
numpydoc_xref_param_type = False

html_theme = "furo"
html_title = f"oclgenomics {version}"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["site.css"]

lexers.update(fasta=TextLexer(), fastq=TextLexer())  # Pygments does not know them

api_pages.write_pages(HERE / "api")
