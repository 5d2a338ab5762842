"""What a car tells while it runs the program as it was flashed, nothing put to it.

All times are the car's own: each step says when it began.
"""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable, Iterator
from typing import Any

from firmware.core.params import Params
from firmware.protocol import codes, messages
from host_bridge.hil.limits import judged, unmeasured
from host_bridge.hil.port import Mute, Port
from host_bridge.hil.report import Row
from host_bridge.hil.small_host import GAMEPAD, RELEASED, ROS2, SCRIPT, SEAT, Host
from sim_mock.metal import TIME_MASK

ASKED = 20
_SYNC_EVERY = 5  # beats
_CLEARS = 20  # asked for, or waited out while it brakes
_SURE_US, _UNSURE_US, _HELD_US = 7_000, 65_535, 9_000
CAR = "the car's clock"
DRIVING_KEYS = (
    "identify_driving", "step_longest", "frames_damaged", "beats_1", "beats_4", "stop_driving",
)  # fmt: skip


class PacedHost(Host[Port]):
    """A host that keeps the car's time, and answers a Status now and then after a while.

    The board takes a round trip less what the host says it held it; a Sync that comes just before
    a step's beginning has waited least.
    """

    def __init__(self, port: Port) -> None:
        super().__init__(port)
        self._sync_every = 1 << 60  # a Host's own has no time between what comes and what goes
        self._random = random.Random(1)
        self.bound_us = _UNSURE_US

    def _take(self, size: int) -> None:
        super()._take(size)
        report = self.latest.get("ClockReport")
        if report is not None and report.epoch == self.epoch:  # the car tells of others' too
            self.bound_us = report.bound_us

    def beat(self) -> None:
        super().beat()
        if self._beats % _SYNC_EVERY == 0:
            self._sync()

    def _sync(self) -> None:
        port, begun_s = self.world, time.monotonic()
        if self.bound_us > _SURE_US:
            time.sleep(self._random.random() * _HELD_US / port.us_per_s())
        held_us = int((time.monotonic() - begun_s) * port.us_per_s())
        sent_us = port.now_us + held_us & TIME_MASK
        self.say(messages.Sync, board_us=port.now_us, received_us=port.now_us, sent_us=sent_us)


class NotDriving(RuntimeError):
    """The car does not arm, or stopped by itself."""


