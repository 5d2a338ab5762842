"""Faults by name: what may be said, in a URI and in a file, and what each does to a driven car."""

from pathlib import Path

import pytest

from firmware.protocol import codes
from host_bridge.config import load_vehicle
from host_bridge.deploy.hil.host.small_host import SmallHost
from sim_mock import faults
from sim_mock.board.firmware_runner import InProcessRunner
from sim_mock.faults.named import FAULTS, parse_faults, read_scenario
from sim_mock.virtual_car.config import VirtualCarConfig, choices, virtual_car_config

VEHICLE = load_vehicle("f1tenth")
SCENARIOS = sorted((Path(faults.__file__).parent / "scenarios").glob("*.toml"))


def test_several_with_their_times_and_keys():
    assert parse_faults("stuck_servo@3s;lossy_wire:share=0.3@5;dead_encoder:side=left") == [
        {"name": "stuck_servo", "at_s": 3.0},
        {"name": "lossy_wire", "at_s": 5.0, "share": 0.3},
        {"name": "dead_encoder", "at_s": 0.0, "side": "left"},
    ]


REFUSED = {
    "flat_tyre@3s": "no fault 'flat_tyre'; there is stuck_servo, dead_encoder",
    "": "no fault ''; there is",
    "stuck_servo;": "no fault ''; there is",
    "stuck_servo@-1": "stuck_servo.at_s: at_s cannot be that; expected a number from 0",
    "stuck_servo@soon": "stuck_servo.at_s: at_s cannot be that; expected a number from 0",
    "lossy_wire:share=2": "lossy_wire.share: share cannot be that; expected a number from 0 to 1",
    "lossy_wire:loss=1": "lossy_wire.loss: loss is not a key of this table; expected one of share",
    "dead_encoder:side=up": "dead_encoder.side: side cannot be that; expected one of",
    "payload@3s": "payload is there from the start",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_fault_is_refused_with_what_there_is(text):
    with pytest.raises(ValueError) as refusal:  # noqa: PT011 - the text is compared below
        virtual_car_config(VEHICLE, {"fault": text})
    assert REFUSED[text] in str(refusal.value)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"fault": "payload;payload"}, "payload is said twice"),
        ({"fault": "payload", "payload_kg": "2"}, "by an option and by a fault"),
    ],
)
def test_what_is_said_twice_is_refused(query, message):
    with pytest.raises(ValueError, match=message):
        virtual_car_config(VEHICLE, query)


def scenario(tmp_path, text):
    path = tmp_path / "scenario.toml"
    path.write_text(text)
    return str(path)


def test_a_scenario_and_a_uri_say_the_same(tmp_path):
    path = scenario(tmp_path, '[[fault]]\nname = "lossy_wire"\nat_s = 5\nshare = 0.3\n')
    assert read_scenario(path) == parse_faults("lossy_wire:share=0.3@5s")
    both = virtual_car_config(VEHICLE, {"scenario": path, "fault": "stuck_servo@3s"})
    assert [fault["name"] for fault in both.faults] == ["stuck_servo", "lossy_wire"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[fault]]\nat_s = 3\n", r"scenario\.toml:1, .*: a fault without a name; there is"),
        (
            '[[fault]]\nname = "runstop"\n\nwhen = 3\n',
            r"toml:4, .*: runstop\.when: when is not a key of this table; expected no key",
        ),
        (
            '[[fault]]\nname = "runstop"\n[[fault]]\nname = "stuck servo"\n',
            r"scenario\.toml:3, .*: no fault 'stuck servo'; there is",
        ),
        ('title = "x"\nfaults = []\n', r"toml:2, faults: unknown key; there is title"),
        ('title = "nothing goes wrong"\n', r"expected \[\[fault\]\] above each"),
        ('[fault]\nname = "runstop"\n', r"toml:1, fault: expected \[\[fault\]\] above each"),
        ("[[fault]\n", r"scenario\.toml:1: is not TOML"),
    ],
)
def test_a_scenario_that_is_wrong_is_refused_with_its_file(tmp_path, text, message):
    with pytest.raises(ValueError, match=message) as refusal:
        read_scenario(scenario(tmp_path, text))
    assert "scenario.toml" in str(refusal.value)


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_the_scenarios_that_come_with_it_are_right(path):
    assert read_scenario(str(path))
    assert virtual_car_config(VEHICLE, {"scenario": str(path)}).faults


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_the_scenarios_that_come_with_it_are_known_by_their_names(path):
    by_name = virtual_car_config(VEHICLE, {"scenario": path.stem})
    assert by_name.faults == virtual_car_config(VEHICLE, {"scenario": str(path)}).faults
    assert path.stem in [row["name"] for row in choices()["scenarios"] if row["title"]]


def test_a_scenario_of_no_such_name_is_refused_with_those_that_there_are():
    with pytest.raises(ValueError, match="no scenario 'good_day'; there is bad_day, loaded_on_ice"):
        virtual_car_config(VEHICLE, {"scenario": "good_day"})


def test_a_file_that_is_not_there_is_said():
    with pytest.raises(ValueError, match=r"/nowhere\.toml: cannot be read; got No such file"):
        read_scenario("/nowhere.toml")


def test_the_list_names_every_fault_with_its_keys():
    rows = {row["name"]: row["keys"] for row in choices()["faults"]}
    assert rows == {
        name: {key.name: key.default for key in named.keys} for name, named in FAULTS.items()
    }


# --- what they do

SETTLED_MS = 4000  # a car drives at a steady speed by then
SPEED_MM_S = 1500


