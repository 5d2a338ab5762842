"""Nothing is forgotten: every test file, every long test and every alphabet is in one part."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter

import pytest

from tests.nightly.draw import left_out_of_test
from tests.nightly.parts import NIGHT, PIECES, ROOT, SOAKS, STUDIES, files_of
from tests.proof.alphabets import ALL
from tests.support.evidence import every, some

EVERY = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (ROOT / "tests").rglob("*.py")
    if re.search(r"^test_|_test\.py$", path.name)
)
LONG = [file for file in EVERY if re.search(r"mark[.]soak\b", (ROOT / file).read_text())]


def named(parts) -> Counter[str]:
    return Counter(word for part in parts for word in part.command if word.endswith(".py"))


def test_every_test_file_is_in_one_part_of_the_night():
    pieces = [part for part in NIGHT if "not soak" in part.command]
    assert len(pieces) == len(PIECES)
    assert named(pieces) == Counter(some(EVERY))


def test_every_file_with_a_long_test_is_in_one_soak_or_one_study():
    soaks = Counter(file for row in SOAKS for file in files_of(row[2]) if file in LONG)
    studies = named([part for part in STUDIES if part.name == "calibration holds"])
    assert soaks + studies == Counter(some(LONG))
    assert set(soaks) <= set(named([part for part in NIGHT if "not soak" not in part.command]))


def test_every_alphabet_has_its_part():
    proofs = {part.command[-1] for part in NIGHT if "tests.proof" in part.command}
    assert proofs == {it.name for it in ALL}


def test_names_are_unique_and_a_night_leaves_mutants_half_an_hour_at_least():
    for table in (NIGHT, STUDIES):
        assert set(Counter(part.name for part in table).values()) == {1}
    assert sum(part.hours for part in NIGHT if not part.takes_the_rest) < 9.5
    assert every(part.why and part.sources for part in STUDIES)


def test_the_makefile_says_what_make_test_runs():
    expression = left_out_of_test((ROOT / "Makefile").read_text())
    assert expression.startswith("not soak and not (")
    with pytest.raises(ValueError, match="no TEST_IS"):
        left_out_of_test("test:\n")


IMPORT_S = 600  # seconds of an idle machine, minutes of one with much else to do
MODULES = {
    "calibration": "tests.studies.calibration_study",
    "calibration holds": "tests.nightly.soak.test_calibration_soak",
    "calibration logs": "tests.studies.logs.log_study",
    "guide": "tests.studies.logs.guide_study",
    "accidents": "tests.studies.accident_study",
    "causes": "tests.studies.logs.cause_study",
    "races": "tests.studies.racing.race",
    "autorally": "tests.studies.racing.autorally",
    "hours over the air": "tests.host_bridge.sharing.network.hours",
    "a day each": "tests.nightly.soak.test_car_soak, tests.nightly.soak.test_host_soak",
}
LOADED = """
import sys, {modules}
for module in list(sys.modules.values()):
    print(getattr(module, "__file__", None) or "")
"""


@pytest.mark.process
@pytest.mark.timeout(2 * IMPORT_S)
@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_a_study_depends_on_all_that_it_imports(study):
    done = subprocess.run(
        [sys.executable, "-c", LOADED.format(modules=MODULES[study.name])],
        cwd=ROOT, capture_output=True, text=True, check=True, timeout=IMPORT_S,
    )  # fmt: skip
    ours = {file for file in done.stdout.splitlines() if file.startswith(f"{ROOT}/")}
    ours = {file for file in ours if not file.startswith(f"{ROOT}/.")}
    known = {str(path) for glob in study.sources for path in ROOT.glob(glob)}
    assert sorted(set(some(ours)) - known) == []
