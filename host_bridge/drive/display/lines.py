"""Prints a drive as lines for people, and as JSON for programs."""

from __future__ import annotations

import json
import os
from typing import Any

from host_bridge.cars.car import ConnectedCar
from host_bridge.cars.car_text import (
    angle_text,
    divergence_lines,
    hitl_text,
    profile_text,
    source_name,
    speed_text,
    status_age_ms,
    who_commands,
)
from host_bridge.cars.fleet import FleetAgreement
from host_bridge.core.texts.table import NO_LINK, source_subject
from host_bridge.drive import FleetDrive
from host_bridge.drive.display.agreement import agreement_text
from host_bridge.drive.display.screen import screen

_EVERY_US = 1_000_000  # a line per car and second, besides the lines on changes


class PlainView:
    """The view that prints each change when it happens, and a line per car and second."""

    def __init__(self) -> None:
        self._shown_texts: dict[str, str] = {}
        self._were_apart = False
        self._next_us = 0

    def screen(self, drive: FleetDrive, now_us: int, columns: int, rows: int) -> list[str]:
        return screen(drive, now_us, columns, rows, has_colours=not os.environ.get("NO_COLOR"))

    def news(self, drive: FleetDrive, now_us: int) -> list[str]:
        lines = [line for car in drive.fleet.cars for line in self._changes(car)]
        lines += self._if_new("", drive.notice)
        lines += self._if_new("log", drive.log_fault_text())
        lines += self._if_new("program", drive.controls.status_text(now_us))
        for car, divergence in zip(drive.fleet.cars[1:], drive.divergences, strict=True):
            alarms = divergence.alarms()
            self._were_apart |= bool(alarms)
            text = "; ".join(str(alarm) for alarm in alarms)
            key = ", ".join(alarm.what for alarm in alarms)
            if self._if_new(f"{car.name} differs", key):
                lines.append(f"{car.name}: {text}")
        if now_us >= self._next_us:
            self._next_us = now_us + _EVERY_US
            lines += [car_line(car, now_us) for car in drive.fleet.cars]
        return lines

    def _changes(self, car: ConnectedCar) -> list[str]:
        state = car.status.shown_state.word if car.status and car.is_online() else NO_LINK
        changes = self._if_new(f"{car.name} hitl", hitl_text(car))
        changes += self._if_new(f"{car.name} state", state)
        return [f"{car.name}: {text}" for text in (*changes, *self._why(car))]

    def _why(self, car: ConnectedCar) -> list[str]:
        return self._if_new(f"{car.name} why", car.why_stopped())

    def _if_new(self, key: str, text: str) -> list[str]:
        is_new = self._shown_texts.get(key, "") != text
        self._shown_texts[key] = text
        return [text] if is_new and text else []

    def summary(self, drive: FleetDrive, now_us: int) -> list[str]:
        """Return lines on what was driven, why it stopped, and whether the cars did the same."""
        lines = [
            f"Drove {drive.lasted_s(now_us):.1f} s by {source_subject(drive.controls.source.name)}."
        ]
        for trip in drive.trips:
            driven = f"{trip.distance_m:.2f} m, at most {trip.top_mps:.2f} m/s"
            lines.append(f"{trip.car.name}: {driven}, {_stops(len(trip.stops))}, {_end(trip.car)}.")
            lines += [f"  {stop}" for stop in trip.stops]
        why = [drive.why_apart()] if self._were_apart or _are_apart(drive) else []
        return [*lines, *_together(drive, now_us), *why, *drive.controls.input.report()]


