"""The parts of a metal day: who is asked, what Ctrl-C leaves, where figures belong."""

import argparse
import json
from pathlib import Path

import pytest

from host_bridge.cli.main import main
from host_bridge.core.errors import INTERRUPTED, DataFileFault, NotHeldFault
from host_bridge.deploy.flash.board.repl import ASK
from host_bridge.deploy.flash.plan import Slots
from host_bridge.deploy.hil import by_hand, flashing, on_chip, parts, power_cuts
from host_bridge.deploy.hil.person import AtTerminal, PersonTimeout, person_here
from host_bridge.deploy.hil.report import pages
from host_bridge.deploy.hil.report.limits import LIMITS
from host_bridge.deploy.hil.report.report import FAIL, PASS
from host_bridge.sharing.services import make_host
from tests.host_bridge.deploy.hil.virtual_bench import Player, VirtualBench, WorldPort
from tests.support.evidence import every

ROOT = Path(__file__).resolve().parents[4]
HANDS = ("runstop", "encoder", "power")
BY_HAND = (*by_hand.RUNSTOP_KEYS, *by_hand.ENCODER_KEYS, *power_cuts.KEYS)


@pytest.fixture(autouse=True)
def no_programs(monkeypatch):
    """What the report says of this machine is asked of programs (git, uname)."""
    monkeypatch.setattr("host_bridge.cli.commands.hil._commit", lambda: "this one")
    monkeypatch.setattr(
        "host_bridge.deploy.hil.report.report.platform.platform", lambda: "this machine"
    )


# --- where figures belong


def flat(text):
    return " ".join(text.split())


@pytest.mark.parametrize("key", LIMITS)
def test_each_row_belongs_to_a_page_that_waits_for_it(key):
    cell = pages.CELLS[key]
    text = flat((ROOT / cell.page).read_text())
    assert flat(cell.words) in text


def test_every_row_of_the_parts_has_its_limit_and_its_page():
    keys = [key for part in parts.PARTS.values() for key in part.keys]
    assert len(keys) == len(set(keys))
    assert every(key in LIMITS and key in pages.CELLS for key in keys)


def test_the_report_names_the_pages(tmp_path):
    out = tmp_path / "report.json"
    csv = tmp_path / "capture.csv"
    csv.write_text("Time [s],D0\n0.0,0\n0.5,1\n0.5015,0\n")
    main(["hil", "--csv", str(csv), "--channel", "esc=D0", "--out", str(out)])
    rows = json.loads(out.read_text())["rows"]
    [row] = [row for row in rows if row["what"] == LIMITS["pulse_width"].what]
    assert row["verdict"] == PASS
    assert row["page"].startswith("firmware/drivers/README.md")
    assert every(row["page"] for row in rows)


# --- who is asked


def day(monkeypatch, tmp_path, only, person=None, bench=None, code=0):
    """The rows of such a day on a virtual bench, by what they are."""
    bench, out = bench or VirtualBench(), tmp_path / "report.json"
    monkeypatch.setattr("host_bridge.cli.commands.hil.HilBench", lambda *_: bench)
    monkeypatch.setattr("host_bridge.cli.commands.hil.person_here", lambda without: person)
    assert main(["hil", bench.link, "--only", only, "--out", str(out)]) == code
    return {row["what"]: row for row in json.loads(out.read_text())["rows"]}


def row_of(rows, key):
    return rows[LIMITS[key].what]


def test_where_nobody_can_be_asked_what_needs_hands_is_not_measured(monkeypatch, tmp_path):
    rows = day(monkeypatch, tmp_path, ",".join(HANDS))
    assert len(rows) == len(LIMITS)
    assert every(row_of(rows, key)["how"] == parts.NO_HANDS for key in BY_HAND)


def test_no_hands_leaves_them_out_at_a_terminal_too(monkeypatch):
    monkeypatch.setattr("sys.stdin", argparse.Namespace(isatty=lambda: True))
    assert person_here(without=True) is None
    assert isinstance(person_here(without=False), AtTerminal)
    monkeypatch.setattr("sys.stdin", argparse.Namespace(isatty=lambda: False))
    assert person_here(without=False) is None


def test_a_terminal_whose_person_has_left_asks_no_more(monkeypatch):
    monkeypatch.setattr("sys.stdin", argparse.Namespace(readline=lambda: ""))
    with pytest.raises(PersonTimeout):
        AtTerminal().ready("ready?")


def test_a_person_goes_through_runstop_encoder_and_power(monkeypatch, tmp_path):
    bench = VirtualBench()

    def loop(is_closed):
        bench.world.runstop_closed = is_closed

    def turn():
        bench.world.plant.by_hand = (168, 168)

    person = Player(
        Open=lambda: loop(False), Close=lambda: loop(True), ENCODER=turn, NOW=bench.pull
    )
    rows = day(monkeypatch, tmp_path, ",".join(HANDS), person, bench)
    assert [row_of(rows, key)["verdict"] for key in BY_HAND[:2]] == [PASS, PASS]
    assert [row_of(rows, key)["verdict"] for key in BY_HAND[3:5]] == [PASS, PASS]
    assert row_of(rows, "encoder_turn")["how"].startswith("needs --vehicle")
    assert "needs a flash" in row_of(rows, "power_trial")["how"]


