"""Sphinx's settings for `make docs`; `build` calls it, on what `staging` laid out."""

import re
from importlib.metadata import version as version_of

project = "Tandem"
author = "Tandem contributors"
copyright = author  # noqa: A001 - Sphinx's name
release = version_of("tandem-cars")

extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_heading_anchors = 4
autodoc_typehints = "description"
autodoc_member_order = "bysource"
autodoc_class_signature = "separated"
add_module_names = False

html_theme = "furo"
html_title = f"Tandem {release}"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_last_updated_fmt = None
pygments_style = "friendly"
pygments_dark_style = "github-dark"


_INDENTED = re.compile(r"^( {4,})\S")


def code_as_code(_app, _kind, _name, _object, _options, lines):
    """Let reStructuredText take what a docstring indents below an empty line for code."""
    written = []
    inside = False
    for at, line in enumerate(lines):
        starts = _INDENTED.match(line) and at and not lines[at - 1].strip()
        if starts and not inside:
            written += ["::", ""]
        if line.strip():
            inside = bool(starts or (inside and line.startswith(" ")))
        written.append(line)
    lines[:] = written


def setup(app):
    app.connect("autodoc-process-docstring", code_as_code)
