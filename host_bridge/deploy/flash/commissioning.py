"""The steps after the switch: identify the car, configure it, pair it, and watch its trial."""

from __future__ import annotations

from dataclasses import replace

from firmware.core.settings.params import TABLE
from host_bridge.config.boards import BoardType, minor_of
from host_bridge.config.store.pairings import Pairing
from host_bridge.core import Action, KnownCar, OperatorAction, Sender, State, Vehicle
from host_bridge.core.errors import NotHeldFault
from host_bridge.core.system.progress import progress_count
from host_bridge.deploy.flash.board.control_period import with_control_period
from host_bridge.deploy.flash.board.reconnection import reconnect
from host_bridge.deploy.flash.precheck import FoundCar, uri_of
from host_bridge.sharing.open_car import OpenCar
from host_bridge.sharing.services import Host

# The longest neutral after power-up that a vehicle file may ask for, and a board's own start
STARTED_WITHIN_S = next(row[4] for row in TABLE if row[0] == "start_ms") / 1e3 + 4.0
TRIAL_S = 12.0  # firmware/core/stops/fault_monitor.py: healthy after ten


class Commissioning:
    """The steps after flashing one car; ``found`` describes the board afterwards."""

    def __init__(
        self,
        port: str,
        repl: str,
        name: str | None,
        vehicle: Vehicle,
        board: BoardType,
        before: FoundCar,
        trial_s: float = TRIAL_S,
    ) -> None:
        self.found: dict[str, object] = {}
        self._repl = repl
        self._uri = uri_of(port)
        self._expected_car = KnownCar(before.board_id, before.car_name, before.vehicle)
        self._name = name or before.car_name
        self._vehicle = vehicle
        self._board = board
        self._trial_s = trial_s

    async def run(self, host: Host, row: dict[str, object]) -> int:
        """Run the steps; return 0.

        Raises errors.TandemError, NotHeldFault if the new program failed.
        """
        opened = await reconnect(self._uri, host, self._vehicle.path, self._expected_car)
        try:
            known = self._pairing(host, opened, row)
            await _settled(opened)  # a car that is starting takes no configuration
            trimmed = known.of(self._vehicle)
            changed = await host.configurations.write(
                opened, trimmed, known.car_name, progress_count
            )
            host.pairings.keep(known, is_on_car=True)
            opened.assume_vehicle(self._vehicle)
            await _clear(opened, host)
            await self._watch(opened)
            self.found.update(_what(opened, changed, trimmed))
            return 0
        finally:
            await opened.close()

    def _pairing(self, host: Host, opened: OpenCar, row: dict[str, object]) -> Pairing:
        """Return the car's pairing; key and trim stay if the board stays of its vehicle type.

        So does its name, of which a car of another version of the protocol could not be asked.
        """
        identity, vehicle = opened.identity, self._vehicle.name
        flashed = {key: str(row[key]) for key in ("board", "runtime", "slot", "program")}
        known = host.pairings.of(identity)
        if known is None or known.vehicle != vehicle:
            known = Pairing.new(identity, vehicle, vehicle)
        if minor_of(known.flashed.get("runtime", "")) != minor_of(flashed["runtime"]):
            # new, or its step times have changed: a control period chosen for the old ones goes
            has_key, board = bool(row["is_paired"]), self._board
            known = with_control_period(
                known, self._vehicle, board, flashed["runtime"], is_paired=has_key
            )
        return replace(known, car_name=self._name or known.car_name, flashed=flashed)

    async def _watch(self, opened: OpenCar) -> None:
        """Wait until the trial is over.

        A car that restarts meanwhile has fallen back to its old program.
        """
        begun = opened.car.status.time_us if opened.car.status else 0
        lost = await opened.until(lambda: _has_restarted(opened, begun), self._trial_s)
        if lost:
            raise NotHeldFault(
                "the new program did not stay up; the board starts the old one again",
                where=self._uri,
                got=str(opened.line_fault or "it started anew"),
                remedy=f"tandem identify {self._repl} --repl shows why it ended",
            )


def _has_restarted(opened: OpenCar, begun_us: int) -> bool:
    status = opened.car.status
    went_back = status is not None and 0 < begun_us - status.time_us < 1 << 29
    return went_back or opened.line_fault is not None


async def _clear(opened: OpenCar, host: Host) -> None:
    """Clear the FAULT of a car that had no configuration until now, for it has no other reason."""
    await _settled(opened)
    if _state(opened) is State.FAULT:
        request = opened.car.request(
            OperatorAction(Action.CLEAR, Sender.COMMAND), host.cars.clock.now_us()
        )
        await opened.until(lambda: request.result is not None, 2.0)
        await opened.until(lambda: _state(opened) is State.STANDBY, 1.0)


async def _settled(opened: OpenCar) -> None:
    await opened.until(lambda: _state(opened) not in (None, State.STARTING), STARTED_WITHIN_S)


def _state(opened: OpenCar) -> State | None:
    return opened.car.status.state if opened.car.status else None


def _what(opened: OpenCar, changed: int, vehicle: Vehicle) -> dict[str, object]:
    identity, status = opened.identity, opened.car.status
    return {
        "car": identity.car_name,
        "vehicle": opened.vehicle.name,
        "board_id": identity.board_id.hex(),
        "config_hash": opened.car.config_hash.hex() if opened.car.config_hash else "",
        "parameters": f"{changed} changed, all read back",
        "beat_ms": vehicle.step_s * 1e3,
        "state": status.state.name if status else "",
        "word": status.shown_state.word if status else "",
        "why": opened.car.why_stopped(),
    }
