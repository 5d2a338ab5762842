"""The driving screen fits on 80 columns and 24 rows, and says what the driver has to know."""

import io
import re
from dataclasses import replace

import pytest

from host_bridge.cars.car_text import others_in_command
from host_bridge.cli.output.status_line import LiveLines, status_line
from host_bridge.core import CarEvent, EventCode, State, why_nobody_drives
from host_bridge.drive.display.lines import PlainView
from host_bridge.drive.display.screen import screen
from host_bridge.drive.drive import Phase
from tests.host_bridge.drive.test_drive import Day

_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_CONTROL = re.compile(r"\x1b\[[0-9;]*[A-Z]|\r")


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shown(day, columns=80, rows=99):
    lines = screen(day.drive, day.now_us, columns, rows)
    return [_STYLE.sub("", line) for line in lines]


@pytest.fixture
def day():
    day = Day()
    day.until_phase(Phase.DRIVING)
    return day


def test_a_drive_of_two_cars_fits_and_names_who_commands(day):
    day.drive_off()
    lines = shown(day)
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 24
    text = "\n".join(lines)
    assert "HELD" in text
    assert "driven by driver's seat" in text
    crc = day.rigs[0].car.acceptance.latest.crc
    assert re.search(rf"\d+ claims the same, crc {crc:08x}", text)


def test_who_has_the_other_actuators_is_named_where_it_is_somebody_else(day):
    day.drive_off()
    car = day.rigs[0].car
    assert car.status.drive_source == car.status.steering_source
    assert others_in_command(car) == []
    names = {source.name: source.id for source in car.vehicle.sources}
    car.status = replace(car.status, steering_source=names["gamepad"], brake_source=None)
    car.outputs = replace(car.outputs, lights_source=names["gamepad"])
    assert "driven by driver's seat, steering by pad, lights by pad" in "\n".join(shown(day))
    assert "driver's seat" in status_line(car)
    assert "steering by pad, lights by pad" in status_line(car)


def test_where_nobody_commands_it_says_why(day):
    day.until(lambda: day.is_in(State.HOLD))
    day.advance(0.1)
    assert "nobody drives: nobody holds it" in "\n".join(shown(day))
    assert max(map(len, shown(day))) <= 80


@pytest.mark.parametrize(
    ("losses", "said"),
    [
        ([], ""),
        ([2 << 8 | 0, 1 << 8 | 3], "another one has priority"),  # the later one is of steering
        ([2 << 8 | 0, 3 << 8 | 1], "its command is too old"),
        ([2 << 8 | 77], "unknown (77)"),
    ],
)
def test_why_nobody_drives_is_the_newest_loss_of_the_drive(losses, said):
    events = [CarEvent(n, n, EventCode.SOURCE_LOST, 1, b) for n, b in enumerate(losses)]
    assert why_nobody_drives([*events, CarEvent(9, 9, EventCode.BATTERY, 1, 9)]) == said


def test_two_stopped_cars_and_their_reasons_fit_too(day):
    day.drive_off()
    day.rigs[0].world.runstop_closed = False
    day.until(lambda: day.is_in(State.STOPPED))
    lines = shown(day)
    assert len(lines) <= 24
    text = " ".join(" ".join(lines).split())
    assert re.search(r"Stopped \d s ago because the stop loop was open", text)
    assert "press R to clear it and to arm again" in text


def test_on_60_columns_nothing_is_cut(day):
    day.drive_off()
    lines = shown(day, columns=60)
    assert max(map(len, lines)) <= 60
    assert lines[1].endswith("A/D steer")
    speed, steer = (
        next(it for it in lines if it.startswith(name)) for name in (" speed", " steer")
    )
    assert re.search(r"│.* m/s$", speed)
    assert re.search(r"│.*°$", steer)
    assert re.search(r"refused \d+$", "\n".join(lines), re.MULTILINE)


def test_a_narrow_terminal_cuts_and_does_not_wrap_and_keeps_what_matters(day):
    lines = shown(day, columns=40)
    assert max(map(len, lines)) <= 40
    assert re.fullmatch(r" TANDEM   dri\w* +driver's seat   \d\d:\d\d ", lines[0])
    assert "E stop" in lines[1]


def test_live_lines_go_on_below_where_they_do_not_fit_and_leave_nothing_behind():
    out = Terminal()
    live = LiveLines(out)
    live.draw(["one two three four five six", "seven"], 20)
    live.draw(["one"], 20)
    first, _, second = out.getvalue().partition("\x1b[3A")
    assert _CONTROL.sub("", first).split("\n")[:3] == [
        "one two three four",
        "        five six",
        "seven",
    ]
    assert second == "\rone\x1b[K\n\x1b[J"


def test_who_wants_no_colours_is_shown_none(day, monkeypatch):
    view, colour = PlainView(), re.compile(r"\x1b\[[0-9;]*3\d")
    day.drive_off()
    assert colour.search("".join(view.screen(day.drive, day.now_us, 80, 24)))
    monkeypatch.setenv("NO_COLOR", "1")
    lines = view.screen(day.drive, day.now_us, 80, 24)
    assert not colour.search("".join(lines))
    assert [_STYLE.sub("", line) for line in lines] == shown(day)


