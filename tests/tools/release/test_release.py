"""A release: what keeps it back, what it is built of, and where it is tried."""

import subprocess
import sys
import zipfile

import pytest

from tests.support import patience
from tests.tools.release import checks, environments, release

DATED = "# Changelog\n\n## [1.2.0] - 2026-01-31\n\n## [1.1.0]\n"


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("# Changelog\n", "is none"),
        (DATED.replace("1.2.0", "1.3.0"), "is 1.3.0, that to release 1.2.0"),
        (DATED.replace("2026-01-31", "unreleased"), "gives no date"),
        (DATED.replace(" - 2026-01-31", ""), "gives no date"),
    ],
)
def test_a_changelog_that_is_not_ready_keeps_it_back(text, refusal):
    with pytest.raises(checks.NotReady, match=refusal):
        checks.refuse_changelog(text, "1.2.0")


def test_a_changelog_with_this_version_and_its_day_does_not():
    checks.refuse_changelog(DATED, "1.2.0")


@pytest.fixture
def repository(tmp_path):
    for words in (
        ("init", "-q"),
        ("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "--allow-empty", "-m", "a"),
    ):
        patience.run(["git", *words], cwd=tmp_path, within_s=60, check=True)
    return tmp_path


@pytest.mark.process
def test_what_is_not_committed_keeps_it_back(repository):
    checks.refuse_tree(repository, "v1")
    (repository / "a").write_text("")
    with pytest.raises(checks.NotReady, match="not everything is committed"):
        checks.refuse_tree(repository, "v1")


@pytest.mark.process
def test_a_tag_that_is_there_keeps_it_back(repository):
    checks.git(repository, "tag", "v1")
    with pytest.raises(checks.NotReady, match="raise the version"):
        checks.refuse_tree(repository, "v1")


@pytest.mark.process
@pytest.mark.smoke
def test_the_sdist_builds_the_very_wheel_whose_metadata_are_whole(tmp_path):
    version = checks.version_of()
    sdist, wheel = checks.build(checks.ROOT, tmp_path / "dist")
    data = checks.refuse_metadata(wheel, version)
    assert data.license_expression == "BSD-2-Clause"
    (tmp_path / "out").mkdir()
    assert checks.refuse_other_wheel(sdist, wheel, tmp_path / "out") > 900
    with pytest.raises(checks.NotReady, match=r"not of 9\.9"):
        checks.refuse_metadata(wheel, "9.9")


@pytest.mark.process
def test_a_wheel_that_differs_from_that_of_its_sdist_keeps_it_back(tmp_path):
    sdist, wheel = checks.build(checks.ROOT, tmp_path / "dist")
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr("tandem/more.py", "")
    (tmp_path / "out").mkdir()
    with pytest.raises(checks.NotReady, match=r"tandem/more\.py"):
        checks.refuse_other_wheel(sdist, wheel, tmp_path / "out")


@pytest.mark.process
def test_the_python_that_runs_this_is_found_by_its_version():
    own = "{}.{}".format(*sys.version_info[:2])
    found = environments.interpreter(own)
    assert found is not None
    assert environments.interpreter("3.0") is None


@pytest.mark.process
def test_a_command_runs_without_a_network_but_with_loopback():
    words = environments.alone()
    if not words:
        pytest.skip("this machine lets nobody take a network away (unshare, ip)")
    listed = subprocess.run(
        [*words, "cat", "/proc/net/dev"], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    names = [line.partition(":")[0].strip() for line in listed.splitlines()[2:]]
    assert names == ["lo"]


def test_a_python_that_is_not_there_is_not_shown_and_makes_no_tag(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(release, "_built", lambda version: tmp_path / "a.whl")
    monkeypatch.setattr(environments, "alone", tuple)
    monkeypatch.setattr(environments, "interpreter", lambda version: None)
    monkeypatch.setattr(checks, "git", lambda *words: pytest.fail(f"git {words}"))
    assert release.release(("3.10",), is_tagged=False) == release.NOT_SHOWN
    assert "Python 3.10: not shown" in capsys.readouterr().out


def test_what_keeps_it_back_is_told_with_exit_code_1(monkeypatch, capsys):
    def refuse(text, version):
        raise checks.NotReady("no date")

    monkeypatch.setattr(checks, "refuse_changelog", refuse)
    assert release.main([]) == 1
    assert capsys.readouterr().err == "release: no date\n"
