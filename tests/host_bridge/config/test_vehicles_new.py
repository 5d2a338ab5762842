"""``tandem vehicles new``: a car of one's own becomes a file that passes, and drives."""

import json
import sys
from pathlib import Path

import pytest
import tandem

from calibration.vehicles.board import calibrated_board
from firmware.protocol.codes import HOLD
from host_bridge.cli.main import main
from host_bridge.config import boards, load_vehicle, vehicle_names
from host_bridge.config.new_vehicle.questions import BY_NAME, QUESTIONS, read_answer
from host_bridge.core.errors import DataFileFault, UsageFault, VehicleFileFault
from host_bridge.deploy.hil.host.small_host import RELEASED, SmallHost
from host_bridge.sharing.services import make_host
from sim_mock.faults.running import run
from sim_mock.world import World

SLASH = [
    "--like=f1tenth", "--wheelbase-m=0.324", "--track-m=0.296", "--wheel-radius-m=0.0545",
    "--mass-kg=3.2", "--speed-max-mps=4", "--full-speed-mps=13", "--servo-us=1900,1500,1100",
    "--steer-deg=25", "--encoder=hall", "--magnets=4", "--gyro=no", "--rc=no", "--cells=3",
    "--board=pico",
]  # fmt: skip
# The answers of a person who errs: each is asked again until it can be read
TYPED = (
    "nigle", "f1tenth", "Our Slash", "", "0.29", "54.5", "0.0545", "", "4", "13", "1100,1500",
    "1100, 1500, 1900", "25", "quadrature", "1680", "maybe", "n", "", "", "3",
)  # fmt: skip


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def made(*words):
    assert main(["vehicles", "new", "slash.toml", *words]) == 0
    return load_vehicle("./slash.toml")


def test_a_slash_with_a_hall_sensor_on_a_pico_becomes_two_files_that_pass_their_check(capsys):
    vehicle = made(*SLASH, "--json")
    row = json.loads(capsys.readouterr().out)
    assert row["files"] == ["slash.toml", "slash_pico.toml"]
    assert row["is_wired"]
    assert not row["refusals"]
    assert row["taken_from_base"] == ["title", "link"]
    assert any("tells no direction" in text for text in row["reminders"])
    assert vehicle.wheelbase_m == 0.324
    assert vehicle.reverse_max_mps == 0.0
    assert not vehicle.has_rc
    assert main(["vehicles", "./slash.toml", "--check", "--board", "./slash_pico.toml"]) == 0
    assert (
        "slash on slash_pico (Raspberry Pi Pico): the wiring is in order" in capsys.readouterr().out
    )


