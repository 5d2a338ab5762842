"""The site as it is built: complete, offline, and found in by a search without a server."""

import contextlib
import sys

import pytest

from tests.host_bridge.station.chromium import Chromium
from tests.support import patience
from tests.support.evidence import every
from tests.tools.docs import offline, staging

pytestmark = [pytest.mark.exhaustive(as_a_whole=True), pytest.mark.xdist_group("docs")]
BUILD_S = 300.0  # of an idle machine, which takes 40


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("docs")
    words = [sys.executable, "-m", "tests.tools.docs.build", str(folder)]
    done = patience.run(words, cwd=staging.ROOT, text=True, within_s=BUILD_S)
    assert done.returncode == 0, done.stderr
    return folder / "site"


@pytest.mark.process
@pytest.mark.timeout(900)
def test_the_site_is_built_without_a_warning_and_loads_nothing_from_elsewhere(site):
    assert len(list(site.rglob("*.html"))) > 120
    assert offline.requests_of(site) == []
    assert offline.broken_links_of(site) == []


@pytest.mark.process
@pytest.mark.timeout(900)
def test_docstrings_are_in_it(site):
    page = (site / "reference" / "api.html").read_text()
    assert every(f'id="tandem.{it}"' in page for it in ("open", "Car.drive", "StoppedFault"))


@pytest.mark.browser
@pytest.mark.timeout(900)
def test_a_search_finds_pages_from_the_folder_alone(site):
    with contextlib.closing(Chromium()) as browser:
        page = browser.page((site / "search.html").as_uri() + "?q=deadman")
        page.until("document.querySelectorAll('#search-results li a').length > 5")
        page = browser.page((site / "search.html").as_uri() + "?q=xyzzyx")
        page.until("/did not match any/.test(document.body.innerText)")
