"""A page that an error or a help names is found from any folder: its whole path stands below."""

from contextlib import suppress

import pytest

from host_bridge.cli.main import main
from host_bridge.cli.output.page_places import ROOT, page_places, with_pages

PAGE = "hardware/boards/README.md"


def test_a_page_of_a_text_has_its_path_below(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert with_pages(f"see {PAGE}, or {PAGE}") == f"see {PAGE}, or {PAGE}\n  page: {ROOT / PAGE}"
    assert page_places(PAGE.replace("README", "none") + ", lab.yaml") == []


def test_where_it_lies_in_this_folder_nothing_is_added(monkeypatch):
    monkeypatch.chdir(ROOT)
    assert page_places(f"see {PAGE}") == []


@pytest.mark.parametrize(
    ("line", "page"),
    [
        ("vehicles --check --board xyz nigel", PAGE),
        ("faults --help", "firmware/core/SAFETY.md"),
        ("stop-source no_such", "host_bridge/cars/README.md"),
    ],
)
def test_errors_and_helps_say_where_their_pages_are(line, page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with suppress(SystemExit):  # as a help ends
        main(line.split())
    told = capsys.readouterr()
    assert f"\n  page: {ROOT / page}\n" in told.out + told.err