def test_a_check_without_a_board_takes_the_board_file_beside_and_refuses_nothing_else(capsys):
    made(*SLASH)
    Path("slash_notes.toml").write_text("bought = 2026-05-01\n")
    capsys.readouterr()
    assert main(["vehicles", "./slash.toml", "--check"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("slash on slash_pico (Raspberry Pi Pico): the wiring is in order")
    assert "not wired" not in shown


def test_a_car_of_ones_own_that_is_wired_nowhere_is_refused_once(capsys):
    made(*SLASH)
    Path("slash_pico.toml").unlink()
    capsys.readouterr()
    assert main(["vehicles", "./slash.toml", "--check"]) == VehicleFileFault.exit_code
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("slash is wired on no board") == 1
    assert "got: none in slash_*.toml beside it, nor in those of Tandem" in shown.err
    assert "remedy: --board FILE" in shown.err


def test_a_shipped_car_that_no_board_can_drive_says_why_once(capsys):
    assert main(["vehicles", "hunter_se", "--check"]) == VehicleFileFault.exit_code
    assert capsys.readouterr().err.count("take speed and angle over CAN") == 1


@pytest.mark.parametrize("like", ["f1tenth", "f1tenth_vesc", "autorally"])
@pytest.mark.parametrize("board", ["pico", "pico2"])
def test_a_car_on_a_computers_uart_gets_two_free_pins_of_one_uart(like, board, capsys):
    words = [f"--like={like}", "--link=uart", f"--board={board}", "--json"]
    if like == "autorally":
        words.append("--magnets=6")
    assert main(["vehicles", "new", "jet.toml", *words]) == 0
    row = json.loads(capsys.readouterr().out)
    assert row["files"] == ["jet.toml", f"jet_{board}.toml"]
    assert not row["refusals"]
    assert main(["vehicles", "./jet.toml", "--check", "--board", f"./jet_{board}.toml"]) == 0
    assert "link = { tx = 0, rx = 1 }" in Path(f"jet_{board}.toml").read_text()


@pytest.mark.parametrize("speed_mps", [0.5, 2.0])
def test_its_virtual_car_holds_a_speed(speed_mps):
    made(*SLASH)
    with tandem.open("sim://./slash.toml", lockstep=True) as car:
        car.arm()
        places_m = []
        for t_s in car.ticks(8.0):
            car.drive(speed_mps, 0.0)
            if t_s >= 5.0:
                places_m.append(car.truth().x_m)
        held_mps = (places_m[-1] - places_m[0]) / 0.01 / (len(places_m) - 1)
        assert held_mps == pytest.approx(speed_mps, rel=0.15)


@pytest.mark.parametrize("speed_mps", [0.8, 1.0, 1.5, 2.0])
def test_its_virtual_car_rolls_out_when_it_is_let_go(speed_mps):
    """A wheel with four magnets tells no direction, so nothing on this car brakes."""
    made(*SLASH)
    host = SmallHost(World(load_vehicle("./slash.toml"), 1))
    host.take_the_wheel()
    host.drive(4000, round(1000 * speed_mps))
    assert host.world.plant.truth.vx_mps == pytest.approx(speed_mps, rel=0.15)
    for _ in range(1000):
        host.claim(round(1000 * speed_mps), 0, RELEASED)
        host.beat()
        assert host.state == HOLD
        assert host.status.faults == 0
        if host.world.plant.truth.vx_mps == 0.0:
            return
    pytest.fail(f"it still rolls at {host.world.plant.truth.vx_mps:.2f} m/s after 10 s")


@pytest.mark.parametrize("case", ["throttle-stuck", "pushed"])
def test_its_virtual_car_runs_away_no_farther_than_any_other(case):
    made(*SLASH)
    assert run(case, load_vehicle("./slash.toml"), 0).wrong == ()


def test_a_person_is_asked_and_asked_again(monkeypatch, capsys):
    answers = iter(TYPED)
    monkeypatch.setattr("builtins.input", lambda _prompt="": next(answers))
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    vehicle = made()
    shown = capsys.readouterr().out
    assert "did you mean nigel?" in shown
    assert "expected: a number from 0.01 to 1" in shown  # millimetres for metres
    assert "expected: three numbers" in shown
    assert "expected: yes or no" in shown
    assert next(answers, None) is None
    assert vehicle.title == "Our Slash"
    assert vehicle.wheelbase_m == 0.33  # ENTER
    assert vehicle.has_rc
    assert {it.name for it in Path().iterdir()} == {"slash.toml", "slash_pico2.toml"}
    assert 'wired_as = "slash"' in Path("slash.toml").read_text()  # no gyro on the board


def test_ctrl_c_at_a_question_writes_nothing(monkeypatch):
    def interrupted(_prompt=""):
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", interrupted)
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    assert main(["vehicles", "new", "slash.toml"]) == 130
    assert list(Path().iterdir()) == []


def test_its_calibration_belongs_on_its_board(tmp_path):
    """The tyre is a little smaller than its file says: other counts per metre than 64 a magnet."""
    vehicle = made(*SLASH)
    Path("own.toml").write_text(
        'vehicle = "slash"\ndate = "2026-05-01"\ncommand = "made"\nmethod = "logs"\n\n'
        '[[data]]\nfile = "a.mcap"\nsha256 = "00"\nkind = "log"\nseconds = 3.0\ntape_m = 3.0\n\n'
        "[parameters.counts_per_m]\nvalue = 755.0\nlow = 750.0\nhigh = 760.0\n"
    )
    board = calibrated_board(vehicle, "own.toml", make_host().vehicles)
    assert board.parameters["nm_per_count"][0] == pytest.approx(1e9 / 755.0, rel=1e-4)


@pytest.mark.parametrize("name", ["slash.toml", "slash_pico.toml"])
def test_nothing_is_overwritten(name, capsys):
    Path(name).write_text("mine")
    assert main(["vehicles", "new", "slash.toml", *SLASH]) == DataFileFault.exit_code
    assert name in capsys.readouterr().err
    assert [(it.name, it.read_text()) for it in Path().iterdir()] == [(name, "mine")]


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["new"], UsageFault.exit_code, "needs the name of its file"),
        (["new", "car"], UsageFault.exit_code, "needs the name of its file"),
        (["new", "my-car.toml"], UsageFault.exit_code, "letters, digits and _"),
        (["new", "car.toml"], UsageFault.exit_code, "--like ANSWER, or a terminal"),
        (["new", "car.toml", "--like", "nigle"], VehicleFileFault.exit_code, "did you mean nigel?"),
        (["new", "car.toml", "--like", "f1tenth", "--encoder", "hall"], UsageFault.exit_code,
         "--magnets ANSWER, or a terminal"),
        (["new", "car.toml", "--like", "f1tenth", "--magnets", "4"], UsageFault.exit_code,
         "--magnets does not concern this car"),
        (["new", "car.toml", "--like", "f1tenth", "--wheelbase-m", "324"], UsageFault.exit_code,
         "a number from 0.05 to 5"),
        (["new", "car.toml", "--like", "f1tenth", "--speed-max-mps", "20"],
         VehicleFileFault.exit_code, "nothing was written"),
        (["nigel", "--wheelbase-m", "0.3"], UsageFault.exit_code, "this belongs to new"),
        (["nigel", "car.toml"], UsageFault.exit_code, "this belongs to new"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_and_nothing_is_written(words, code, told, capsys):
    assert main(["vehicles", *words]) == code
    assert told in capsys.readouterr().err
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize("name", vehicle_names())
def test_any_vehicle_is_a_base_and_unanswered_its_own_numbers_stay(name, capsys):
    wired = [it for it in boards.board_names() if name in boards.load_board(it).wirings]
    board = wired[0] if wired else "pico2"
    assert main(["vehicles", "new", "own.toml", "--like", name, "--board", board]) == 0
    own, base = load_vehicle("./own.toml"), load_vehicle(name)
    differs = {key for key, value in own.parameters.items() if value != base.parameters[key]}
    # one servo's lock is nine tenths of its angle, and its ends are its pulses
    assert differs <= {"steer_max_urad", "curvature_per_10km", *_servo_columns(differs)}, differs
    capsys.readouterr()


def _servo_columns(names):
    return {name for name in names if name.startswith("channel_") or name.startswith("curve")}


def test_a_file_of_ones_own_is_a_base_from_any_folder(tmp_path):
    made(*SLASH)
    (tmp_path / "deeper").mkdir()
    words = ["vehicles", "new", "deeper/other.toml", "--like", "./slash.toml", "--magnets", "8"]
    assert main([*words, "--board", "./slash_pico.toml"]) == 0
    other = load_vehicle(str(tmp_path / "deeper/other.toml"))
    assert other.wheelbase_m == 0.324
    assert other.plant["encoder"]["magnets"] == 8


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda it: it.name)
def test_no_answer_is_believed_that_cannot_be_read(question):
    for text in ("", "\x1b[2J", "nan", "1e999", "-1", "x" * 10):
        if question.kind == "text" and text.isprintable() and text:
            assert read_answer(question, text) == text
            continue
        with pytest.raises(UsageFault) as caught:
            read_answer(question, text)
        assert caught.value.expected


def test_a_decimal_comma_is_read_and_three_pulses_have_to_rise_or_fall():
    assert read_answer(BY_NAME["wheelbase_m"], "0,324") == 0.324
    assert read_answer(BY_NAME["servo_us"], "1900 1500 1100") == (1900.0, 1500.0, 1100.0)
    with pytest.raises(UsageFault):
        read_answer(BY_NAME["servo_us"], "1500,1100,1900")
