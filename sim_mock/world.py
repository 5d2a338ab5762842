"""One virtual car: its program, its plant and its sensors in lockstep, in virtual time.

Time passes only by ``advance`` and ``beat``: the caller decides whether a second takes a second.
The plant takes steps of 1 ms, the program one beat every ``step_us`` of its configuration, later
where its steps are made to take longer (``step_takes_us``; else they take no time at all).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from firmware.boards.simulated.virtual import RECEIVE_SIZE, SEND_SIZE
from firmware.core.settings.params import CHANNEL_BRAKE, CHANNEL_ESC, CHANNEL_H_BRIDGE
from firmware.protocol.codes import RESET_POWER_ON, RESET_WATCHDOG
from sim_mock.board.firmware_runner import FirmwareRunner, InProcessRunner, ProgramLost
from sim_mock.board.hardware import TIME_MASK, WATCHDOG_US, BoardHardware
from sim_mock.board.stored_image import VehicleSpec, board_id_of, stored_image
from sim_mock.board.transmitter import Transmitter
from sim_mock.plant.parameters import Patch, PlantParameters
from sim_mock.plant.vehicle_plant import Plant

# 1 ms: the stiffest of these plants is stable, and ten of them are a step of a car
PLANT_STEP_US = 1000
_PLANT_STEP_S = PLANT_STEP_US * 1e-6
FOREVER_US = 1 << 62
PlanarPose = tuple[float, float, float]  # x and y in m, yaw in rad
_MADE_UP_US = 25_000  # as in firmware/boards/start.py, which is for real boards and not imported


def plant_of(
    vehicle: VehicleSpec,
    seed: int,
    payload_kg: float = 0.0,
    payload_x_m: float = 0.0,
    patches: Sequence[Patch] = (),
) -> Plant:
    """Return the vehicle's plant, with a load and slippery patches if any are given.

    Raises ValueError, also for a model that it cannot have.
    """
    table = {**vehicle.plant, "channels": list(vehicle.channels)}
    parameters = PlantParameters.from_mapping(table)
    if payload_kg:
        parameters = parameters.with_payload(payload_kg, payload_x_m)
    if patches:
        parameters = parameters.with_patches(tuple(patches))
    if not parameters.model:
        return Plant(parameters, seed)
    from sim_mock.bodies.table import with_model  # most cars need none of these models

    if payload_kg or patches:
        raise ValueError(
            f"model={parameters.model} knows of no payload and no patches: leave out one"
        )
    parameters, moves = with_model(
        parameters, vehicle.name, vehicle.parameters, PLANT_STEP_US * 1e-6
    )
    return Plant(parameters, seed, moves)


@dataclass(slots=True)
class PoseFault:
    """The faults of a car's poses from now on.

    ``is_frozen``: the last one is said again, under the times of newer ones. ``late_us``: each
    arrives so much later, with its own time in it. ``offset``: it is so far off, ahead and to the
    left of the car in m, and turned in rad.
    """

    is_frozen: bool = False
    late_us: int = 0
    offset: PlanarPose = (0.0, 0.0, 0.0)


class World:
    """One virtual car in virtual time.

    ``start_us`` is where the board's clock begins; ``feed`` is the link towards the car. ``board``
    is the name of the board itself, if it differs from the car's.
    """

    def __init__(  # noqa: PLR0915 - the list of its parts
        self,
        vehicle: VehicleSpec,
        seed: int = 0,
        *,
        name: str | None = None,
        board: str = "",
        plant: Plant | None = None,
        runner: Callable[[bytes, bytes, int], FirmwareRunner] = InProcessRunner,
        image: bytes | None = None,
        start_us: int = 0,
    ) -> None:
        self.name = name or vehicle.name
        self.board_id = board_id_of(board or self.name)
        self.plant = plant or plant_of(vehicle, seed)
        self.now_us = start_us
        self.step_us = self.interval_us = vehicle.parameters["step_us"][0]
        self.step_takes_us = 0
        kinds = vehicle.parameters["channel_kind"]
        self.hardware = BoardHardware(
            [i for i, kind in enumerate(kinds) if kind == CHANNEL_BRAKE],
            [i for i, kind in enumerate(kinds) if kind in (CHANNEL_ESC, CHANNEL_H_BRIDGE)],
            vehicle.parameters["loop_brake_ms"][0] > 0,
        )
        self.charger = False
        self.temperature_c = 25  # degrees: a room
        self.transmitter: Transmitter | None = None  # none: no receiver is wired to the board
        self.dead_encoders: set[str] = set()  # "left", "right": these keep their last counts
        self._counts = (0, 0)
        self._parameters = vehicle.parameters
        self.link_room = SEND_SIZE  # bytes per step that the host's end accepts
        self.observers: list[Callable[[World], None]] = []  # called after each step of the plant
        self.pose_fault = PoseFault()  # of whoever says where the car is
        if image is None:
            image = stored_image(vehicle, self.board_id, self.name)
        self._runner = runner
        self._seed = seed
        self.runner = runner(self.board_id, image, seed)
        self.reset_cause = RESET_POWER_ON
        self.failed_starts = 0
        self._is_healthy = False
        self._stepped_us = start_us
        self._hangs_until_us = start_us
        self._has_hung = False
        self._late_us = 0  # delay of the program's next step after its beat
        self._took_us = 0  # duration of its last step, plus that step's delay
        self.losses: list[ProgramLost] = []  # each time that the program ended by itself, or hung
        self._incoming = bytearray()
        self._next_beat_us = start_us

    def feed(self, data: bytes) -> None:
        """Take bytes that arrive at the car before its next beat.

        As on a board, it holds as many as one step reads; what exceeds that is lost.
        """
        self._incoming += data[: self.feed_room]

    @property
    def feed_room(self) -> int:
        """The number of bytes that it still accepts before the next beat."""
        return RECEIVE_SIZE - len(self._incoming)

    def advance(self, until_us: int) -> bytes:
        """Run up to and including ``until_us``; return what the car sent on the way."""
        sent = bytearray()
        while self._next_beat_us <= until_us:
            sent += self.beat(self._next_beat_us)
        self._run_plant(until_us)
        return bytes(sent)

    @property
    def values(self) -> Sequence[int]:
        """The values on the output wires, by channel."""
        return self.hardware.outputs

    @property
    def enable(self) -> bool:
        """True while the drive has power."""
        return self.hardware.enable

    @property
    def runstop_closed(self) -> bool:
        """True while the runstop loop at the board's pin is closed."""
        return self.hardware.runstop_closed

    @runstop_closed.setter
    def runstop_closed(self, is_closed: bool) -> None:
        self.hardware.turn_loop(is_closed, self.now_us)

    def attach_rc(self, hand: type[Transmitter] = Transmitter) -> Transmitter:
        """Wire a receiver to the board, and switch its transmitter on."""
        self.transmitter = hand(self._parameters)
        return self.transmitter

    def beat(self, now_us: int) -> bytes:
        """Run the plant up to ``now_us`` and take one beat then; for callers in real time.

        A beat that comes late by the clock is late for the program too, as on a board: its clock
        must be as steady as the one that it is compared with. A program that hangs or has ended
        takes no beat; the watchdog restarts it.
        """
        self._run_plant(now_us)
        received = bytes(self._incoming[:RECEIVE_SIZE])
        del self._incoming[:RECEIVE_SIZE]
        if now_us < self._hangs_until_us:
            if now_us - self._stepped_us >= WATCHDOG_US and self.hardware.has_power:
                self.restart(RESET_WATCHDOG)
            self._go_on(now_us, self.step_us)
            return b""
        sent = self._step(now_us, received)
        self._pass_step(now_us)
        return sent

    def _go_on(self, now_us: int, interval_us: int) -> None:
        self.interval_us = interval_us
        self._next_beat_us = now_us + interval_us

    def _pass_step(self, now_us: int) -> None:
        """Schedule the next beat as on a board (firmware/boards/start.py).

        The time that a step took is made up for by the next ones, but beats that are over are
        skipped.
        """
        took_us = self._late_us + self.step_takes_us
        self._took_us = took_us
        late_us = max(took_us - self.step_us, 0)
        if late_us > min(self.step_us, _MADE_UP_US - self.step_us):
            late_us = 0
        interval_us = self.step_us + late_us - self._late_us
        self._late_us = late_us
        self._go_on(now_us, max(interval_us, self.step_takes_us))

    def _step(self, now_us: int, received: bytes) -> bytes:
        readings = self._readings(now_us)
        self.hardware.read()
        try:
            beat = self.runner.step(
                now_us & TIME_MASK, readings, self.hardware.readings(), received
            )
        except ProgramLost as loss:
            self.losses.append(loss)
            self._hangs_until_us = FOREVER_US
            return b""
        self._stepped_us = now_us
        self.step_us = beat.step_us or self.step_us  # a new configuration may have changed it
        self._is_healthy |= beat.is_healthy
        self.hardware.write(beat, now_us)
        return beat.sent

    def hang(self, for_us: int, interrupts_too: bool = False) -> None:
        """Stop the program's loop for a while, and its interrupts too if asked."""
        self._hangs_until_us = self._next_beat_us + for_us
        self._has_hung = True
        self.hardware.guard_is_dead = interrupts_too

    def lose_power(self) -> None:
        """Pull the battery's plug: the board, motors and servos are off until ``restore_power``."""
        self._hangs_until_us = FOREVER_US
        self.hardware.has_power = False
        self.plant.has_power = False

    def restore_power(self) -> None:
        """Restart the board, if it had no power."""
        if not self.hardware.has_power:
            self.hardware.has_power = self.plant.has_power = True
            self.restart(RESET_POWER_ON)

    def restart(self, cause: int) -> None:
        """Restart the board, for a ``RESET_`` cause, with what it has stored."""
        image = self.runner.image()
        self.runner.close()
        self.failed_starts = 0 if self._is_healthy else self.failed_starts + 1
        self._is_healthy = False
        self.reset_cause = cause
        self._hangs_until_us = self.now_us
        self._late_us = self._took_us = 0
        self.hardware.restart()
        self._seed += 1  # a restarted board draws other random numbers, and another epoch
        self.runner = self._runner(self.board_id, image, self._seed)
        self._stepped_us = self.now_us

    def reseed(self, seed: int) -> None:
        """Begin all chance of the car's surroundings anew; what it has drawn until now stays.

        The board's own numbers, of which its nonces are made, go on.
        """
        self._seed = seed
        self.plant.imu.reseed(seed)

    def _run_plant(self, until_us: int) -> None:
        hardware = self.hardware
        while self.now_us + PLANT_STEP_US <= until_us:
            self.now_us += PLANT_STEP_US
            is_hanging = self.now_us < self._hangs_until_us
            if not is_hanging:
                hardware.guard_is_dead = False
            is_away = is_hanging or self._has_hung or self.step_takes_us > self.step_us
            hardware.tick(self.now_us, is_away)  # away until its next step
            self.plant.step(_PLANT_STEP_S, hardware.outputs, hardware.enable)
            for observe in self.observers:
                observe(self)

    def _read_counts(self) -> tuple[int, int]:
        """Return the encoders' counts; a dead encoder keeps its last one."""
        left, right = self.plant.counts()
        if "left" in self.dead_encoders:
            left = self._counts[0]
        if "right" in self.dead_encoders:
            right = self._counts[1]
        self._counts = (left, right)
        return self._counts

    def _readings(self, now_us: int) -> Sequence[int]:
        plant, guard = self.plant, self.hardware.guard
        if self.transmitter:
            self.transmitter.run(now_us)
        took_us = now_us - self._stepped_us - self.step_us if self._has_hung else self._took_us
        self._has_hung = False
        return (
            *self._read_counts(),
            int(self.runstop_closed and not guard.has_seen_loop_open),
            int(self.hardware.enable),
            int(self.charger),
            plant.battery_mv,
            plant.yaw_rate_mrad_s,
            plant.accel_x_mm_s2,
            plant.accel_y_mm_s2,
            max(took_us, 0),
            self.temperature_c,
            int(self.transmitter is not None),
            # a receiver's readings, as VirtualBoard has them
            *(self.transmitter.readings() if self.transmitter else (0,) * 6),
            int(guard.is_late),
            self.reset_cause,
            self.failed_starts,
            self.link_room,
        )

    def close(self) -> None:
        """End the program."""
        self.runner.close()
