"""Formats what one car reports as text, the same for the screen, the log and every command."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from shlex import quote

from host_bridge.cars.car import ConnectedCar
from host_bridge.cars.divergence import Divergence
from host_bridge.core import Profile, State, why_nobody_drives
from host_bridge.core.texts.table import source_word, stop_source_word

_HALF_SECOND_US = 500_000  # the seconds of two clocks differ by half of one at most, either way
_SECOND_LOST_US = 2_500_000  # the car's own limit for a lost pulse
_CENTRE_RAD = 0.0005  # a smaller angle (0.03 degrees) is shown without a side
_WITHOUT_NETWORK = ("runstop_loop", "rc", "runstop_box")  # wires and radios of their own


def hitl_text(car: ConnectedCar) -> str:
    """Return a warning that the car's wheels are simulated (HITL); "" for every other car."""
    is_hitl = car.identity is not None and car.identity.is_hitl
    return "HARDWARE IN THE LOOP: a bare board, a plant's wheels" if is_hitl else ""


def speed_text(speed_mps: float) -> str:
    """Format a speed; forward is positive."""
    return f"{speed_mps:+.2f} m/s"


def angle_text(steer_rad: float) -> str:
    """Format a steering angle in degrees, with its side."""
    side = "left" if steer_rad > _CENTRE_RAD else "right" if steer_rad < -_CENTRE_RAD else ""
    return f"{abs(math.degrees(steer_rad)):.1f}° {side}".rstrip()


def source_name(car: ConnectedCar, number: int | None) -> str:
    """Return the name of the source with this number; "" for None."""
    if number is None:
        return ""
    names = [s.name for s in car.vehicle.sources if s.id == number] if car.vehicle else []
    return names[0] if names else f"source {number}"


def source_text(car: ConnectedCar, number: int | None) -> str:
    """Return the word of the source with this number; "" for None."""
    return source_word(source_name(car, number))


def who_commands(car: ConnectedCar) -> str:
    """Return who drives the car, as a phrase; if nobody does, why."""
    status = car.status
    if status is None or not status.state.is_armed:
        return ""
    name = source_text(car, status.drive_source)
    if not name:
        why = why_nobody_drives(car.events)
        return f"nobody drives: {why}" if why else "nobody drives"
    return ", ".join((f"driven by {name}", *others_in_command(car)))


def others_in_command(car: ConnectedCar) -> list[str]:
    """Return the other actuators' sources, where they differ from the drive's."""
    status, outputs = car.status, car.outputs
    if status is None:
        return []
    winners = {
        "steering": status.steering_source,
        "brake": status.brake_source,
        "lights": outputs.lights_source if outputs else None,
    }
    if outputs:
        winners |= {f"aux {n}": one for n, one in enumerate(outputs.aux_sources, 1)}
    return [
        f"{what} by {source_text(car, who)}"
        for what, who in winners.items()
        if who not in (None, status.drive_source)
    ]


def profile_text(car: ConnectedCar) -> str:
    """Return the profile that the car is armed in, if it is not the default of its file.

    Return "" before it is armed.
    """
    status = car.status
    if status is None or status.state in (State.STARTING, State.STANDBY):
        return ""
    if status.profile is Profile.STAND:
        left_s = car.stand_left_s()
        word = Profile.STAND.word
        return word if left_s is None else f"{word}, {left_s:.0f} s left"
    return "" if status.profile is car.profile() else status.profile.word


def cap_text(car: ConnectedCar) -> str:
    """Return the speed cap if it is lower than the vehicle file's limits, else ""."""
    if car.outputs is None or car.vehicle is None or car.status is None:
        return ""
    top_mps = max(car.vehicle.speed_max_mps, car.vehicle.reverse_max_mps)
    # a profile that the file does not offer has no cap of its own: any lower one is told
    known_mps = car.vehicle.profile_caps_mps.get(car.status.profile.name.lower(), top_mps)
    cap_mps = car.outputs.cap_mps
    # a cap that is the same but for the rounding of floats is not shown
    return f"cap {cap_mps:g} m/s" if cap_mps < min(top_mps, known_mps) - 1e-9 else ""


def temperature_text(car: ConnectedCar) -> str:
    """Return the board's temperature; "" without a sensor."""
    degrees_c = car.power.temperature_c if car.power else None
    return "" if degrees_c is None else f"{degrees_c:.0f} °C"


def rc_mode_text(car: ConnectedCar) -> str:
    """Return the position of the RC's mode switch; "" for a car without a receiver."""
    if car.inputs is None or car.vehicle is None or not car.vehicle.has_rc:
        return ""
    mode = car.inputs.rc_mode
    return f"{source_word('rc')} {'no signal' if mode is None else mode.word}"


