"""A logic analyser's capture: what its pulses tell, and which files are none."""

import codecs
import os

import pytest

from host_bridge.core.errors import DataFileFault
from host_bridge.deploy.hil.report import analyser
from host_bridge.deploy.hil.report.limits import LIMITS
from host_bridge.deploy.hil.report.report import PASS
from tests.firmware.drivers import peers

US = 1e-6


def capture(tmp_path, name="capture.csv"):
    """Power at 0.1 s, neutral pulses from 0.5 s on, driven from 0.8 s, the loop open at 1.0 s."""
    changes = [(0.0, "power", 0), (0.0, "loop", 1), (0.0, "esc", 0), (0.0, "life", 0)]
    changes += [(0.1, "power", 1), (1.0, "loop", 0)]
    for frame in range(40):
        rise_s = 0.5 + 0.02 * frame
        width_us = 1600 if 0.8 <= rise_s < 1.015 else 1500.25
        changes += [(rise_s, "esc", 1), (rise_s + width_us * US, "esc", 0)]
    changes += [(0.9 + 0.0005 * n, "life", n & 1) for n in range(201)]
    levels, lines = {"power": 0, "loop": 0, "esc": 0, "life": 0}, ["; made by a test"]
    lines += ["Time [s],D0,D1,D2,D3"]
    for time_s, part, level in sorted(changes):
        levels[part] = level
        lines.append(f"{time_s:.9f},{','.join(str(v) for v in levels.values())}")
    path = tmp_path / name
    path.write_text("\n".join(lines) + "\n")
    return path


NAMED = {"power": "D0", "loop": "D1", "esc": "D2", "life": "D3"}


def test_a_capture_tells_widths_the_first_pulse_and_what_an_open_loop_does(tmp_path):
    rows = {row.what: row for row in analyser.measure(analyser.read(capture(tmp_path), NAMED))}

    def got(key):
        return float(rows[LIMITS[key].what].got.split()[0])

    assert got("first_pulse") == pytest.approx(0.4, abs=1e-4)
    assert got("pulse_width") == pytest.approx(0.25, abs=0.02)
    assert got("runstop_pulse") == pytest.approx(20, abs=0.1)
    assert got("runstop_life") == pytest.approx(0, abs=1)
    assert rows[LIMITS["first_pulse"].what].verdict == PASS


def test_what_a_capture_does_not_show_is_not_measured(tmp_path):
    channels = analyser.read(capture(tmp_path), {"esc": "D2"})
    verdicts = [row.holds for row in analyser.measure(channels)]
    assert verdicts == [None, True, None, None, None, None, None]


# Drives that are no ESC's pulses: changes of (time, part, level), the loop open at 1.0 s


def opened(tmp_path, changes):
    """What an analyser's rows say of a capture of these changes, by key."""
    changes = [(0.0, "loop", 1), (1.0, "loop", 0), *changes]
    parts = sorted({part for _, part, _ in changes})
    levels, lines = dict.fromkeys(parts, 0) | {"vesc": 1}, [f"Time [s],{','.join(parts)}"]
    for time_s, part, level in sorted(changes):
        levels[part] = level
        lines.append(f"{time_s:.9f},{','.join(str(levels[p]) for p in parts)}")
    path = tmp_path / "capture.csv"
    path.write_text("\n".join(lines) + "\n")
    rows = analyser.measure(analyser.read(path, {part: part for part in parts}))
    keys = {limit.what: key for key, limit in LIMITS.items()}
    return {keys[row.what]: row for row in rows}


def ms(row):
    value, unit = row.got.split()
    assert unit == "ms"
    return float(value)


def brake_pulses(widths_us, first_s=0.9):
    rises = [(first_s + 0.02 * n, us * US) for n, us in enumerate(widths_us)]
    return [e for rise, us in rises for e in ((rise, "brake", 1), (rise + us, "brake", 0))]


def test_a_brake_servo_is_timed_from_the_opening_to_its_first_pulse_of_another_width(tmp_path):
    rows = opened(tmp_path, brake_pulses([1500] * 7 + [1900] * 4))
    assert ms(rows["runstop_brake"]) == pytest.approx(40, abs=0.1)
    assert rows["runstop_brake"].verdict == PASS
    rows = opened(tmp_path, brake_pulses([1500] * 12))
    assert rows["runstop_brake"].holds is None
    assert "went on" in rows["runstop_brake"].how
    assert "not captured" in rows["runstop_word"].how


def serial_line(frames):
    """Bits of 115200 baud; each frame begins at its time."""
    found = []
    for begin_s, frame in frames:
        for n, byte in enumerate(frame):
            bits = [0, *(byte >> k & 1 for k in range(8)), 1]
            at_s = begin_s + n * 10 / 115_200
            found += [(at_s + k / 115_200, "vesc", bit) for k, bit in enumerate(bits)]
    return found


