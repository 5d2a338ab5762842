"""What other packages may add, each as its page has it: installed, checked by mypy, and run.

All examples are one package outside this repository, which pip installs without a network. Inputs
and vocabularies are driven with by tests of their own, too.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
import tandem
from tandem.transports import DescriptorTransport

from calibration.vehicles.virtual_car import calibrated
from host_bridge.cars.external_stop import ExternalStop, lacks_external, make_stop_source
from host_bridge.config import load_vehicle, vehicle_names
from host_bridge.core import State
from host_bridge.core.errors import DeviceFault, UsageFault, VehicleFileFault
from host_bridge.link.transports.uri import open_transport
from host_bridge.ros2.vocabularies.registry import find_vocabulary
from host_bridge.sharing.services import make_host
from tests.host_bridge.link.contract import Bench, BusContract, Ear, Wire, run_strictly
from tests.host_bridge.page_example import blocks, install_files
from tests.host_bridge.sharing.desk import runtime_folder
from tests.host_bridge.sharing.test_local_socket import Owner
from tests.support import patience
from tests.support.evidence import every

ROOT = Path(__file__).resolve().parents[3]
MODULES = {
    "my_inputs": ROOT / "host_bridge/inputs/README.md",
    "my_transport": ROOT / "host_bridge/link/transports/README.md",
    "my_vocabulary": ROOT / "host_bridge/ros2/vocabularies/README.md",
    "my_stop_source": ROOT / "host_bridge/cars/README.md",
}
VEHICLES = ROOT / "hardware/vehicles/README.md"
CALIBRATIONS = ROOT / "calibration/results/README.md"
FIT = ROOT / "calibration/results/nigel.toml"
ENTRIES = "[project.entry-points."


def example() -> tuple[dict[str, str], str]:
    """Return the files of all pages' examples, and their entry points."""
    files = {f"{module}.py": "".join(blocks(page, "python")) for module, page in MODULES.items()}
    vehicle, vehicle_entry = blocks(VEHICLES, "toml")
    files["my_cars/lab_nigel.toml"] = vehicle
    fit = FIT.read_text(encoding="utf-8")
    files["my_cars/lab_nigel_fit.toml"] = fit.replace('vehicle = "nigel"', 'vehicle = "lab_nigel"')
    files["my_cars/broken.toml"] = "title = 1\n"
    files["my_cars/__init__.py"] = "raise AssertionError('data needs no code to be run')\n"
    more = 'broken = "my_cars:broken.toml"\nother = "my_cars:lab_nigel.toml"\n'
    entries = [entry for page in MODULES.values() for entry in blocks(page, "toml")]
    entries += [vehicle_entry + more, *blocks(CALIBRATIONS, "toml")]
    assert every(entry.startswith(ENTRIES) for entry in entries)
    return files, "\n".join(entries)


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    return install_files(*example(), tmp_path_factory.mktemp("doors"))


@pytest.fixture
def found(installed, monkeypatch):
    monkeypatch.syspath_prepend(installed)
    yield installed
    for module in MODULES:
        sys.modules.pop(module, None)


@pytest.mark.process
@pytest.mark.exhaustive(as_a_whole=True)
def test_all_of_them_are_typed_for_who_checks_strictly_from_outside(installed, pytestconfig):
    """It finds ``tandem`` and its types where pip has put them, not in this folder."""
    cache = pytestconfig.cache.mkdir("mypy-doors")
    done = patience.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(cache),
         *(f"{module}.py" for module in MODULES)],
        cwd=installed,
        text=True,
        within_s=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert f"no issues found in {len(MODULES)} source files" in done.stdout


@pytest.mark.process
def test_an_input_and_a_vocabulary_are_found_by_name(found):
    from host_bridge.drive.controls import make_input

    assert isinstance(make_input("circles:2", {}, lambda: 0), tandem.Input)
    (entry,) = blocks(MODULES["my_vocabulary"], "toml")
    name = entry.splitlines()[1].partition(" =")[0]
    assert find_vocabulary(name).name == name


# --- transports


@pytest.mark.process
class TestTransport(BusContract):
    @pytest.fixture(autouse=True)
    def _place(self, found, tmp_path):
        self.path = tmp_path / "car.sock"

    @asynccontextmanager
    async def wire(self) -> AsyncIterator[Wire]:
        far = Owner(self.path)
        transport = open_transport(f"unix://{self.path}", Bench())
        assert isinstance(transport, DescriptorTransport)
        yield Wire(transport, far)
        transport.close()
        far.end()


@pytest.mark.process
def test_a_transport_says_that_nobody_listens_and_takes_no_unknown_option(found, tmp_path):
    async def run() -> None:
        ear = Ear()
        await open_transport(f"unix://{tmp_path}/none", Bench()).open(ear.on_bytes, ear.on_closed)

    with pytest.raises(DeviceFault, match="nobody listens"):
        run_strictly(run())
    with pytest.raises(UsageFault, match="unknown parameter"):
        open_transport("unix:///x?speed=1", Bench())


# --- stop sources


EXTERNAL = '\n[stop.sources.external]\nstand = "required"\ntrack = "required"\n'
NIGEL = f'base = "nigel"\ntitle = "watched"\n{EXTERNAL}'


