"""How numbers of a drive are said, on the screen and in the log alike."""

from __future__ import annotations

import math
from collections.abc import Iterator

from host_bridge.cars.acceptance import newest_common
from host_bridge.cars.car import Car
from host_bridge.cars.divergence import Divergence
from host_bridge.domain import Profile, State, why_nobody_drives
from host_bridge.driving import Drive

_HALF_SECOND_US = 500_000
_SECOND_LOST_US = 2_500_000  # as the car has it
_CENTRE_RAD = 0.0005  # less than a hundredth of a degree is no side


def hitl_words(car: Car) -> str:
    """That no wheel of metal turns; "" for every other car."""
    is_hitl = car.identity is not None and car.identity.is_hitl
    return "HARDWARE IN THE LOOP: a bare board, a plant's wheels" if is_hitl else ""


def speed(speed_mps: float) -> str:
    """Forward is positive."""
    return f"{speed_mps:+.2f} m/s"


def angle(steer_rad: float) -> str:
    """In degrees, with the side."""
    side = "left" if steer_rad > _CENTRE_RAD else "right" if steer_rad < -_CENTRE_RAD else ""
    return f"{abs(math.degrees(steer_rad)):.1f}° {side}".rstrip()


def source_name(car: Car, number: int | None) -> str:
    """ "" is nobody."""
    if number is None:
        return ""
    names = [s.name for s in car.vehicle.sources if s.id == number] if car.vehicle else []
    return names[0] if names else f"source {number}"


def commander(car: Car) -> str:
    """Who commands, as a phrase; if nobody does, why."""
    status = car.status
    if status is None or status.state not in (State.ACTIVE, State.HOLD):
        return ""
    name = source_name(car, status.drive_source)
    if not name:
        why = why_nobody_drives(car.events)
        return f"nobody commands: {why}" if why else "nobody commands"
    return ", ".join((f"commanded by {name}", *others_in_command(car)))


def others_in_command(car: Car) -> list[str]:
    """Who else has something to say than whom the wheels are driven by, and of what."""
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
        f"{what} by {source_name(car, who)}"
        for what, who in winners.items()
        if who not in (None, status.drive_source)
    ]


def profile_words(car: Car) -> str:
    """The profile that it was armed in; "" before that, or if it is the one in its file."""
    status = car.status
    if status is None or status.state in (State.STARTING, State.STANDBY):
        return ""
    if status.profile is Profile.STAND:
        left_s = car.stand_left_s()
        return "STAND" if left_s is None else f"STAND, {left_s:.0f} s left"
    return "" if status.profile is car.profile() else status.profile.name.lower()


def cap_words(car: Car) -> str:
    """What limits its speed besides its vehicle file; "" if nothing does."""
    if car.outputs is None or car.vehicle is None or car.status is None:
        return ""
    of_profile_mps = car.vehicle.profile_caps_mps.get(car.status.profile.name.lower(), 0.0)
    top_mps = max(car.vehicle.speed_max_mps, car.vehicle.reverse_max_mps)
    cap_mps = car.outputs.cap_mps
    return f"cap {cap_mps:g} m/s" if cap_mps < min(top_mps, of_profile_mps) - 1e-9 else ""


def warmth(car: Car) -> str:
    """Where there is a sensor."""
    degrees_c = car.power.temperature_c if car.power else None
    return "" if degrees_c is None else f"{degrees_c:.0f} °C"


def radio_words(car: Car) -> str:
    """What the RC's mode switch says; "" for a car that has no receiver."""
    if car.inputs is None or car.vehicle is None or not car.vehicle.has_rc:
        return ""
    mode = car.inputs.rc_mode
    return "RC no signal" if mode is None else f"RC {mode.name.lower()}"


def stop_source_words(car: Car) -> str:
    """Each registered stop source by name: there, silent or saying stop; needed ones marked."""
    if car.inputs is None or car.vehicle is None or car.status is None:
        return ""
    profile = car.status.profile.name.lower()
    found = []
    for source in car.vehicle.stop_sources:
        says_stop = source.id in car.inputs.stop_said
        there = "there" if source.id in car.inputs.stop_fresh else "silent"
        mark = "*" if source.needs.get(profile) == "required" else ""
        found.append(f"{source.name}{mark} {'SAYS STOP' if says_stop else there}")
    return f"stop sources: {', '.join(found)}"


