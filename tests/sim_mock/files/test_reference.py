"""The reference page is that of the schemas."""

from tests.sim_mock.files import files_page


def test_the_page_is_made_of_the_schemas():
    written = files_page.PAGE.read_text(encoding="utf-8")
    assert written == files_page.page(), "python -m tests.sim_mock.files.files_page --write"
    assert "| `value_norm` | a number from -1 to 1 | yes |" in written
    assert "| `occupied_thresh` | a number from 0 to 1 | yes |" in written