@pytest.mark.parametrize("after", [("current", 0), ("brake", 9000), ("duty", -2000), ("duty", 0)])
def test_a_vesc_is_timed_from_the_opening_to_its_first_word_that_drives_no_more(tmp_path, after):
    numbers = {name: number for number, name in peers.COMMANDS.items()}

    def frame(name, value=None):
        words = b"" if value is None else value.to_bytes(4, "big", signed=True)
        return peers.vesc_frame(bytes([numbers[name]]) + words)

    said = [(0.9 + 0.02 * n, frame("duty", 30_000)) for n in range(6)]  # 1.0 s: begun, not heard
    said += [(0.903 + 0.04 * n, frame("get")) for n in range(5)]
    said += [(1.02 + 0.02 * n, frame(*after)) for n in range(4)]
    rows = opened(tmp_path, serial_line(said))
    assert ms(rows["runstop_word"]) == pytest.approx(20 + 10e3 * 10 / 115_200, abs=0.1)
    rows = opened(tmp_path, serial_line(said[:5]))
    assert rows["runstop_word"].holds is None


def bridge(until_s, ends):
    """Full ahead by a PWM of 1 kHz, until one of its pins ends it."""
    found = [(0.5, "in1", 1), (0.5, "in2", 0), (0.5, "standby", 1)]
    for n in range(800):
        rise_s = 0.5 + n * 1e-3
        if rise_s < until_s or ends != "pwm":
            found += [(rise_s, "pwm", 1), (min(rise_s + 0.6e-3, max(until_s, rise_s)), "pwm", 0)]
    return found if ends == "pwm" else [*found, (until_s, ends, int(ends == "in2"))]


@pytest.mark.parametrize("ends", ["pwm", "in1", "in2", "standby"])
def test_a_bridge_is_timed_from_the_opening_to_its_last_moment_of_driving(tmp_path, ends):
    rows = opened(tmp_path, bridge(1.0003, ends))
    assert ms(rows["runstop_bridge"]) == pytest.approx(0.3, abs=0.02)
    assert rows["runstop_bridge"].verdict == PASS
    assert opened(tmp_path, bridge(0.8, ends))["runstop_bridge"].holds is None


# Ways in which other programs write the same capture


def rewritten(tmp_path, change):
    """What an analyser's rows say of the capture above, its text changed so."""
    path = capture(tmp_path)
    text = change(path.read_text())
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return [(row.what, row.got) for row in analyser.measure(analyser.read(path, NAMED))]


def quoted(text):
    lines = without_remark(text).splitlines()
    return "".join(",".join(f'"{cell}"' for cell in line.split(",")) + "\n" for line in lines)


def with_notes(text):
    head, *rows = without_remark(text).splitlines()
    return "\n".join([f"{head},note", *(f"{row},here" for row in rows)])


def without_remark(text):
    return text.partition("\n")[2]


WAYS = {
    "byte order mark": lambda text: codecs.BOM_UTF8 + text.encode(),
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "CR": lambda text: text.replace("\n", "\r"),
    "semicolons": lambda text: without_remark(text).replace(",", ";"),
    "decimal commas": lambda text: without_remark(text).replace(",", ";").replace(".", ","),
    "tabs": lambda text: text.replace(",", "\t"),
    "quotes": quoted,
    "empty lines": lambda text: text.replace("\n", "\n\n"),
    "remarks of others": lambda text: "# by hand\n" + text + "# the end\n; of it\n",
    "a column of nobody's": with_notes,
    "milliseconds": lambda text: in_unit(text, "ms", 1e3),
    "nanoseconds": lambda text: in_unit(text, "ns", 1e9),
    "microseconds by their sign": lambda text: in_unit(text, "µs", 1e6),
}


def in_unit(text, unit, per_s):
    lines = text.replace("[s]", f"[{unit}]").splitlines()
    rows = (line.partition(",") for line in lines[2:])
    return "\n".join([*lines[:2], *(f"{float(t) * per_s:.6f},{rest}" for t, _, rest in rows)])


@pytest.mark.parametrize("way", WAYS)
def test_a_capture_is_read_as_other_programs_write_it(way, tmp_path):
    wanted = [
        (row.what, row.got) for row in analyser.measure(analyser.read(capture(tmp_path), NAMED))
    ]
    assert rewritten(tmp_path, WAYS[way]) == wanted


def sigrok(rate, unit, samples, head="Time,D0"):
    """A capture as sigrok-cli -O csv:time=true:label=channel:dedup=true writes it.

    It counts samples from 1, each of a whole number of the unit.
    """
    rows = "".join(f"{n * unit},{level}\n" for n, level in samples)
    return f"; CSV generated by libsigrok 0.5.2\n; Samplerate: {rate}\n{head}\n{rows}"


