"""Computes what follows from the answers about a car: limits, gains and its virtual car's numbers.

The virtual car is its base's, scaled: what nobody measured keeps its proportion.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, floor, inf, pi, radians, sqrt
from typing import Any

from host_bridge.config.new_vehicle.questions import (
    CELL_LOW_V,
    HALL,
    Answers,
    Tables,
    cells_of,
    servo_of,
)
from host_bridge.config.vehicle.encoder_rules import WINDOW_STEPS
from host_bridge.config.vehicle.schema import PARAMETERS
from host_bridge.config.vehicle.unaided import most_cap_mps, unaided_facts
from host_bridge.core import UNAIDED_MOST_M

_TIMEOUT_MAX_S = PARAMETERS["stop_timeout_ms"][4] / 1e3  # all that the program takes
GIVEN, COMPUTED = "given", "computed"
_COUNTS_PER_MAGNET = 64  # as AutoRally's: the board makes so many of each by time
_CELL_EMPTY_V, _CELL_BROWN_OUT_V = 3.2, 2.8  # under load, as in the shipped files
_LOCK_SHARE = 0.9  # of the measured angle: the rest is for the trim
_STANDSTILL_COUNTS = 1.1  # as f1tenth's: a little more than one count over the program's window
# AutoRally's, whose gap between magnets is 0.102 m: gain times full effort times gap
_TIMED_GAIN_M = 0.08 * 26.0 * 0.102
_TIMED_INTEGRAL = 0.06 * 26.0  # likewise; gain_per_m times full effort
_ROLLS_LONGER = 1.5  # chosen: a smooth floor or a slope, and half as long again is still rolling
_EFFORT_SHARE = 1.2  # chosen: the speed loop corrects by a fifth of full speed's effort
_TENTHS, _HUNDREDTHS = 10.0, 100.0  # of m/s: finer than a cap is ever set by hand


@dataclass(frozen=True)
class KeyLine:
    """One key of the new file: its table, what it says, and the reason for a comment."""

    table: str
    key: str
    value: Any
    reason: str


def lines_of(answers: Answers, tables: Tables) -> list[KeyLine]:
    """Return all keys in which the car differs from its base, in the order of the tables."""
    parts = (_geometry, _limits, _stop, _profiles, _drive, _encoder, _battery, _sources, _plant)
    found = [line for part in parts for line in part(answers, tables) if _differs(line, tables)]
    order = list(dict.fromkeys(line.table for line in found))  # a table is opened once in TOML
    return sorted(found, key=lambda line: order.index(line.table))


def _differs(line: KeyLine, tables: Tables) -> bool:
    if line.reason.startswith(GIVEN):
        return True
    at: Any = tables
    for name in (*line.table.split("."), line.key):
        at = at.get(name) if isinstance(at, dict) else None
    return bool(at != line.value)


def _geometry(a: Answers, _t: Tables) -> Iterator[KeyLine]:
    for key in ("wheelbase_m", "track_m", "wheel_radius_m"):
        yield KeyLine("geometry", key, a[key], GIVEN)


def _limits(a: Answers, t: Tables) -> Iterator[KeyLine]:
    yield KeyLine("limits", "speed_max_mps", a["speed_max_mps"], GIVEN)
    reverse_mps = min(t["limits"]["reverse_max_mps"], a["speed_max_mps"])
    if a["encoder"] == HALL:
        yield KeyLine(
            "limits", "reverse_max_mps", 0.0, f"{COMPUTED}: one sensor tells no direction"
        )
    else:
        yield KeyLine(
            "limits", "reverse_max_mps", reverse_mps, f"{COMPUTED}: no faster than forward"
        )
    if "steer_deg" in a:
        lock_rad = round(_LOCK_SHARE * radians(a["steer_deg"]), 4)
        reason = f"{COMPUTED}: nine tenths of the measured angle, the rest is for the trim"
        yield KeyLine("limits", "steer_max_rad", lock_rad, reason)


def _blind_m(a: Answers, t: Tables) -> float:
    # in whole millimetres, rounded down: two wheelbases and no more; 1e-6 is for binary fractions
    most_m = min(float(t["stop"]["blind_m"]), 2.0 * float(a["wheelbase_m"]))
    return floor(most_m * 1e3 + 1e-6) / 1e3


def count_m(a: Answers) -> float:
    """Return the way of one count, m."""
    return float(2.0 * pi * a["wheel_radius_m"] / counts_per_rev(a))


def counts_per_rev(a: Answers) -> int:
    """Return the counts of a turn of a wheel, of which a board makes some by time for magnets."""
    is_hall = a["encoder"] == HALL
    return int(a["magnets"] * _COUNTS_PER_MAGNET if is_hall else a["counts"])


def _one_count_mps(a: Answers, t: Tables) -> float:
    return count_m(a) / (WINDOW_STEPS * float(t["timing"]["step_s"]))


def _stop(a: Answers, t: Tables) -> Iterator[KeyLine]:
    yield KeyLine("stop", "blind_m", _blind_m(a, t), f"{COMPUTED}: two wheelbases at most")
    if not a.get("rc", True):
        for key in ("may_arm", "may_clear"):
            left = [who for who in t["stop"][key] if who != "rc"]
            yield KeyLine("stop", key, left, f"{COMPUTED}: it has no RC receiver")
    if a["encoder"] == HALL and not unaided_facts(dict(t)).has_brake_servo:
        rolls_s = max(profile_caps_mps(a, t).values()) / t["stop"]["cut_decel_mps2"]
        timeout_s = max(
            t["stop"]["timeout_s"], min(float(ceil(_ROLLS_LONGER * rolls_s)), _TIMEOUT_MAX_S)
        )
        reason = f"{COMPUTED}: it rolls to rest, and is given half as long again"
        yield KeyLine("stop", "timeout_s", timeout_s, reason)
    standstill_mps = max(
        t["stop"]["standstill_mps"], round(_STANDSTILL_COUNTS * _one_count_mps(a, t), 3)
    )
    reason = f"{COMPUTED}: a little more than one count in the time over which speed is measured"
    yield KeyLine("stop", "standstill_mps", standstill_mps, reason)


def _most_mps(a: Answers, t: Tables) -> float:
    """Return the speed to which its caps are lowered, if it is slower than its base."""
    return float(a["speed_max_mps"]) if a["speed_max_mps"] < t["limits"]["speed_max_mps"] else inf


def profile_caps_mps(a: Answers, t: Tables) -> dict[str, float]:
    """Return the cap of each profile, from which the car does not roll too far without power."""
    facts, stop, most_mps = unaided_facts(dict(t)), t["stop"], _most_mps(a, t)
    farthest_mps = floor(_TENTHS * sqrt(2.0 * stop["cut_decel_mps2"] * stop["cut_max_m"])) / _TENTHS
    caps = {}
    for name, profile in t["profiles"].items():
        cap_mps = min(profile["speed_cap_mps"], most_mps, farthest_mps)
        is_far = facts.stop_from(cap_mps).most_m > UNAIDED_MOST_M
        if name == stop["profile"] and t["accepted_coast"] is None and is_far:
            cap_mps = most_cap_mps(facts, cap_mps)
        caps[name] = cap_mps
    return caps


def _profiles(a: Answers, t: Tables) -> Iterator[KeyLine]:
    for name, cap_mps in profile_caps_mps(a, t).items():
        reason = f"{COMPUTED}: no faster than its limits and its roll without power allow"
        yield KeyLine(f"profiles.{name}", "speed_cap_mps", cap_mps, reason)


def _drive(a: Answers, t: Tables) -> Iterator[KeyLine]:
    drive, full_mps = t["drive"], a["full_speed_mps"]
    yield KeyLine("drive", "full_effort_mps", full_mps, GIVEN)
    share = drive["full_effort_mps"] / full_mps  # the same step of speed takes more of a weaker one
    if a["encoder"] == HALL:
        gap_m = 2.0 * pi * a["wheel_radius_m"] / a["magnets"]
        gain, integral = drive["gain_per_mps"] * share, drive["gain_per_m"] * share
        magnets = t["plant"]["encoder"].get("magnets")
        if magnets:
            gain *= 2.0 * pi * t["geometry"]["wheel_radius_m"] / magnets / gap_m
        else:
            gain = min(gain, _TIMED_GAIN_M / gap_m / full_mps)
            integral = min(integral, _TIMED_INTEGRAL / full_mps)
        reason = f"{COMPUTED}: as AutoRally's, by the gap between magnets"
    else:
        own, base = _one_count_mps(a, t), _base_count_mps(t)
        softer = min(1.0, base / own) * share
        gain, integral = drive["gain_per_mps"] * softer, drive["gain_per_m"] * softer
        reason = f"{COMPUTED}: as its base's, by full effort and by the way of a count"
    yield KeyLine("drive", "gain_per_mps", _rounded(gain), reason)
    yield KeyLine("drive", "gain_per_m", _rounded(integral), reason)
    effort = min(
        1.0, max(drive["effort_max"], round(_EFFORT_SHARE * a["speed_max_mps"] / full_mps, 2))
    )
    yield KeyLine(
        "drive", "effort_max", effort, f"{COMPUTED}: a fifth more than its top speed takes"
    )


def _base_count_mps(t: Tables) -> float:
    turn_m = 2.0 * pi * t["geometry"]["wheel_radius_m"]
    window_s = WINDOW_STEPS * float(t["timing"]["step_s"])
    return float(turn_m / t["encoder"]["counts_per_rev"] / window_s)


def _encoder(a: Answers, _t: Tables) -> Iterator[KeyLine]:
    if a["encoder"] == HALL:
        reason = f"{GIVEN}: {a['magnets']} magnets; the board makes {_COUNTS_PER_MAGNET} of each"
        yield KeyLine("encoder", "counts_per_rev", counts_per_rev(a), reason)
        yield KeyLine("encoder", "is_signed", False, f"{GIVEN}: one sensor tells no direction")
    else:
        yield KeyLine("encoder", "counts_per_rev", counts_per_rev(a), GIVEN)
        yield KeyLine("encoder", "is_signed", True, GIVEN)
    yield KeyLine("imu", "gyro_fitted", a["gyro"], GIVEN)


def _battery(a: Answers, _t: Tables) -> Iterator[KeyLine]:
    if "cells" not in a:
        return
    cells = a["cells"]
    for key, volts, why in (
        ("low_v", CELL_LOW_V, "a cell"),
        ("empty_v", _CELL_EMPTY_V, "a cell, under load"),
        ("brown_out_v", _CELL_BROWN_OUT_V, "a cell"),
    ):
        yield KeyLine(
            "battery", key, round(cells * volts, 2), f"{GIVEN}: {cells} of {volts} V {why}"
        )


def _sources(a: Answers, t: Tables) -> Iterator[KeyLine]:
    blind_m = _blind_m(a, t)
    for name, source in t["sources"].items():
        if name == "rc" and not a.get("rc", True):
            continue
        # 1e-6 is for binary fractions
        by_lease_mps = floor(blind_m / source["lease_s"] * _HUNDREDTHS + 1e-6) / _HUNDREDTHS
        cap_mps = min(source["speed_cap_mps"], _most_mps(a, t), by_lease_mps)
        yield KeyLine(f"sources.{name}", "speed_cap_mps", cap_mps, f"{COMPUTED}: lease times cap")


def _plant(a: Answers, t: Tables) -> Iterator[KeyLine]:
    plant, body = t["plant"], t["plant"]["body"]
    longer = a["wheelbase_m"] / t["geometry"]["wheelbase_m"]
    heavier = a["mass_kg"] / body["mass_kg"]
    by = f"{COMPUTED}: its base's, by"
    yield KeyLine("plant.body", "mass_kg", a["mass_kg"], GIVEN)
    yield KeyLine(
        "plant.body", "inertia_z_kgm2", _rounded(body["inertia_z_kgm2"] * heavier * longer**2),
        f"{by} mass and wheelbase",
    )  # fmt: skip
    for key in ("lf_m", "lr_m"):
        yield KeyLine("plant.body", key, _rounded(body[key] * longer), f"{by} wheelbase")
    yield KeyLine("plant.body", "track_m", a["track_m"], GIVEN)
    yield KeyLine("plant.drive", "wheel_radius_m", a["wheel_radius_m"], GIVEN)
    volts = a["cells"] / cells_of(t) if "cells" in a else 1.0
    slower = t["drive"]["full_effort_mps"] / a["full_speed_mps"]
    bigger = a["wheel_radius_m"] / plant["drive"]["wheel_radius_m"]
    emf = _rounded(plant["motor"]["emf_vs_per_rad"] * slower * volts * bigger)
    yield KeyLine("plant.motor", "emf_vs_per_rad", emf, f"{by} full speed, volts and wheel")
    if "cells" in a:
        emf_v = round(plant["battery"]["emf_v"] * volts, 2)
        yield KeyLine("plant.battery", "emf_v", emf_v, f"{by} cells")
    yield from _plant_encoder(a)
    yield from _plant_outline(a, t, longer)


def _plant_encoder(a: Answers) -> Iterator[KeyLine]:
    same = f"{GIVEN}: as in [encoder]"
    yield KeyLine("plant.encoder", "counts_per_rev", counts_per_rev(a), same)
    if a["encoder"] == HALL:
        yield KeyLine("plant.encoder", "magnets", a["magnets"], GIVEN)
        yield KeyLine("plant.encoder", "floor_s", 0.5, "chosen: the board's, then it stands")
    else:
        yield KeyLine("plant.encoder", "magnets", 0, f"{COMPUTED}: its counts are not timed")


def _plant_outline(a: Answers, t: Tables, longer: float) -> Iterator[KeyLine]:
    outline = t["plant"].get("outline")
    if not outline:
        return
    by, length_m = f"{COMPUTED}: its base's, by", _rounded(outline["length_m"] * longer)
    wider = a["track_m"] / t["geometry"]["track_m"]
    yield KeyLine("plant.outline", "length_m", length_m, f"{by} wheelbase")
    yield KeyLine("plant.outline", "width_m", _rounded(outline["width_m"] * wider), f"{by} track")


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")


def servo_line(a: Answers, t: Tables) -> list[dict[str, Any]] | None:
    """Return the channels with the servo's own pulses; None if they were not asked."""
    servo = servo_of(t)
    if servo is None or "servo_us" not in a:
        return None
    right_us, centre_us, left_us = a["servo_us"]
    angle_rad = round(radians(a["steer_deg"]), 4)
    points = [[-angle_rad, right_us], [0.0, centre_us], [angle_rad, left_us]]
    own = {
        "points": points,
        "low_us": min(right_us, left_us),
        "high_us": max(right_us, left_us),
    }
    return [{**it, **own} if it is servo else dict(it) for it in t["channels"]]