@pytest.fixture
def watched(tmp_path, monkeypatch):
    """A virtual car whose file requires ``external``, in lockstep."""
    with runtime_folder(monkeypatch):
        path = tmp_path / "watched.toml"
        path.write_text(NIGEL)
        with tandem.open(f"sim://{path}", lockstep=True) as car:
            yield car


def watch(car: tandem.Car, stop: ExternalStop, seconds: float, speed_mps: float = 0.3) -> None:
    for _ in car.ticks(seconds):
        stop.step(round(car.now_s * 1e6))
        if car.state in (State.ACTIVE, State.HOLD):
            car.drive(speed_mps)


@pytest.mark.process
def test_a_stop_source_stops_a_car_and_its_silence_does(found, watched, tmp_path):
    contact = tmp_path / "door"
    with pytest.raises(tandem.StoppedFault, match="stop program"):
        watched.arm()  # it is required, and not there
    source = make_stop_source(f"door:{contact}")
    assert isinstance(source, tandem.StopSource)
    stop = ExternalStop(watched._driver.car, source)
    contact.touch()
    watch(watched, stop, 0.5)
    watched.arm()
    watch(watched, stop, 1.0)
    assert watched.state is State.ACTIVE
    contact.unlink()
    watch(watched, stop, 0.2)
    assert watched.state in (State.STOPPING, State.STOPPED)
    assert "the stop program" in watched.why_stopped
    assert stop.why.startswith("the door is open")
    contact.touch()
    watch(watched, stop, 2.0)
    watched.clear()
    watched.arm()
    watch(watched, stop, 0.5)
    assert watched.state is State.ACTIVE
    source.step = lambda now_us, car: 1 / 0  # it fails, and is heard no more
    with pytest.raises(ZeroDivisionError):
        stop.step(round(watched.now_s * 1e6))
    for _ in watched.ticks(0.5):
        if watched.state is State.ACTIVE:
            watched.drive(0.3)
    assert watched.state in (State.STOPPING, State.STOPPED)
    assert "the stop program" in watched.why_stopped


def test_a_program_is_never_the_only_one_who_can_stop_a_car(tmp_path):
    text = f'base = "nigel"\nwithout = ["stop.sources"]\ntitle = "alone"\n{EXTERNAL}'
    path = tmp_path / "alone.toml"
    path.write_text(text)
    with pytest.raises(VehicleFileFault, match="no person can stop this vehicle") as refused:
        load_vehicle(str(path))
    assert refused.value.got == "external, which is no person"
    assert "a person operates" in refused.value.remedy


def test_a_car_whose_file_names_no_program_lacks_it():
    assert lacks_external(SimpleNamespace(vehicle=load_vehicle("nigel")))
    assert lacks_external(SimpleNamespace(vehicle=None))


def test_without_its_package_a_stop_source_is_unknown():
    assert "there is no stop source 'door'" in str(make_stop_source("door:/x"))


# --- vehicle files and calibrations


@pytest.mark.process
def test_a_vehicle_file_is_found_by_name_and_no_code_is_run(found):
    assert {"nigel", "lab_nigel"} <= set(vehicle_names())
    vehicle = load_vehicle("lab_nigel")
    assert (vehicle.name, vehicle.speed_max_mps) == ("lab_nigel", 0.4)
    assert Path(vehicle.path).parent == found / "my_cars"
    assert "my_cars" not in sys.modules
    with tandem.open("sim://lab_nigel", lockstep=True) as car:
        assert car.vehicle.title == "Nigel, 1:14, of our lab"
        car.arm()


@pytest.mark.process
def test_a_vehicle_file_of_a_package_is_a_base_and_a_broken_one_hides_no_car(found, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('base = "lab_nigel"\ntitle = "mine"\n')
    assert load_vehicle(str(path)).speed_max_mps == 0.4
    with pytest.raises(VehicleFileFault, match=r"broken\.toml"):
        load_vehicle("broken")
    with pytest.raises(VehicleFileFault, match="by another name than its own"):
        load_vehicle("other")
    with tandem.open("sim://nigel", lockstep=True) as car:
        identity = car.identity
    recognised = make_host().vehicles.recognised(identity)
    assert recognised is not None
    assert recognised.name == "nigel"


@pytest.mark.process
def test_a_calibration_of_a_package_is_the_own_one_of_its_vehicle(found):
    vehicle = load_vehicle("lab_nigel")
    assert calibrated(vehicle, "own").plant != vehicle.plant
    with pytest.raises(VehicleFileFault, match="brings no calibration along"):
        calibrated(load_vehicle("f1tenth"), "own")


# --- the package as such


def test_every_package_that_has_public_types_says_that_it_is_typed():
    for package in (ROOT / "host_bridge/api/tandem", ROOT / "host_bridge", ROOT / "sim_mock"):
        assert (package / "py.typed").is_file()


def test_every_public_name_is_there():
    for module in (tandem, sys.modules["tandem.transports"], __import__("tandem.ros").ros):
        assert module.__all__
        for name in module.__all__:
            assert hasattr(module, name), name
