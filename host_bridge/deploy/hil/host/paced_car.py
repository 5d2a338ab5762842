"""A car at a port, asked and driven in its own time: identified, armed, driven and measured."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from firmware.core.settings.params import Params
from firmware.protocol import codes, messages
from host_bridge.core import CarMatch, KnownCar, another_car_remedy, another_car_text, compare_cars
from host_bridge.core.codes import Action, Cause, EventCode, Fault, Refusal, State
from host_bridge.core.errors import AnotherCarFault
from host_bridge.deploy.hil.host.paced import CLAIM_EVERY_US, PacedHost
from host_bridge.deploy.hil.host.port import NoAnswer, Port
from host_bridge.deploy.hil.host.small_host import GAMEPAD, RELEASED, ROS2, SCRIPT, SEAT

ASKED = 20  # tries: a line that loses one frame in two answers still
_STEERED_URAD, _STEERS = 150_000, 63  # amplitude; claims from one side to the other
_CLEARS = 20  # tries, including waits while it brakes


class NotDriving(RuntimeError):
    """Raised when the car cannot be armed, or stopped by itself."""


class SameBoardCheck:
    """The check that a report stays with one board, however often its power or cable was pulled."""

    def __init__(self) -> None:
        self._known: KnownCar | None = None

    def met(self, seen: KnownCar, where: str) -> None:
        """Note the board. Raises errors.AnotherCarFault for another one than the first."""
        self._known = self._known or seen
        if compare_cars(self._known, seen) is CarMatch.ANOTHER:
            raise AnotherCarFault(
                another_car_text(self._known, seen),
                where=where,
                remedy=another_car_remedy(self._known, seen),
            )


class PacedCar:
    """One car at a port, asked and driven; ``same_board`` checks that the board stays the same."""

    def __init__(
        self,
        port: Port,
        speed_mm_s: int,
        progress: Callable[[str], None],
        same_board: SameBoardCheck,
    ) -> None:
        self.port = port
        self.host = PacedHost(port)
        self._speed_mm_s = speed_mm_s
        self._progress = progress
        self._same_board = same_board
        self._sequences = dict.fromkeys((SEAT, GAMEPAD, SCRIPT, ROS2), 0)

    @property
    def step_us(self) -> int:
        """The car's control period, as it reported it."""
        return self.host.step_us

    def connect(self) -> dict[str, object]:
        """Identify the car and bind; return what it says of its board.

        Raises NoAnswer, errors.AnotherCarFault.
        """
        self.port.catch_up()
        self.host.rest(50)  # ms: some statuses
        self.host.connect()
        it = self.host.latest["Identity"]
        name = bytes(it.car_name).rstrip(b"\0").decode(errors="replace")
        self._same_board.met(KnownCar(bytes(it.board_id), name), self.port.path)
        self.host.step_us = self.parameter("step_us")
        return {
            "car": name,
            "board_id": bytes(it.board_id).hex(),
            "protocol_hash": bytes(it.protocol_hash).hex(),
            "config_hash": bytes(it.config_hash).hex(),
            "step_ms": self.step_us / 1000,
        }

    def parameter(self, name: str) -> int:
        """Return a parameter by its name. Raises NoAnswer."""
        index = Params().index(name)
        for _ in range(ASKED):
            self.host.say(messages.ParameterRead, index=index)
            self.host.rest(50)  # ms: an answer, and a margin
            answer = self.host.latest.get("Parameter")
            if answer is not None and answer.index == index:
                return int(answer.value)
        raise NoAnswer(f"{self.port.path}: it does not answer what its {name} is")

    # --- round trips

    def answers_us(self, what: type, answer: str, drive: bool) -> list[int]:
        """Return upper limits of the round trips, in us.

        Each is from the newest Status before sending to the first Status after the answer.
        """
        found = []
        for token in range(1, (ASKED if what is messages.Identify else 1) + 1):
            before_us = self.port.car_us
            self.host.latest.pop(answer, None)
            self.host.say(what, token=token)
            for _ in range(200):  # steps: two seconds, beyond which no answer comes
                self._beat(drive)
                heard = self.host.latest.get(answer)
                if heard is not None and heard.token == token:
                    found.append(self.port.car_us - before_us)
                    break
            else:
                raise NoAnswer(
                    f"{self.port.path}: the request {what.__name__} is not answered in 200 steps"
                )
        return found

    def _beat(self, drive: bool) -> None:
        if drive:
            self.host.claim(self._speed_mm_s)
        self.host.beat()

    def act(self, action: int) -> int:
        """Perform an action's two steps, each with its answer; return the refusals.

        Raises NotDriving.
        """
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
        for _ in range(50):  # half a second: an answer comes with the next step but one
            host.drive(10, deadman=RELEASED)
            if "ActReply" in host.latest:
                return host.latest["ActReply"]
        asked = Action(action).phrase
        raise NotDriving(f"an action ({asked}) was not answered in 50 steps: {self.why()}")

    def clear(self) -> None:
        for _ in range(_CLEARS):
            self.host.drive(300, deadman=RELEASED)  # ms: it stands, and the cause is gone
            if self.host.state == codes.STANDBY and not self.host.status.causes:
                return
            if self.host.state != codes.STOPPING:  # while it brakes it clears nothing
                self.act(codes.ACTION_CLEAR)
        raise NotDriving(self.why())

    def arm(self) -> None:
        """Arm the car and drive. Raises NotDriving with the reasons against it."""
        host = self.host
        if host.state in (codes.STOPPED, codes.FAULT) or host.status.causes:
            self.clear()
        # ms: six answers to statuses, by which the clock gets good enough to arm
        host.drive(300, deadman=RELEASED)
        refusals = self.act(codes.ACTION_ARM)
        # ms: some claims, so that the source has begun in neutral
        host.drive(200, deadman=RELEASED)
        host.drive(200)  # the source has to begin in neutral before it may ask for speed
        host.drive(200, self._speed_mm_s)  # ms: it is driven
        if refusals or host.state != codes.ACTIVE:
            needs = "; ".join(Refusal(bit).advice for bit in _bits(refusals)) or "nothing refused"
            raise NotDriving(f"it does not drive ({needs}): {self.why()}")

    def disarm(self) -> None:
        if self.host.state in (codes.ACTIVE, codes.HOLD):
            self.host.drive(1000, deadman=RELEASED)
            self.act(codes.ACTION_DISARM)
        self.host.rest(300)  # ms: some statuses

    def halt(self) -> None:
        """Stop it and wait until it is no longer armed, whatever its state."""
        self.host.stop()
        self.host.rest(1000)

    def why(self) -> str:
        """Return the car's reported state, causes, faults and newest events as text."""
        status = self.host.status
        causes = [Cause(bit).phrase for bit in _bits(status.causes)]
        faults = [Fault(bit).phrase for bit in _bits(status.faults)]
        events = [f"{EventCode(code).word} ({a}, {b})" for _, code, a, b in self.host.events[-4:]]
        texts = [State(status.state).word, *causes, *faults]
        return f"{'; '.join(texts)}. Its newest events: {', '.join(events) or 'none'}"

    # --- driving

    def drive_for(self, seconds: float, sources: int) -> dict[str, Any]:
        """Drive for so long and return the figures. Raises NotDriving if the car stops by itself.

        One source claims at 100 Hz by a clock of its own, steering; several at 50 Hz each, in step
        with the car.
        """
        if sources > 1:
            return self._driven_for(seconds, sources)
        with self.host.own_times.every(CLAIM_EVERY_US, self.claim_steering):
            return self._driven_for(seconds, sources)

    def _driven_for(self, seconds: float, sources: int) -> dict[str, Any]:
        port, host = self.port, self.host
        before, missed_before, inputs = self._counters(), self._missed(), []
        first, begun_us, frames = len(port.intervals_us), port.car_us, port.frames_sent
        received, sent, last_s = port.received, port.sent, 0
        while port.car_us - begun_us < seconds * 1e6:
            if sources > 1:
                self._claims(sources)
            host.beat()
            inputs.append(host.latest["Inputs"].step_10us / 100 if "Inputs" in host.latest else 0)
            if host.state != codes.ACTIVE:
                raise NotDriving(f"it stopped by itself: {self.why()}")
            # Progress is told each 5 s
            if (port.car_us - begun_us) // 5_000_000 > last_s:
                last_s += 1
                # 5 s each
                self._progress(f"{last_s * 5} s of {seconds:g} driven with {sources}")
        took_s = (port.car_us - begun_us) / 1e6
        after = self._counters()
        between = port.intervals_us[first:]
        gaps = max(0, round(sum(between) / self.step_us) - len(between))
        return {
            "seconds": round(took_s, 2),
            "beats": len(between),
            "missed": self._missed() - missed_before,
            "gaps": gaps,
            "late": sum(
                # by half a period or more
                us > 1.5 * self.step_us
                for us in between
            ),  # late ones were caught up, unless they count as missed
            "longest_interval_ms": max(between) / 1000,
            "longest_step_ms": max(inputs),
            "frames_to_car": port.frames_sent - frames,
            "to_car_bytes_per_s": round((port.sent - sent) / took_s),
            "from_car_bytes_per_s": round((port.received - received) / took_s),
            **{name: after[name] - before[name] for name in after},
        }

    def claim_steering(self) -> None:
        """Claim the speed, with the steering sweeping from one side to the other and back."""
        along = self.host.sequence % (2 * _STEERS)
        share = min(along, 2 * _STEERS - along) * 2 - _STEERS
        self.host.claim(self._speed_mm_s, share * _STEERED_URAD // _STEERS)

    def _claims(self, sources: int) -> None:
        """Claim 50 times a second for each of several sources."""
        many = self.claims_a_beat
        turn = self.port.steps & 1  # at 10 ms each claims on every other step
        for place, source in enumerate((SCRIPT, SEAT, GAMEPAD, ROS2)[:sources]):
            if many > 1 or place & 1 == turn:
                self.claim_of(source, codes.HELD)

    @property
    def claims_a_beat(self) -> int:
        """The number of claims per control period of a source at 100 Hz."""
        return max(round(self.step_us / 10_000), 1)

    def claim_of(self, source: int, deadman: int) -> None:
        """Claim for any source; each has a sequence of its own."""
        self._sequences[source] += 1
        sequence = {} if source == SCRIPT else {"sequence": self._sequences[source] & 0xFFFF}
        self.host.claim(self._speed_mm_s, deadman=deadman, source=source, **sequence)

    def _missed(self) -> int:
        """Return the missed steps since its start, by its own count (modulo 2**16)."""
        inputs = self.host.latest.get("Inputs")
        return inputs.missed if inputs is not None else 0

    def _counters(self) -> dict[str, int]:
        names = ("good", "damaged", "oversized", "unknown", "claims_accepted", "claims_refused")
        counters = self.host.latest.get("LinkCounters")
        return {name: getattr(counters, name, 0) for name in (*names, "unsent")}


def _bits(bits: int) -> list[int]:
    return [number for number in range(32) if bits >> number & 1]  # bits of a mask
