"""Let twins follow a car that is driven by its own RC receiver.

The leader reports the claims of its receiver, and the followers get the same frames. They are armed
when the leader is, in the same profile, and stopped when it stops; the leader depends on none of
them. Begin to follow before the leader is armed: a leader that is armed already is followed from
its next arming on. Ctrl-C ends: the followers are stopped, and so is a leader that no other program
serves.

examples:
  tandem follow serial:///dev/ttyACM0 sim://f1tenth
  tandem follow f1tenth 'sim://f1tenth?name=twin' --record drive.mcap
  tandem follow f1tenth twin --seconds 60 --json

exit codes: 0 followed; 1 a follower took other claims than its leader; 3 a car was lost or began
anew; 130 ended by Ctrl-C or a signal.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from host_bridge import drive as driving
from host_bridge.cars.car import ConnectedCar
from host_bridge.cars.car_text import divergence_lines, rc_mode_text, why_apart
from host_bridge.cars.following import Follower, Following
from host_bridge.cli.arguments.arg_types import add_seconds
from host_bridge.core.system.running import run_async
from host_bridge.drive.display.lines import car_line
from host_bridge.sharing.services import Host

_EVERY_US = 1_000_000  # a line a second, which a person can read


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("leader", metavar="LEADER", help="the car with the receiver")
    parser.add_argument(
        "followers", metavar="TWIN", nargs="+", help="a car that gets the commands of the leader"
    )
    parser.add_argument(
        "--vehicle", metavar="NAME", help="the vehicle type of cars that do not report one"
    )
    parser.add_argument(
        "--record", type=Path, metavar="FILE.mcap", help="log every byte to this file"
    )
    add_seconds(parser)
    parser.add_argument("--json", action="store_true", help="print lines of JSON")


def run(args: argparse.Namespace, host: Host) -> int:
    """Run the command; return the exit code.

    Raises errors.TandemError.
    """
    plan = driving.FollowOptions(
        leader=args.leader,
        followers=tuple(args.followers),
        vehicle=args.vehicle,
        record=args.record,
        seconds=args.seconds,
    )
    view = FollowJsonLines() if args.json else FollowLines(args.record)
    return run_async(driving.follow(plan, view, host))


class FollowLines:
    """The view that prints each change when it happens, and a line per car and second.

    ``record`` is the log that is written, if any.
    """

    def __init__(self, record: Path | None = None) -> None:
        self._record = record
        self._were_apart = False
        self._shown_texts: dict[str, str] = {}
        self._next_us = 0

    def news(self, following: Following, now_us: int) -> list[str]:
        cars = (following.leader, *(follower.car for follower in following.followers))
        lines = [line for car in cars for line in self._if_new(car.name, car.why_stopped())]
        lines += self._if_new(f"{following.leader.name} radio", rc_mode_text(following.leader))
        for follower in following.followers:
            lines += self._if_new(f"{follower.car.name} notice", follower.notice)
            lines += self._if_new(f"{follower.car.name} differs", _alarms(follower))
            self._were_apart |= bool(_alarms(follower))
        if now_us >= self._next_us:
            self._next_us = now_us + _EVERY_US
            lines += [car_line(car, now_us) for car in cars]
        return lines

    def _if_new(self, key: str, text: str) -> list[str]:
        is_new = self._shown_texts.get(key, "") != text
        self._shown_texts[key] = text
        return [f"{key.split()[0]}: {text}"] if is_new and text else []

    def summary(self, following: Following, now_us: int) -> list[str]:
        """Return lines on whether the cars applied the same claims."""
        lines = [f"{following.forwarded} claims of {following.leader.name} passed on."]
        for follower in following.followers:
            lines.append(f"{follower.car.name}: {_agreed(follower)}.")
            if follower.divergence:
                words = divergence_lines(follower.divergence, now_us)
                lines += [f"{follower.car.name}: apart at the end: {text}" for text, _ in words]
        if self._were_apart or any(_alarms(it) for it in following.followers):
            lines.append(why_apart(self._record, following.leader.name))
        return lines


class FollowJsonLines:
    """The view that prints a JSON object per car ten times a second, and one on all at the end."""

    def news(self, following: Following, now_us: int) -> list[str]:
        cars = (following.leader, *(follower.car for follower in following.followers))
        return [json.dumps(_row(car, now_us)) for car in cars]

    def summary(self, following: Following, now_us: int) -> list[str]:
        rows = [_agreement_row(follower) for follower in following.followers]
        whole = {"forwarded": following.forwarded, "leader": following.leader.name}
        return [json.dumps({"summary": {**whole, "followers": rows}})]


def _row(car: ConnectedCar, now_us: int) -> dict[str, Any]:
    row: dict[str, Any] = {"time_us": now_us, "car": car.name, "is_linked": car.is_online()}
    if car.status:
        row |= {
            "state": car.status.state.name,
            "word": car.status.shown_state.word,
            "profile": car.status.profile.name,
            "speed_mps": car.status.speed_mps,
            "steer_rad": car.status.steer_rad,
            "why_stopped": car.why_stopped(),
            "claim_count": car.status.claim_count,
        }
    return row


def _agreement_row(follower: Follower) -> dict[str, Any]:
    agreement = follower.agreement
    return {
        "car": follower.car.name,
        "is_equal": agreement.is_equal(),
        "agreed": agreement.agreed,
        "missed": agreement.missed,
        "differs_at": agreement.differs_at,
        "crcs": [f"{crc:08x}" for crc in agreement.crcs],
        "state": follower.car.status.state.name if follower.car.status else None,
        "word": follower.car.status.shown_state.word if follower.car.status else None,
        "notice": follower.notice,
    }


def _agreed(follower: Follower) -> str:
    agreement = follower.agreement
    if not agreement.is_equal():
        return f"DIFFERENT claims, at or before number {agreement.differs_at}"
    lost = f", {agreement.missed} lost on the way" if agreement.missed else ""
    return f"{agreement.agreed} claims the same, crc {agreement.crcs[0]:08x} on both{lost}"


def _alarms(follower: Follower) -> str:
    divergence = follower.divergence
    return "; ".join(alarm.what for alarm in divergence.alarms()) if divergence else ""