class Drive:
    """An F1TENTH that somebody drives through its faults, from power-up on."""

    def __init__(self, fault, seed=1, **query):
        config = virtual_car_config(VEHICLE, {"fault": fault, "seed": str(seed), **query})
        self.world = VirtualCarConfig.from_json(config.to_json()).make_world(InProcessRunner)
        self.host = SmallHost(self.world)
        self.host.take_the_wheel()

    def until(self, ms, steer_urad=0):
        self.host.drive(ms - self.world.now_us // 1000, SPEED_MM_S, steer_urad)
        return self

    @property
    def truth(self):
        return self.world.plant.truth


# fault at 4 s -> the state in which a driver finds the car 3 s later, its first cause or its fault
ENDS = {
    "stuck_servo@4s": (codes.ACTIVE, None, None),
    "dead_encoder@4s": (codes.FAULT, None, codes.FAULT_NO_MOTION),
    "stuck_throttle@4s": (codes.FAULT, None, codes.FAULT_RUNAWAY),
    "brown_out@4s": (codes.FAULT, None, codes.FAULT_BROWN_OUT),
    "board_reset@4s": (codes.STANDBY, None, None),
    "program_hang:ms=150@4s": (codes.STOPPED, codes.CAUSE_OVERRUN, None),
    "slow_step@4s": (codes.ACTIVE, None, None),
    "slow_step:ms=31@4s": (codes.STOPPED, codes.CAUSE_OVERRUN, None),
    "slow_step:ms=60@4s": (codes.STOPPED, codes.CAUSE_OVERRUN, None),
    "runstop@4s": (codes.STOPPED, codes.CAUSE_RUNSTOP_LOOP, None),
    "lossy_wire:share=0.1@4s": (codes.ACTIVE, None, None),
    "lossy_wire:share=1@4s": (codes.STOPPED, codes.CAUSE_SILENCE, None),
    "late_wire:ms=30@4s": (codes.ACTIVE, None, None),
    "late_wire:ms=150@4s": (codes.STOPPED, codes.CAUSE_SILENCE, None),
    "host_stall:ms=80@4s": (codes.ACTIVE, None, None),
    "host_stall@4s": (codes.STOPPED, codes.CAUSE_SILENCE, None),
}


@pytest.mark.parametrize("fault", ENDS)
def test_a_fault_comes_at_its_time_and_does_what_it_is_called(fault):
    drive = Drive(fault)
    drive.until(SETTLED_MS - 10)
    assert drive.host.state == codes.ACTIVE
    assert drive.truth.vx_mps == pytest.approx(1.5, rel=0.05)
    drive.until(SETTLED_MS + 4500)
    state, cause, faulty = ENDS[fault]
    status = drive.host.status
    assert drive.host.state in {state, codes.STOPPING} if faulty else drive.host.state == state
    assert cause is None or status.causes == 1 << cause
    assert faulty is None or status.faults >> faulty & 1


def test_a_servo_that_sticks_keeps_its_angle():
    drive = Drive("stuck_servo@4s").until(SETTLED_MS, 50_000)
    before_rad = drive.world.plant.steer_rad
    drive.until(SETTLED_MS + 1000, -200_000)
    assert before_rad == pytest.approx(0.05, rel=0.05)
    assert drive.world.plant.steer_rad == before_rad


def test_one_dead_encoder_keeps_its_count_while_the_other_goes_on():
    drive = Drive("dead_encoder:side=left@4s").until(SETTLED_MS + 50)
    assert drive.world.dead_encoders == {"left"}


def test_an_esc_that_is_not_armed_never_moves_the_car():
    drive = Drive("esc_unarmed").until(SETTLED_MS)
    assert drive.truth.x_m == 0.0
    assert drive.host.status.faults >> codes.FAULT_NO_MOTION & 1


def test_ice_ahead_lets_a_car_slide_that_would_have_held_the_turn():
    slides_mps = []
    for fault in ("slippery_patch:x_m=0,radius_m=50,mu=0.1", "slippery_patch:x_m=-90"):
        drive = Drive(fault).until(SETTLED_MS, 300_000)
        slides_mps.append(abs(drive.truth.vy_mps))
    assert slides_mps[0] > 0.4 > 0.2 > slides_mps[1]


def test_a_payload_makes_the_car_heavier():
    loaded = Drive("payload:kg=2,ahead_m=-0.05").world.plant.parameters.body
    assert loaded.mass_kg == pytest.approx(VEHICLE.plant["body"]["mass_kg"] + 2.0)
    assert loaded.lr_m < VEHICLE.plant["body"]["lr_m"]


def test_the_seed_decides_which_frames_are_lost():
    """The same seed, the same bytes and outputs; another seed, other frames."""
    drives = []
    for seed in (3, 3, 4):
        drive = Drive("lossy_wire:share=0.3@2s", seed).until(2100)
        arrived = []
        drive.world.wire._deliver = arrived.append  # from here on: only who gets through counts
        for number in range(200):
            drive.world.feed(b"\0" + bytes([1 + number]) + b"\0")
        drives.append((drive.host.outputs.hexdigest(), arrived))
    assert drives[0] == drives[1]
    assert drives[0][1] != drives[2][1]
    assert 0.5 < len(drives[0][1]) / 200 < 0.9


def test_a_car_that_nothing_has_befallen_yet_is_any_car():
    """Byte for byte: the wire and the pins that faults take hold of change nothing."""
    faulty = virtual_car_config(VEHICLE, {"fault": "runstop@900s"}).make_world(InProcessRunner)
    plain = virtual_car_config(VEHICLE, {}).make_world(InProcessRunner)
    for world in (faulty, plain):
        host = SmallHost(world)
        host.take_the_wheel()
        host.drive(2000, SPEED_MM_S, 50_000)
    assert faulty.plant.truth.values() == plain.plant.truth.values()
    assert faulty.advance(9_000_000) == plain.advance(9_000_000)