def test_left_is_left_on_the_gauge(day):
    day.drive_off()
    for _ in range(3):
        day.press("a")
    day.advance(0.05)
    gauge = next(line for line in shown(day) if line.startswith(" steer"))
    left, _, right = gauge.partition("│")
    assert "█" in left
    assert "█" not in right
    assert "left" in gauge


def test_a_lost_car_is_shown_as_lost(day):
    day.rigs[1].is_plugged = False
    day.until_phase(Phase.STOPPED)
    assert any("blue" in line and "NO LINK" in line for line in shown(day))


def test_a_bare_board_on_a_plant_is_said_to_be_one_on_the_screen_and_in_the_log(day):
    words = "HARDWARE IN THE LOOP"
    assert words not in "\n".join(shown(day))
    car = day.rigs[0].car
    car.identity = replace(car.identity, board_id=b"HITL" + car.identity.board_id[4:])
    assert sum(words in line for line in shown(day)) == 1
    assert max(map(len, shown(day))) <= 80
    view = PlainView()
    assert sum(words in line for line in view.news(day.drive, day.now_us)) == 1
    assert not any(words in line for line in view.news(day.drive, day.now_us))


def test_a_log_says_each_change_once(day):
    view = PlainView()
    day.drive_off()
    assert "red: DRIVING" in view.news(day.drive, day.now_us)
    assert "red: DRIVING" not in view.news(day.drive, day.now_us)
    day.press("e")
    day.until(lambda: day.is_in(State.STOPPED))
    said = view.news(day.drive, day.now_us)
    assert "red: STOPPED" in said
    assert "red: Stopped because the driver's seat (drive@test) asked for a stop." in said


def test_the_summary_says_why_each_car_stopped(day):
    day.drive_off()
    day.press("e")
    day.until(lambda: day.is_in(State.STOPPED))
    text = "\n".join(PlainView().summary(day.drive, day.now_us))
    assert "1 stop, now STOPPED" in text
    assert "the driver's seat (drive@test) asked for a stop" in text
    assert "Together:" in text


def test_beats_that_a_busy_virtual_car_left_out_are_no_losses_of_its_line(day):
    """Its line is this machine's memory: nothing is lost there."""
    rig = day.rigs[0]
    rig.car.connection.statistics.missed_statuses = 205
    assert "  lost 205  " in "\n".join(shown(day)), "of a line of metal"
    rig.car.is_line_lossy = False
    assert "  skipped 205  " in "\n".join(shown(day))


def test_a_low_terminal_loses_what_matters_least_first_and_says_what_else_is_left_out(day):
    day.drive_off()
    day.press("e")
    day.until(lambda: day.is_in(State.STOPPED))
    lines = shown(day, 60)
    assert shown(day, 60, len(lines)) == lines
    few = shown(day, 60, len(lines) - 1)
    assert [line for line in lines if line] == few, "empty lines go first"
    text = " ".join(" ".join(shown(day, 60, 14)).split())
    for words in ("red STOPPED", "blue STOPPED", "press R to clear it and to arm again"):
        assert words in text
    assert text.count("asked for a stop") == 2
    assert not re.search("round trip|claims the same|more lines", text)
    low = shown(day, 60, 6)
    assert len(low) == 6
    assert re.fullmatch(r" \d+ more lines: make the terminal higher", low[-1])


@pytest.mark.parametrize("columns", [60, 80])
def test_cars_of_long_names_are_told_apart_and_nothing_is_cut(day, columns):
    day.drive_off()
    for number, rig in enumerate(day.rigs, 4):
        rig.car.name = f"the-yellow-one-of-lab-{number}"
    whole = " ".join(" ".join(shown(day, 200)).split())
    lines = shown(day, columns)
    assert max(map(len, lines)) <= columns
    text = " ".join(" ".join(lines).split())
    assert text.count("the-yellow-one-of-lab-4") == 1
    assert text.count("the-yellow-one-of-lab-5") == 2, "its own lines, and how far it is apart"
    for words in ("driven by driver's seat", "claims the same, crc", " path 0.", " V "):
        assert text.count(words) == whole.count(words) > 0


def test_claims_that_differ_are_told_on_the_lowest_terminal(day, monkeypatch):
    monkeypatch.setattr(
        "host_bridge.drive.display.screen.agreement_text",
        lambda drive: ("skew 1.0 ms   DIFFERENT claims, at or before number 7", False),
    )
    day.drive_off()
    assert "DIFFERENT claims, at or before number 7" in "\n".join(shown(day, 60, 14))


@pytest.mark.parametrize(("term", "draws"), [("dumb", False), ("xterm", True)])
def test_what_cannot_move_its_cursor_is_not_told_to(monkeypatch, term, draws):
    monkeypatch.setenv("TERM", term)
    out = Terminal()
    live = LiveLines(out)
    live.draw(["one"], 80)
    live.draw(["two"], 80)
    assert ("\x1b" in out.getvalue()) is draws
    assert "one" in out.getvalue()
    assert "two" in out.getvalue()