class Car:
    """One car at a port, asked and driven."""

    def __init__(self, port: Port, speed_mm_s: int, progress: Callable[[str], None]) -> None:
        self.port = port
        self.host = PacedHost(port)
        self._speed_mm_s = speed_mm_s
        self._progress = progress
        self._sequences = dict.fromkeys((SEAT, GAMEPAD, SCRIPT, ROS2), 0)
        self.step_us = 10_000

    def meet(self) -> dict[str, object]:
        """Who it is. Raises Mute."""
        self.port.catch_up()
        self.host.rest(50)
        self.host.connect()
        self.step_us = self.parameter("step_us")
        it = self.host.latest["Identity"]
        return {
            "car": bytes(it.car_name).rstrip(b"\0").decode(errors="replace"),
            "board_id": bytes(it.board_id).hex(),
            "protocol_hash": bytes(it.protocol_hash).hex(),
            "config_hash": bytes(it.config_hash).hex(),
            "step_ms": self.step_us / 1000,
        }

    def parameter(self, name: str) -> int:
        """Ask for one, by its name. Raises Mute."""
        index = Params().index(name)
        for _ in range(ASKED):
            self.host.say(messages.ParameterRead, index=index)
            self.host.rest(50)
            answer = self.host.latest.get("Parameter")
            if answer is not None and answer.index == index:
                return int(answer.value)
        raise Mute(f"{self.port.path}: it does not answer what its {name} is")

    # --- round trips

    def answers_us(self, what: type, answer: str, drive: bool) -> list[int]:
        """From the newest Status before it was sent to the first after the answer: at most that."""
        found = []
        for token in range(1, (ASKED if what is messages.Identify else 1) + 1):
            before_us = self.port.car_us
            self.host.latest.pop(answer, None)
            self.host.say(what, token=token)
            for _ in range(200):
                self._beat(drive)
                heard = self.host.latest.get(answer)
                if heard is not None and heard.token == token:
                    found.append(self.port.car_us - before_us)
                    break
            else:
                raise Mute(f"{self.port.path}: {what.__name__} is not answered in 200 steps")
        return found

    def _beat(self, drive: bool) -> None:
        if drive:
            self.host.claim(self._speed_mm_s)
        self.host.beat()

    def act(self, action: int) -> int:
        """Two steps, each with its answer; returns the refusals. Raises NotDriving."""
        nonce = 0
        for _ in range(2):
            reply = self._act_once(action, nonce)
            nonce = reply.nonce
            if reply.refusals or not nonce:
                break
        return int(reply.refusals)

    def _act_once(self, action: int, nonce: int) -> Any:
        host = self.host
        host.latest.pop("ActReply", None)
        config_hash = bytes(host.latest["Identity"].config_hash)
        host.say(messages.Act, action=action, nonce=nonce, config_hash=config_hash)
        for _ in range(50):
            host.drive(10, deadman=RELEASED)
            if "ActReply" in host.latest:
                return host.latest["ActReply"]
        raise NotDriving(f"an action ({action}) was not answered in 50 steps; {self.why()}")

    def clear(self) -> None:
        for _ in range(_CLEARS):
            self.host.drive(300, deadman=RELEASED)
            if self.host.state == codes.STANDBY and not self.host.status.causes:
                return
            if self.host.state != codes.STOPPING:  # it brakes still, and clears nothing
                self.act(codes.ACTION_CLEAR)
        raise NotDriving(self.why())

    def arm(self) -> None:
        """Raises NotDriving with what speaks against it."""
        host = self.host
        if host.state in (codes.STOPPED, codes.FAULT) or host.status.causes:
            self.clear()
        host.drive(300, deadman=RELEASED)
        refusals = self.act(codes.ACTION_ARM)
        host.drive(200, deadman=RELEASED)
        host.drive(200)  # a hand takes over in neutral; whoever asks for speed at once is not heard
        host.drive(200, self._speed_mm_s)
        if refusals or host.state != codes.ACTIVE:
            raise NotDriving(f"it does not drive: refusals {_bits(refusals)}; {self.why()}")

    def disarm(self) -> None:
        if self.host.state in (codes.ACTIVE, codes.HOLD):
            self.host.drive(1000, deadman=RELEASED)
            self.act(codes.ACTION_DISARM)
        self.host.rest(300)

    def halt(self) -> None:
        """Stop it and wait until it is no longer armed, whatever it does."""
        self.host.stop()
        self.host.rest(1000)

    def why(self) -> str:
        status = self.host.status
        return (
            f"state {status.state}, stop causes {_bits(status.causes)}, faults "
            f"{_bits(status.faults)}, newest events {self.host.events[-6:]} (time, then numbers "
            "of firmware/protocol/codes.py)"
        )

    # --- driving

    def drive_for(self, seconds: float, sources: int) -> dict[str, Any]:
        """What came of it. Raises NotDriving if the car stops by itself."""
        port, host = self.port, self.host
        before, told, inputs = self._counters(), self._missed(), []
        first, begun_us, frames = len(port.intervals_us), port.car_us, port.frames_sent
        received, sent, last_s = port.received, port.sent, 0
        while port.car_us - begun_us < seconds * 1e6:
            self._claims(sources)
            host.beat()
            inputs.append(host.latest["Inputs"].step_10us / 100 if "Inputs" in host.latest else 0)
            if host.state != codes.ACTIVE:
                raise NotDriving(f"it stopped by itself: {self.why()}")
            if (port.car_us - begun_us) // 5_000_000 > last_s:
                last_s += 1
                self._progress(f"{last_s * 5} s of {seconds:g} driven with {sources}")
        took_s = (port.car_us - begun_us) / 1e6
        after = self._counters()
        between = port.intervals_us[first:]
        gaps = max(0, round(sum(between) / self.step_us) - len(between))
        return {
            "seconds": round(took_s, 2),
            "beats": len(between),
            "missed": self._missed() - told,
            "gaps": gaps,
            "late": sum(
                us > 1.5 * self.step_us for us in between
            ),  # and made up for, if not missed
            "longest_interval_ms": max(between) / 1000,
            "longest_step_ms": max(inputs),
            "frames_to_car": port.frames_sent - frames,
            "to_car_bytes_per_s": round((port.sent - sent) / took_s),
            "from_car_bytes_per_s": round((port.received - received) / took_s),
            **{name: after[name] - before[name] for name in after},
        }

    def _claims(self, sources: int) -> None:
        """One source at 100 Hz, or each of several at 50."""
        many = self.claims_a_beat
        if sources == 1:
            for _ in range(many):
                self.host.claim(self._speed_mm_s)
            return
        turn = self.port.steps & 1  # at 10 ms each on every other beat
        for place, source in enumerate((SCRIPT, SEAT, GAMEPAD, ROS2)[:sources]):
            if many > 1 or place & 1 == turn:
                self.claim_of(source, codes.HELD)

    @property
    def claims_a_beat(self) -> int:
        """Of a source at 100 Hz."""
        return max(round(self.step_us / 10_000), 1)

    def claim_of(self, source: int, deadman: int) -> None:
        """Of any source; each has a sequence of its own."""
        self._sequences[source] += 1
        sequence = {} if source == SCRIPT else {"sequence": self._sequences[source] & 0xFFFF}
        self.host.claim(self._speed_mm_s, deadman=deadman, source=source, **sequence)

    def _missed(self) -> int:
        """Since its start, by its own count (modulo 2**16)."""
        inputs = self.host.latest.get("Inputs")
        return inputs.missed if inputs is not None else 0

    def _counters(self) -> dict[str, int]:
        names = ("good", "damaged", "oversized", "unknown", "claims_accepted", "claims_refused")
        counters = self.host.latest.get("LinkCounters")
        return {name: getattr(counters, name, 0) for name in (*names, "unsent")}