@pytest.mark.exhaustive(as_a_whole=True)  # whole minutes, for which a person is waited for
def test_a_part_that_nobody_acts_in_leaves_the_others(monkeypatch, tmp_path):
    bench = VirtualBench()
    rows = day(monkeypatch, tmp_path, "runstop,encoder", Player(), bench, code=1)
    assert "not opened within" in row_of(rows, "runstop_hand")["how"]
    assert row_of(rows, "encoder_ahead")["verdict"] == FAIL  # no count is none ahead


def test_ctrl_c_writes_what_was_measured_and_stops_the_car(monkeypatch, tmp_path):
    bench = VirtualBench()

    def interrupt():
        raise KeyboardInterrupt

    def turn():
        bench.world.plant.by_hand = (168, 168)

    person = Player(ENCODER=turn, NOW=interrupt)
    rows = day(monkeypatch, tmp_path, "encoder,power", person, bench, code=INTERRUPTED)
    assert len(rows) == len(LIMITS)
    assert row_of(rows, "encoder_ahead")["verdict"] == PASS
    assert row_of(rows, "power_standby")["how"] == "ended by Ctrl-C"
    assert bench.world.enable is False


def test_parts_after_ctrl_c_are_said_to_be_after_it(monkeypatch, tmp_path):
    def interrupt():
        raise KeyboardInterrupt

    rows = day(
        monkeypatch, tmp_path, "runstop,encoder", Player(RUNSTOP=interrupt), code=INTERRUPTED
    )
    assert row_of(rows, "runstop_hand")["how"] == "ended by Ctrl-C"
    assert row_of(rows, "encoder_ahead")["how"] == parts.ENDED


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["port", "--only", "tolld"], "no part 'tolld'"),
        ([], "neither a port nor a capture is given"),
        (
            ["--csv", "x.csv", "--channel", "wheel=D0"],
            "--channel does not name a part and its column, each once",
        ),
        (["--csv", "x.csv", "--channel", "esc=D0", "--channel", "esc=D1"], "got: esc=D1\n"),
        (["--csv", "x.csv", "--channel", "esc=D0", "--channel", "servo=D0"], "got: servo=D0\n"),
        (["--csv", "x.csv", "--channel", "esc="], "got: esc=\n"),
    ],
)
def test_a_mistake_of_usage_is_told(words, said, capsys):
    assert main(["hil", *words]) == 2
    assert said in capsys.readouterr().err


def test_a_capture_that_is_not_there_is_a_data_files_fault(capsys):
    assert main(["hil", "--csv", "no-such.csv", "--channel", "esc=D0"]) == 7
    assert "cannot be read" in capsys.readouterr().err


def test_a_report_of_an_earlier_hour_is_kept_and_the_board_is_not_touched(tmp_path, capsys):
    report = tmp_path / "hil_report.json"
    report.write_text("an earlier hour")
    assert main(["hil", "/dev/not-there", "--out", str(report)]) == DataFileFault.exit_code
    assert "none is overwritten" in capsys.readouterr().err
    assert report.read_text() == "an earlier hour"


# --- flash


def flash_words(**changes):
    given = {"vehicle": "f1tenth", "board": "pico", "port": "p", "repl": None}
    return argparse.Namespace(**{**given, **changes})


def test_without_a_board_nothing_is_flashed():
    row = flashing.flash(flash_words(board=None), make_host())
    assert row.holds is None
    assert "--board" in row.how


def test_a_car_whose_link_is_a_uart_is_flashed_by_both_ports(monkeypatch):
    taken = []

    def flash(options, host):
        taken.append((options.port, options.repl_port))
        return 1

    monkeypatch.setattr("host_bridge.deploy.flash.flash.flash", flash)
    for repl in (None, "q"):
        with pytest.raises(NotHeldFault):
            flashing.flash(flash_words(repl=repl), make_host())
    assert taken == [("p", "p"), ("p", "q")]


def test_a_flash_that_does_not_end_well_does_not_hold(monkeypatch):
    monkeypatch.setattr("host_bridge.deploy.flash.flash.flash", lambda args, host: 1)
    with pytest.raises(NotHeldFault):
        flashing.flash(flash_words(), make_host())


@pytest.mark.parametrize(("kept", "holds"), [(90, True), (89, False)])
def test_a_flash_counts_its_files(monkeypatch, kept, holds):
    row = {"slot": "a", "sent_files": 4, "kept_files": kept, "files": 94, "program": "x"}
    monkeypatch.setattr(
        "host_bridge.deploy.flash.flash.flash", lambda args, host: print(json.dumps(row)) or 0
    )
    assert flashing.flash(flash_words(), make_host()).holds is holds


class Watching(VirtualBench):
    """Its board's REPL takes a program; what that prints at its end is nothing."""

    def __init__(self):
        super().__init__()
        self.slots = lambda: Slots(0, False, 0)
        self.serial = self
        self.written = []

    def begin(self, code):
        return self

    def write(self, data):
        self.written.append(data)


def test_ctrl_c_while_a_program_measures_on_the_chip_leads_back_to_its_repl(monkeypatch):
    bench, was_armed = Watching(), []
    asked = []
    monkeypatch.setattr(WorldPort, "rest_of_line", lambda *_: b"@@@{}\x04>", raising=False)
    monkeypatch.setattr(
        WorldPort, "feed", lambda port, data: (asked.append(data), port.world.feed(data))
    )

    def drive(car):
        car.arm()
        was_armed.append(bench.world.enable)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        on_chip.watched(bench, "steps", 0, drive)
    assert was_armed == [True]
    assert bench.world.enable is False
    assert asked[-1].endswith(ASK)  # or it would run on, and be reset by nobody
    assert bench.written == [on_chip.PROMPT]