class JsonView(PlainView):
    """The view that prints a JSON object per car at 10 Hz, and one on the drive at its end."""

    def news(self, drive: FleetDrive, now_us: int) -> list[str]:
        return [json.dumps(_row(drive, car, now_us)) for car in drive.fleet.cars]

    def summary(self, drive: FleetDrive, now_us: int) -> list[str]:
        agreement = drive.fleet.agreement()
        cars = [
            {
                "car": trip.car.name,
                "distance_m": round(trip.distance_m, 4),
                "top_speed_mps": trip.top_mps,
                "stops": trip.stops,
                "state": trip.car.status.state.name if trip.car.status else None,
                "word": trip.car.status.shown_state.word if trip.car.status else None,
            }
            for trip in drive.trips
        ]
        row = {
            "summary": {
                "seconds": round(drive.lasted_s(now_us), 3),
                "source": drive.controls.source.name,
                "is_completed": drive.is_completed,
                "notes": list(drive.notes),
                "refusal": drive.refusal,
                "cars": cars,
                "worst_skew_us": drive.worst_skew_us,
                "agreement": _agreement(agreement) if len(cars) > 1 else None,
                **drive.controls.input.figures(),
            }
        }
        return [json.dumps(row)]


def _agreement(agreement: FleetAgreement) -> dict[str, Any]:
    return {
        "is_equal": agreement.is_equal(),
        "agreed": agreement.agreed,
        "missed": agreement.missed,
        "differs_at": agreement.differs_at,
    }


def _row(drive: FleetDrive, car: ConnectedCar, now_us: int) -> dict[str, Any]:
    row: dict[str, Any] = {"time_us": now_us, "phase": drive.phase.value, "car": car.name}
    row |= {
        "is_linked": car.is_online(),
        "age_ms": status_age_ms(car, now_us),
        "notice": drive.notice,
        "log": drive.log_fault_text(),
    }
    row["program"] = drive.controls.status_text(now_us)
    if car.status:
        row |= {
            "state": car.status.state.name,
            "word": car.status.shown_state.word,
            "profile": car.status.profile.name,
            "stand_left_s": car.stand_left_s(),
            "cap_mps": car.outputs.cap_mps if car.outputs else None,
            "commanded_by": source_name(car, car.status.drive_source) or None,
            "speed_mps": car.status.speed_mps,
            "target_mps": car.status.target_mps,
            "steer_rad": car.status.steer_rad,
            "stop_causes": [cause.name for cause in car.status.causes],
            "why_stopped": car.why_stopped(),
            "claim_count": car.status.claim_count,
            "claim_crc": f"{car.status.claim_crc:08x}",
            "skew_us": drive.skew_us,
        }
    return row


def car_line(car: ConnectedCar, now_us: int) -> str:
    """Return one line on the car's present state."""
    status = car.status
    if status is None or not car.is_online():
        return f"{car.name}: {NO_LINK}"
    age = status_age_ms(car, now_us)
    old = "" if age is None else f"  {age:.0f} ms old"
    profile = profile_text(car)
    state = f"{status.shown_state.word:8}" + (f"  {profile}" if profile else "")
    return (
        f"{car.name}: {state}  {who_commands(car)}  {speed_text(status.speed_mps)}"
        f"  {angle_text(status.steer_rad)}{old}"
    )


def _stops(count: int) -> str:
    return {0: "no stops", 1: "1 stop"}.get(count, f"{count} stops")


def _end(car: ConnectedCar) -> str:
    if car.status is None or not car.is_online():
        return "its link lost at the end"
    return f"now {car.status.shown_state.word}"


def _together(drive: FleetDrive, now_us: int) -> list[str]:
    if not drive.divergences:
        return []
    worst_us = drive.worst_skew_us
    worst = "" if worst_us is None else f", {worst_us * 1e-3:.1f} ms at worst"
    lines = [f"Together: {agreement_text(drive)[0]}{worst}."]
    for car, divergence in zip(drive.fleet.cars[1:], drive.divergences, strict=True):
        lines += [
            f"{car.name}: apart at the end: {text}"
            for text, _ in divergence_lines(divergence, now_us)
        ]
    return lines


def _are_apart(drive: FleetDrive) -> bool:
    return any(it.alarms() for it in drive.divergences)