def stop_sources_text(car: ConnectedCar) -> str:
    """List each registered stop source: there, silent or saying stop; required ones have a *."""
    if car.inputs is None or car.vehicle is None or car.status is None:
        return ""
    profile = car.status.profile.name.lower()
    found = []
    for source in car.vehicle.stop_sources:
        says_stop = source.id in car.inputs.stop_said
        there = "there" if source.id in car.inputs.stop_fresh else "silent"
        mark = "*" if source.needs.get(profile) == "required" else ""
        found.append(f"{stop_source_word(source.name)}{mark} {'SAYS STOP' if says_stop else there}")
    return f"stop sources: {', '.join(found)}"


def other_stop_paths(car: ConnectedCar) -> list[str]:
    """Return the words of what stops the car without this computer and its network, as far as it
    is heard."""
    if car.inputs is None or car.vehicle is None:
        return []
    heard = set(car.inputs.stop_fresh)
    return [stop_source_word(it.name) for it in car.vehicle.stop_sources
            if it.name in _WITHOUT_NETWORK and it.id in heard]  # fmt: skip


def stop_paths_text(car: ConnectedCar) -> str:
    """Tell by which ways the car can be stopped, and whether any needs no network."""
    paths = other_stop_paths(car)
    if paths:
        return f"Stopped by tandem stop, and without a network by: {', '.join(paths)}."
    return (
        "Stopped by tandem stop ALONE, over this computer and its network: no stop box, "
        "transmitter or stop loop is heard."
    )


def host_clock_ahead_us(car: ConnectedCar, now_us: int, unix_us: int) -> int | None:
    """Return how far this host's time of day is ahead of a time receiver's whole seconds, in us.

    None without a receiver. ``now_us`` and ``unix_us`` are the same moment. It is as exact as the
    estimate of the car's clock.
    """
    if car.second is None:
        return None
    began_us = car.connection.clock.host_us(car.second.began_us, now_us)
    if began_us is None or now_us - began_us > _SECOND_LOST_US:
        return None
    at_us = unix_us - (now_us - began_us)
    return (at_us + _HALF_SECOND_US) % (2 * _HALF_SECOND_US) - _HALF_SECOND_US


def pps_offset_text(car: ConnectedCar, now_us: int, unix_us: int) -> str:
    """Return the host clock's offset from the time receiver's pulse; "" without a pulse."""
    ahead_us = host_clock_ahead_us(car, now_us, unix_us)
    return "" if ahead_us is None else f"PPS: this host's clock {ahead_us * 1e-3:+.1f} ms"


def imu_text(car: ConnectedCar) -> str:
    """Return a warning if a fitted IMU does not answer, else ""."""
    if car.inputs is None or car.vehicle is None or not car.vehicle.parameters["gyro_fitted"][0]:
        return ""
    return "" if car.inputs.has_imu else "IMU SILENT"


def step_time_text(car: ConnectedCar) -> str:
    """Return a step's share of its beat, and the missed beats; "" where steps take no time."""
    inputs = car.inputs
    if inputs is None or not (inputs.takes_us or inputs.missed):
        return ""
    words = f"step {inputs.takes_us * 1e-3:.1f} of {inputs.beat_us * 1e-3:g} ms"
    missed = f", {inputs.missed} control periods missed" if inputs.missed else ""
    lately = f", {inputs.missed_lately} OF THE LAST 100" if inputs.missed_lately else ""
    return words + missed + lately


def status_age_ms(car: ConnectedCar, now_us: int) -> float | None:
    """Return the age of the newest status in ms; None while the car's clock is not known."""
    if car.status is None:
        return None
    then_us = car.connection.clock.host_us(car.status.time_us, now_us)
    return None if then_us is None else max(now_us - then_us, 0) * 1e-3


def why_apart(log: Path | None, car: str) -> str:
    """Return by which command the cause is told that a car is apart from its twin.

    ``log`` is the recording of their drive; None where nothing is recorded.
    """
    if log is None:
        command = "of a drive with --record FILE.mcap, tandem replay FILE.mcap"
    else:
        command = f"tandem replay {quote(str(log))} --car {quote(car)}"
    return f"Why {car} and its twin differ: {command}"


def divergence_lines(divergence: Divergence, now_us: int) -> Iterator[tuple[str, bool]]:
    """Yield a line for each quantity that differs too much (True), or else one on all (False)."""
    alarms = divergence.alarms()
    for alarm in alarms:
        since_s = (now_us - (alarm.since_us or now_us)) * 1e-6
        size = f"{alarm.amount:.2f} {alarm.unit}, limit {alarm.limit:.2g}"
        if abs(alarm.amount) > alarm.limit:
            yield f"{alarm.what} DIFFERS: {size}, for {since_s:.1f} s", True
        else:  # an alarm ends only when the limit was kept for a while
            yield f"{alarm.what} DIFFERED until a moment ago: now {size}", True
    if not alarms:
        sizes = [f"{d.what} {d.amount:.2f} {d.unit}" for d in divergence.differences]
        yield "  ".join(sizes) or "nothing to compare yet", False
