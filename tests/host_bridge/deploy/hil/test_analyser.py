"""A logic analyser's capture: what its pulses tell, and which files are none."""

import pytest

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


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        ("Time [s],D0\n0.0,1\n", "no column 'D2'; there is D0"),
        ("Time [s],D2\n", "no samples"),
        ("Time [s],D2\n0.0,high\n", "line 2: expected seconds and a 0 or 1"),
    ],
)
def test_a_file_that_is_no_capture_is_refused_with_what_is_wrong(tmp_path, text, said):
    path = tmp_path / "wrong.csv"
    path.write_text(text)
    with pytest.raises(analyser.BadCapture, match=said):
        analyser.read(path, {"esc": "D2"})
