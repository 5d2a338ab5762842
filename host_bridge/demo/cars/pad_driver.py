"""A person at a gamepad as a process: standard input says what to do with the pad.

It is ``tandem drive --input gamepad`` itself; the pad is SDL's virtual joystick. Prints one line
of JSON ten times a second. Commands: ``arm``, ``speed M_PER_S``, ``unplug``, ``plug``, ``freeze``,
``repeat``, ``zeros``, ``quit``. In virtual time the same coroutine runs in the loop of the demo.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from host_bridge import drive as driving
from host_bridge.core.errors import TandemError
from host_bridge.demo.cars.driver import Report, print_line, report_line, standard_input
from host_bridge.drive import DriveOptions
from host_bridge.drive.drive import FleetDrive
from host_bridge.inputs.gamepad import (
    GamepadInput,
    LivenessCheck,
    PadMapping,
    PadMappings,
    Sdl,
    VirtualPad,
)
from host_bridge.sharing.services import Host, make_host

_TREMBLES_S = 0.008  # the report interval of pads
_PRESS_S = 0.05  # a press that every reader of the pad sees: several reports


class JsonLinesView:
    """A view of a drive that reports it as lines of JSON."""

    def __init__(self, report: Report) -> None:
        self._report = report

    def screen(self, drive: FleetDrive, now_us: int, columns: int, rows: int) -> list[str]:
        return []

    def news(self, drive: FleetDrive, now_us: int) -> list[str]:
        line = report_line(drive.fleet.cars[0])
        if line:
            self._report({**line, "phase": drive.phase.name})
        return []

    def summary(self, drive: FleetDrive, now_us: int) -> Sequence[str]:
        return ()


class PadOperator:
    """The hand that moves the pad by the commands."""

    def __init__(self, pad: VirtualPad) -> None:
        self._pad = pad
        self._words: dict[str, Callable[[], None]] = {
            "unplug": pad.unplug,
            "plug": pad.plug,
            "freeze": lambda: setattr(pad, "is_frozen", True),
            "repeat": lambda: setattr(pad, "is_noisy", False),
            "zeros": self._say_zeros,
        }

    async def obey(self, reader: asyncio.StreamReader) -> None:
        """Perform commands until there are no more."""
        while line := await reader.readline():
            word, _, _ = line.decode().strip().partition(" ")
            if word == "speed":
                await self._drive()
            elif word in ("arm", "quit"):
                await self._press("start" if word == "arm" else "back")
            else:
                self._words[word]()
        await self._press("back")

    async def tremble(self) -> None:
        while True:
            self._pad.tremble()
            await asyncio.sleep(_TREMBLES_S)

    async def _press(self, button: str) -> None:
        self._alive()
        self._pad.press(button)
        await asyncio.sleep(_PRESS_S)
        self._pad.press(button, False)

    async def _drive(self) -> None:
        """Release the pad, press LB, then pull the trigger to its end: the speed is the plan's."""
        self._alive()
        self._pad.rest()
        await asyncio.sleep(_PRESS_S)
        self._pad.press("leftshoulder")
        # the deadman is held so long before the trigger: the source begins in neutral
        await asyncio.sleep(0.2)
        self._pad.move("righttrigger", 1.0)

    def _alive(self) -> None:
        self._pad.is_frozen, self._pad.is_noisy = False, True

    def _say_zeros(self) -> None:
        self._pad.rest()
        self._pad.is_frozen = True


async def drive(
    host: Host,
    uri: str,
    vehicle: str,
    speed_mps: float,
    reader: asyncio.StreamReader,
    report: Report,
) -> int:
    """Drive until ``quit``; return the exit code. Raises errors.TandemError."""
    sdl = Sdl()
    pad = VirtualPad(sdl, "Demo pad")
    operator = PadOperator(pad)
    tasks = [asyncio.create_task(work) for work in (operator.obey(reader), operator.tremble())]
    with tempfile.TemporaryDirectory() as folder:
        mappings = PadMappings(Path(folder))
        facts = sdl.pads()[-1]
        mappings.keep(PadMapping(facts.guid, facts.name, "", LivenessCheck.REPORTS))
        options = DriveOptions(
            (uri,), input=GamepadInput(facts.guid, mappings), vehicle=vehicle, speed_mps=speed_mps,
            is_json=True, is_watched=False,
        )  # fmt: skip
        try:
            return await driving.drive(options, JsonLinesView(report), host)
        finally:
            for task in tasks:
                task.cancel()
            sdl.close()


async def _run(uri: str, vehicle: str, speed_mps: float) -> int:
    reader = await standard_input()
    return await drive(make_host(), uri, vehicle, speed_mps, reader, print_line)


def main() -> int:
    """Run it; return the exit code, that of the error if there was one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("uri")
    parser.add_argument("vehicle")
    parser.add_argument("speed", type=float)
    arguments = parser.parse_args()
    try:
        return asyncio.run(_run(arguments.uri, arguments.vehicle, arguments.speed))
    except TandemError as fault:
        print(fault, file=sys.stderr)
        return fault.exit_code


if __name__ == "__main__":
    sys.exit(main())
