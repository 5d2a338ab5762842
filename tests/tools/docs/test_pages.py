"""The pages of the site before Sphinx reads them: each page once, links, and what is generated."""

import argparse
import re

import pytest

from host_bridge.cli.main import COMMANDS
from tests.support.evidence import every, some
from tests.tools.docs import (
    api_reference,
    commands_reference,
    contents,
    markdown,
    offline,
    staging,
    tables_reference,
)

README = "README.md"
GENERATED = {"reference/commands/index", "reference/vehicle_keys", "reference/texts"} | {
    "reference/messages",
    "reference/api",
    "reference/doors",
}


@pytest.mark.process
@pytest.mark.smoke
def test_each_page_of_the_repository_stands_in_the_contents_once():
    pages = {it[:-3] for it in staging.tracked() if it.endswith(".md") and it[0] != "."}
    listed = [page for _, rows in contents.SECTIONS for _, page in rows]
    assert len(listed) == len(set(listed)) > 60
    assert set(listed) == (pages - {"README"}) | GENERATED


@pytest.mark.process
def test_each_page_that_names_the_recommended_board_says_that_no_step_has_run_there():
    pages = [it for it in staging.tracked() if it.endswith(".md") and it != "CHANGELOG.md"]
    texts = {it: " ".join((staging.ROOT / it).read_text("utf-8").split()) for it in pages}
    named = {it: text for it, text in texts.items() if re.search(r"\b(Pico 2|pico2)\b", text)}
    for page, text in some(named.items()):
        assert re.search("[Nn]o step of this program has run", text), page


@pytest.mark.parametrize(
    ("link", "page", "expected"),
    [
        (f"../api/{README}", "host_bridge/cli/README.md", f"../api/{README}"),
        ("host_bridge", "README.md", "host_bridge/README.md"),
        ("hardware/", "README.md", "hardware/README.md"),
        (f"../../{README}#cars", "host_bridge/cli/README.md", f"../../{staging.START}#cars"),
        ("#doors", "host_bridge/api/README.md", "#doors"),
        ("https://example.org/a", "README.md", "https://example.org/a"),
    ],
)
def test_a_link_leads_to_where_the_site_has_what_it_names(link, page, expected):
    assert staging.with_links_of_the_site(f"[a]({link})", page) == f"[a]({expected})"


def test_code_in_a_page_is_not_touched():
    text = "```python\nx = [a](hardware/)\n```\n"
    assert staging.with_links_of_the_site(text, "README.md") == text


def test_the_page_of_a_command_names_each_of_its_options():
    for command in COMMANDS:
        page = commands_reference.page_of(command)
        assert page.startswith(f"# tandem {command.name}\n")
    page = commands_reference.page_of(next(it for it in COMMANDS if it.name == "drive"))
    assert every(f"`--{it}" in page for it in ("input", "lockstep", "twin", "seconds", "json"))


def test_the_page_of_a_command_has_those_of_its_subcommands():
    page = commands_reference.page_of(next(it for it in COMMANDS if it.name == "path"))
    assert every(f"## `tandem path {it}`" in page for it in ("record", "centre", "error"))


def test_an_option_that_is_hidden_stays_so():
    parser = argparse.ArgumentParser("tandem x")
    parser.add_argument("--seen", help="it is 50 %% of %(default)s", default="a|b")
    parser.add_argument("--hidden", help=argparse.SUPPRESS)
    page = "\n".join(commands_reference._parts(parser, 2))
    assert "hidden" not in page
    assert r"it is 50 % of a\|b" in page


def test_the_keys_of_a_vehicle_file_stand_with_unit_range_and_default():
    page = tables_reference.vehicle_keys()
    assert "metres per second" in page
    assert every(f"## [{it}]" in page for it in ("limits", "sources.NAME", "accepted_coast"))
    row = next(line for line in page.splitlines() if line.startswith("| `loop_brake_s` |"))
    assert row.endswith("| `0.0` |")


def test_each_fault_stands_with_what_to_do():
    page = tables_reference.texts_page()
    assert "| 3 | `NO_MOTION` | no motion |" in page
    assert "See to the encoders, and whether the wheels are blocked." in page


def test_each_message_stands_with_its_fields():
    page = tables_reference.messages_page()
    assert "### Claim (" in page
    assert "### BoxWord (30)" in page
    assert page.count("Frozen for ever.") + page.count("Frozen.") >= 4


def test_all_names_of_the_api_are_there_by_kind():
    page = api_reference.script_page()
    assert ".. autofunction:: tandem.open\n" in page
    assert ".. autoclass:: tandem.Car\n" in page
    assert page.index("## Errors") < page.index("tandem.StoppedFault")


def test_a_cell_breaks_no_table():
    assert markdown.plain("a | b\n *c*") == r"a \| b \*c\*"


@pytest.mark.parametrize(
    "planted",
    [
        '<script src="https://example.org/a.js"></script>',
        '<link rel="stylesheet" href="//example.org/a.css">',
        '<img src="http://example.org/a.png">',
        "<style>@import 'https://example.org/a.css';</style>",
        '<p style="background: url(https://example.org/a.png)">',
        '<meta http-equiv="refresh" content="0; url=https://example.org/">',
    ],
)
def test_what_a_page_loads_from_elsewhere_is_found(tmp_path, planted):
    (tmp_path / "a.html").write_text(planted)
    assert len(offline.requests_of(tmp_path)) == 1


def test_what_a_page_only_links_to_is_none_of_it(tmp_path):
    (tmp_path / "a.html").write_text('<a href="https://example.org">a</a><img src="data:,">')
    assert offline.requests_of(tmp_path) == []


def test_a_style_that_loads_a_font_from_elsewhere_is_found(tmp_path):
    (tmp_path / "a.css").write_text("@font-face { src: url('https://example.org/a.woff2') }")
    assert offline.requests_of(tmp_path) == ["a.css: https://example.org/a.woff2"]


def test_a_link_that_leads_nowhere_is_found(tmp_path):
    (tmp_path / "a.html").write_text('<p id="x"><a href="#x"><a href="#y"><a href="b.html">')
    assert offline.broken_links_of(tmp_path) == ["a.html: #y", "a.html: b.html"]
