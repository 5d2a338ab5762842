"""What ARCHITECTURE.md says about adding a part is done here, step by step, and works."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from firmware.core.settings import checked_params
from firmware.core.settings import params as table
from firmware.core.settings.checked_params import CheckedParams
from firmware.protocol.frame import crc_table
from host_bridge.config import load_vehicle
from host_bridge.config.boards.pins import checking
from host_bridge.config.boards.reading import FOLDER as BOARDS
from host_bridge.config.boards.reading import load_board
from host_bridge.config.vehicle import schema
from host_bridge.config.vehicle.bases import FOLDER
from host_bridge.config.vehicle.vehicle import vehicle_names
from host_bridge.core.errors import VehicleFileFault
from host_bridge.core.texts import table as texts
from host_bridge.deploy.flash.build import build_program
from host_bridge.link.transports.loopback import pair
from host_bridge.link.transports.uri import open_transport
from sim_mock.board.stored_image import board_id_of, stored_image
from sim_mock.world import World
from tests.hardware.vehicle_files import whole
from tests.host_bridge.link.contract import Bench, BusContract, Wire
from tests.host_bridge.link.transports.test_loopback import OtherEnd
from tests.support.evidence import every

PAGE = (Path(__file__).resolve().parents[3] / "ARCHITECTURE.md").read_text()
WIRED = sorted(name for name in vehicle_names() if not load_vehicle(name).unwired)


def test_the_page_has_the_recipes():
    parts = ("vehicle", "driver", "input", "stop source", "transport", "message", "command")
    assert every(
        f"## To add a {part}\n" in PAGE or f"## To add an {part}\n" in PAGE for part in parts
    )


# --- a vehicle


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def copied(name: str, **lines: str) -> str:
    text = (FOLDER / f"{name}.toml").read_text()
    for old, new in lines.items():
        head = next(line for line in text.splitlines() if line.startswith(f"{old} = "))
        text = text.replace(head, new, 1)
    Path("my_car.toml").write_text(text)
    return "./my_car.toml"


def is_in_order(report) -> bool:
    return report.is_wired and not report.refusals


@pytest.mark.parametrize("name", WIRED)
def test_a_copy_of_a_vehicle_file_is_driven_and_wired_as_its_original(own_folder, name):
    path = copied(name, title='title = "My car"')
    world = World(load_vehicle(path), 1)
    world.advance(2_000_000)
    own = {report.board: is_in_order(report) for report in checking.check_all(None, path)}
    assert own == {r.board: is_in_order(r) for r in checking.check_all(None, name)}
    assert any(own.values())


@pytest.mark.process
def test_a_copy_can_be_made_into_a_program_for_a_board(own_folder):
    job = build_program(
        "pico2", copied("f1tenth", title='title = "My car"'), load_vehicle, lambda *_: None
    )
    assert job.vehicle
    assert job.vehicle.title == "My car"
    assert b"my_car" in job.program["pins.mpy"]


def test_a_wiring_of_its_own_name_comes_before_the_one_that_its_file_names(own_folder):
    path = copied("f1tenth", title='title = "My car"')
    text = (BOARDS / "pico.toml").read_text()
    at = text.index("[wiring.f1tenth]")
    own = text[at : text.index("\n[wiring.f1tenth_vesc]")].replace("f1tenth", "my_car")
    Path("my_board.toml").write_text(f"{text}\n{own}")
    assert checking.load_needs(load_board("./my_board.toml"), path).wiring == "my_car"
    assert checking.load_needs(load_board("pico"), path).wiring == "f1tenth"
    assert is_in_order(checking.check("./my_board.toml", path))


def test_a_wiring_that_no_board_has_is_refused_with_both_remedies(own_folder):
    report = checking.check("pico2", copied("f1tenth", wired_as='wired_as = "nothing"'))
    assert not is_in_order(report)
    assert "add [wiring.nothing]" in report.refusals[0]
    assert "wired_as" in report.refusals[0]


# --- a stop source

BUTTON = """
[stop.sources.lab_button]
stand = "required"
track = "required"
race = "required"
silence_s = 0.25
"""


def only_the_button(text: str) -> str:
    """A vehicle file in which nobody but the new stop source can stop the car."""
    head, _, rest = text.partition("[stop.sources.runstop_loop]")
    return head + BUTTON + rest[rest.index("[profiles.stand]") :].join(["\n", ""])


@pytest.fixture
def lab_button(monkeypatch):
    kind = schema.StopSourceKind(7, 3, is_human=True)
    monkeypatch.setitem(schema.STOP_SOURCES, "lab_button", kind)
    text = ("lab_button", "lab button", "the lab button", "Plug the lab button in.")
    monkeypatch.setitem(texts.STOP_SOURCE_TEXTS, "lab_button", text)


def accepted_by_the_board(path: str) -> bool:
    params = CheckedParams(crc_table())
    image = stored_image(load_vehicle(path), board_id_of("x"), "x")
    assert params.read_image(bytearray(image))
    return params.first_unsafe(is_virtual=0) < 0


def test_a_new_stop_source_is_registered_in_three_places(own_folder, lab_button, monkeypatch):
    Path("my_car.toml").write_text(only_the_button(whole("nigel")))
    assert [s.name for s in load_vehicle("./my_car.toml").stop_sources] == ["lab_button"]
    assert not accepted_by_the_board("./my_car.toml")  # it knows of no person of that number
    people = (*table.HUMAN_STOP_SOURCES, 7)
    monkeypatch.setattr(checked_params, "HUMAN_STOP_SOURCES", people)
    assert accepted_by_the_board("./my_car.toml")


def test_a_stop_source_that_is_not_registered_is_refused(own_folder):
    Path("my_car.toml").write_text(only_the_button(whole("nigel")))
    with pytest.raises(VehicleFileFault, match="lab_button"):
        load_vehicle("./my_car.toml")


# --- a transport

MODULE = """\
from tests.host_bridge.cli.test_recipes import near_end


def make(uri, context):
    return near_end()
"""
_ends: list = []


def near_end():
    near, far = pair("mine://")
    _ends.append(far)
    return near


class TestATransportOfAnotherPackage(BusContract):
    @pytest.fixture(autouse=True)
    def package(self, tmp_path, monkeypatch):
        facts = tmp_path / "my_line-1.0.dist-info"
        facts.mkdir()
        (tmp_path / "my_line_of_recipes.py").write_text(MODULE)
        (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: my-line\nVersion: 1.0\n")
        (facts / "entry_points.txt").write_text(
            "[tandem.transports]\nmine = my_line_of_recipes:make\n"
        )
        monkeypatch.syspath_prepend(str(tmp_path))

    @asynccontextmanager
    async def wire(self) -> AsyncIterator[Wire]:
        near = open_transport("mine://bench", Bench())
        yield Wire(near, OtherEnd(_ends.pop()))