@pytest.mark.parametrize(
    ("rate", "hz", "unit"),
    [("24 MHz", 24e6, 41), ("12 MHz", 12e6, 83), ("1 MHz", 1e6, 1), ("44.1 kHz", 44100, 22),
     ("500 Hz", 500, 2), ("1 kHz", 1e3, 1), ("1 GHz", 1e9, 1)],
)  # fmt: skip
def test_times_of_sigrok_are_made_of_its_rate(rate, hz, unit, tmp_path):
    """At 24 MHz it writes 41 ns for 41.67, so a pulse of 1500 us would be one of 1476."""
    path = tmp_path / "sigrok.csv"
    rise, fall = 10_000, 10_000 + round(1.5e-3 * hz)
    path.write_text(sigrok(rate, unit, [(1, 0), (rise, 1), (fall, 0)]))
    found = analyser.read(path, {"esc": "D0"})["esc"]
    assert list(found.times_s) == pytest.approx([rise / hz, fall / hz], rel=1e-12)


def test_a_capture_tells_how_far_it_is_read(tmp_path):
    path, told = capture(tmp_path), []
    analyser.read(path, NAMED, lambda done, total: told.append((done, total)))
    assert told == [(path.stat().st_size,) * 2]


WRONG = {
    "empty": ("", ":1: is no logic analyser's capture: no names", "Time [s],D0,D1"),
    "zeros": ("\0" * 99, "zero bytes", ""),
    "no column": ("Time [s],D0\n0.0,1\n", ":1: there is no column 'D2'", "of Time [s],D0"),
    "no samples": ("Time [s],D2\n", ":1: no samples in it", "at least one row"),
    "a word": ("Time [s],D2\n0.0,high\n", ":2: esc is not a number", "'high'"),
    "volts": ("Time [s],D2\n0,1\n0.1,3.28\n", ":3: esc is not a number", "'3.28'"),
    "a level of 2": ("Time [s],D2\n0,2\n", ":2: esc is out of range", "got 2"),
    "nan": ("Time [s],D2\n0,1\nnan,0\n", ":3: time is out of range: not a finite", "got nan"),
    "inf": ("Time [s],D2\n-inf,1\n", ":2: time is out of range: not a finite", "got -inf"),
    "backward": ("Time [s],D2\n0.2,1\n0.1,0\n", ":3: time is out of range: time runs", "got 0.1"),
    "a date": ("Time [s],D2\n2026-05-01T10:00:00Z,1\n", ":2: time is not a number", "2026-05"),
    "cut": ("Time [s],D2\n0.0,1\n0.1\n", ":3: wrong number of values", "expected 2; got 1"),
    "a quote": ('Time [s],D2\n"0.0,1\n', ":2: a quote is opened and not closed", ""),
    "commas": ("Time [s],D2\n0,000125,1\n", ":2: wrong number of values", "decimal commas"),
    "no unit": ("Time,D2\n0.1,1\n", ":1: its first column is no time in a unit", "got Time"),
    "no time": ("D1,D2\n0,1\n", ":1: its first column is no time in a unit", "got D1"),
    "sigrok's names": (
        "; Samplerate: 1 MHz\nmicroseconds,logic,logic\n1,0,1\n",
        ":2: there is no column 'D2'",
        "sigrok-cli -O csv:time=true:label=channel",
    ),
    "two columns": ("Time [s],D2,D2\n0,1,0\n", ":1: the column 'D2' is there twice", ""),
    "UTF-16": ("Time [s],D2\n0,1\n".encode("utf-16"), ":1: is not text in UTF-8", "UTF-16"),
    "Latin": (b"Time [s],D2\n0,1\n0.1,\xe4\n", ":3: is not text in UTF-8", "0xe4"),
}


def refusal(path, named=None):
    with pytest.raises(DataFileFault) as raised:
        analyser.read(path, named or {"esc": "D2"})
    fault = raised.value
    said = (
        f"{fault.where}: {fault.what}; expected {fault.expected}; got {fault.got}; {fault.remedy}"
    )
    assert "\n" not in said
    return said


@pytest.mark.parametrize("name", WRONG)
def test_a_file_that_is_no_capture_is_refused_with_its_line(name, tmp_path):
    text, where, more = WRONG[name]
    path = tmp_path / "wrong.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    said = refusal(path)
    assert f"{path}{where}" in said or where in said
    assert more in said


def test_what_is_no_ordinary_file_or_too_large_is_refused_at_once(tmp_path):
    pipe, large, line = tmp_path / "pipe", tmp_path / "large", tmp_path / "line"
    os.mkfifo(pipe)
    assert "got a named pipe" in refusal(pipe)
    assert "got a folder" in refusal(tmp_path)
    with large.open("wb") as file:
        file.truncate(2 << 30)
    assert "at most 1024.0 MiB; got 2048.0 MiB" in refusal(large)
    line.write_bytes(b"Time [s],D2\n" + b"1" * (3 << 20))
    assert ":2: a line is too long to be read" in refusal(line)


def test_the_first_column_is_the_time_and_no_channel(tmp_path):
    path = tmp_path / "capture.csv"
    path.write_text("Time [s],D2\n0,1\n")
    assert "the column esc is missing" in refusal(path, {"esc": "Time [s]"})