def _bits(bits: int) -> list[int]:
    return [number for number in range(32) if bits >> number & 1]


def measure(car: Car, seconds: float) -> Iterator[Row]:
    """Standing by, then driving where the car arms. Leaves it standing by. Raises Mute."""
    yield _answered(car, "identify_answer", messages.Identify, "Identity", False)
    yield _answered(car, "stop_answer", messages.Stop, "StopSeen", False)
    done = set()
    try:
        car.clear()
        car.arm()
        yield _answered(car, "identify_driving", messages.Identify, "Identity", True)
        done.add("identify_driving")
        for sources, key in ((1, "beats_1"), (4, "beats_4")):
            yield from _driven(car, seconds, sources, key)
            done |= {key, "step_longest", "frames_damaged"}
        yield _answered(car, "stop_driving", messages.Stop, "StopSeen", True)
        done.add("stop_driving")
    except NotDriving as error:
        yield from (unmeasured(key, str(error)) for key in DRIVING_KEYS if key not in done)
    with contextlib.suppress(NotDriving):
        car.disarm()
        car.clear()


def _answered(car: Car, key: str, what: type, answer: str, drive: bool) -> Row:
    took = sorted(car.answers_us(what, answer, drive))
    how = f"{len(took)} asked, the longest; at most, to whole steps"
    beat_ms, median_ms = car.step_us / 1000, took[len(took) // 2] / 1000
    return judged(key, took[-1] / 1000, how, CAR, beat_ms, median_ms=median_ms)


def _driven(car: Car, seconds: float, sources: int, key: str) -> Iterator[Row]:
    found = car.drive_for(seconds, sources)
    how = f"{found['seconds']} s, by its own count (a step that ended after the next was due)"
    yield judged(key, found["missed"], how, CAR, **found)
    if sources == 1:
        how = "the longest that it told of (Inputs.step_10us)"
        longest_ms = found["longest_step_ms"]
        yield judged("step_longest", longest_ms, how, "the car's clock", car.step_us / 1000)
        damaged = found["damaged"] + found["oversized"]
        how = f"of {found['frames_to_car']} sent, by the car's count"
        yield judged("frames_damaged", damaged, how, "")