def host_clock_ahead_us(car: Car, now_us: int, unix_us: int) -> int | None:
    """How far this host's time of day is ahead of a time receiver's whole seconds; None without.

    ``now_us`` and ``unix_us`` are the same moment. It is as exact as the car's clock is known.
    """
    if car.second is None:
        return None
    began_us = car.connection.clock.host_us(car.second.began_us, now_us)
    if began_us is None or now_us - began_us > _SECOND_LOST_US:
        return None
    at_us = unix_us - (now_us - began_us)
    return (at_us + _HALF_SECOND_US) % (2 * _HALF_SECOND_US) - _HALF_SECOND_US


def second_words(car: Car, now_us: int, unix_us: int) -> str:
    """What the time receiver's pulse says; "" while none comes."""
    ahead_us = host_clock_ahead_us(car, now_us, unix_us)
    return "" if ahead_us is None else f"PPS: this host's clock {ahead_us * 1e-3:+.1f} ms"


def imu_words(car: Car) -> str:
    """That it is fitted and does not answer."""
    if car.inputs is None or car.vehicle is None or not car.vehicle.parameters["gyro_fitted"][0]:
        return ""
    return "" if car.inputs.has_imu else "IMU SILENT"


def beat_words(car: Car) -> str:
    """What a step takes of its beat, and how many beats were missed; "" where steps take none."""
    inputs = car.inputs
    if inputs is None or not (inputs.takes_us or inputs.missed):
        return ""
    words = f"step {inputs.takes_us * 1e-3:.1f} of {inputs.beat_us * 1e-3:g} ms"
    missed = f", {inputs.missed} beats missed" if inputs.missed else ""
    lately = f", {inputs.missed_lately} OF THE LAST 100" if inputs.missed_lately else ""
    return words + missed + lately


def age_ms(car: Car, now_us: int) -> float | None:
    """How long ago the newest status was true; None while the car's clock is not known."""
    if car.status is None:
        return None
    then_us = car.connection.clock.host_us(car.status.time_us, now_us)
    return None if then_us is None else max(now_us - then_us, 0) * 1e-3


def together_words(drive: Drive) -> tuple[str, bool]:
    """Skew and agreement of all cars, and whether they took the same bytes."""
    agreement = drive.fleet.agreement()
    skew = "skew not known yet"
    if drive.skew_us is not None:
        skew = f"skew {drive.skew_us * 1e-3:.1f} ms"
    if not agreement.is_equal():
        return f"{skew}   DIFFERENT claims, at or before number {agreement.differs_at}", False
    lost = f", {agreement.missed} lost on the way" if agreement.missed else ""
    return f"{skew}   {agreement.agreed} claims the same{_common_crc(drive)}{lost}", True


def _common_crc(drive: Drive) -> str:
    """The running CRC after the newest claim that all report; it parts at a lost claim."""
    common = newest_common([car.acceptance for car in drive.fleet.cars]) or []
    crcs = {report.crc for report in common}
    return f", crc {crcs.pop():08x}" if len(crcs) == 1 else ""


def difference_words(divergence: Divergence, now_us: int) -> Iterator[tuple[str, bool]]:
    """What differs too much, one line each; else one line about all."""
    alarms = divergence.alarms()
    for alarm in alarms:
        since_s = (now_us - (alarm.since_us or now_us)) * 1e-6
        size = f"{alarm.amount:.2f} {alarm.unit}, limit {alarm.limit:.2g}"
        if abs(alarm.amount) > alarm.limit:
            yield f"{alarm.what} DIFFERS: {size}, for {since_s:.1f} s", True
        else:  # an alarm goes when it was kept for a while
            yield f"{alarm.what} DIFFERED until a moment ago: now {size}", True
    if not alarms:
        sizes = [f"{d.what} {d.amount:.2f} {d.unit}" for d in divergence.differences]
        yield "  ".join(sizes) or "nothing to compare yet", False
