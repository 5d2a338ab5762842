from __future__ import annotations

import pickle

import pytest

from host_bridge.core import errors
from host_bridge.core.errors import EXIT_CODES, DataFileFault, DeviceFault, TandemError
from tests.support.evidence import every

SUBCLASSES = TandemError.__subclasses__()


def test_an_error_says_what_where_expected_got_and_what_to_do() -> None:
    fault = DeviceFault(
        "no such port", where="serial:///dev/x", expected="a port", got="none", remedy="look"
    )
    assert str(fault).splitlines() == [
        "serial:///dev/x: no such port",
        "  expected: a port",
        "  got: none",
        "  remedy: look",
    ]


def test_what_is_empty_is_not_shown() -> None:
    assert str(TandemError("no such port")) == "no such port"


@pytest.mark.parametrize("fault", SUBCLASSES)
def test_every_fault_has_an_exit_code_of_its_own_in_the_table(fault: type[TandemError]) -> None:
    assert dict(EXIT_CODES)[fault.exit_code] == fault.meaning
    assert [code for code, _ in EXIT_CODES].count(fault.exit_code) == 1


def test_exit_codes_leave_those_of_the_shell_alone() -> None:
    assert every(0 <= code < 64 for code, _ in EXIT_CODES)  # 126 and up are the shell's


def test_an_error_survives_the_way_to_another_process() -> None:
    fault = DeviceFault("busy", where="serial:///dev/x", got="held")
    copy = pickle.loads(pickle.dumps(fault))
    assert (str(copy), type(copy)) == (str(fault), DeviceFault)


def test_the_errors_import_nothing_of_ours() -> None:
    names = {getattr(it, "__module__", "") for it in vars(errors).values()}
    assert {name for name in names if name.startswith("host_bridge")} == {"host_bridge.core.errors"}


def test_whoever_sees_the_car_beside_it_reads_what_is_wrong_and_what_to_do():
    remedy = "has the board power? is it the right port?"
    fault = DeviceFault("nothing comes from the car", where="sim://x", got="silence", remedy=remedy)
    assert fault.sentences() == f"Nothing comes from the car. H{remedy[1:]}"
    assert TandemError("the line ended").sentences() == "The line ended."


@pytest.mark.parametrize(
    ("name", "got", "remedy"),
    [
        ("bag", "a folder", "name a file in it"),
        ("gone", "No such file or directory", "is its name"),
    ],
)
def test_a_folder_in_place_of_a_file_is_called_one(name, got, remedy, tmp_path):
    (tmp_path / "bag").mkdir()
    with pytest.raises((IsADirectoryError, FileNotFoundError)) as raised:
        (tmp_path / name).read_bytes()
    fault = DataFileFault.unreadable(tmp_path / name, raised.value)
    assert fault.got == got
    assert fault.remedy.startswith(remedy)
