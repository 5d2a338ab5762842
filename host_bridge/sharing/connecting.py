"""Connects an open car: its identity, its vehicle type, a bound session and its clock."""

from __future__ import annotations

import asyncio

from host_bridge.core import CarStatus, Vehicle
from host_bridge.core.errors import AnotherCarFault, ProtocolFault, TandemError, UsageFault
from host_bridge.sharing.endpoints.naming import is_of_another_host
from host_bridge.sharing.open_car import OpenCar, silence_fault

_CONNECT_S = 2.0  # longer than the second after which the link reports noise
_BIND_S = 5.0  # a session that has just ended frees its slot after 3 s
_CLOCK_S = 3.0  # each answer narrows the bound by chance; thirty of them are plenty


async def connect(opened: OpenCar, vehicle: Vehicle | None) -> OpenCar:
    """Open the car and wait for its identity; with an epoch, bind it and synchronise its clock.

    Without a ``vehicle`` the type follows from the car's configuration. If any of that fails the
    car is closed again. Raises errors.TandemError.
    """
    try:
        await opened.open()
        await _identify(opened)
        opened.car.is_line_lossy = not (opened.is_virtual and is_lossless(opened.uri))
        opened.assume_vehicle(vehicle or opened.recognised())
        if opened.car.connection.epoch is not None:
            await _bind(opened)
    except BaseException:
        await opened.close()
        raise
    return opened


def is_lossless(uri: str) -> bool:
    """Return True if the line to a virtual car is lossless, being this machine's memory.

    A report that is missing there was never made: a busy machine left out a control period.
    """
    is_bad_line = uri.startswith("lossy+") or is_of_another_host(uri)
    return not is_bad_line and "hitl=" not in uri.partition("?")[2]


async def _identify(opened: OpenCar) -> None:
    car = opened.car
    await opened.until(
        lambda: bool(car.is_online() or car.stranger or car.mismatch or opened.noise), _CONNECT_S
    )
    if car.stranger:
        raise _another(opened)
    if car.mismatch:
        raise _mismatch(opened)
    if not car.is_online():
        fault = opened.line_fault or f"silence for {_CONNECT_S:g} s"
        raise _noise(opened) if opened.noise else silence_fault(opened, str(fault))


async def _bind(opened: OpenCar) -> None:
    car = opened.car
    clock = car.connection.clock
    if opened.is_past:
        raise _recorded(opened)
    if opened.onlooking_role:  # its host takes no session in, and says nothing
        raise _onlooking(opened)
    if not await opened.until(car.connection.is_bound, _BIND_S):
        raise _unbound(opened)
    # If not, arming says so. A car afar is as far away as it is: what it takes is good enough
    await opened.until(lambda: clock.is_good() or (car.is_afar and car.is_clock_known()), _CLOCK_S)


def _recorded(opened: OpenCar) -> TandemError:
    return UsageFault(
        "a recorded car is watched, and nobody drives it or asks anything of it",
        where=opened.uri,
        remedy="tandem monitor shows it; tandem log FILE --csv FOLDER says how to drive it again",
    )


def _onlooking(opened: OpenCar) -> TandemError:
    return UsageFault(
        f"your token for this car may {opened.onlooking_role}, and no more",
        where=opened.uri,
        remedy="ask for another one there: tandem invite CAR --role drive (or configure, for its "
        "numbers)",
    )


def _another(opened: OpenCar) -> TandemError:
    return AnotherCarFault(opened.car.stranger, where=opened.uri, remedy=opened.car.remedy)


def _mismatch(opened: OpenCar) -> TandemError:
    found = opened.car.mismatch
    return ProtocolFault(
        "the car speaks another version of the protocol; it can be stopped, but not driven",
        where=opened.uri,
        expected=f"protocol {found.own_hash.hex()}, this host's" if found else "",
        got=found.car_hash.hex() if found else "",
        remedy="reflash the car with this version of Tandem",
    )


def _noise(opened: OpenCar) -> TandemError:
    size = opened.noise.size if opened.noise else 0
    return ProtocolFault(
        "this does not speak Tandem",
        where=opened.uri,
        got=f"{size} bytes in a second, and no good frame among them",
        remedy="is it the right port? the right baud rate (?baud=...)? is the firmware on it?",
    )


async def read_status_once(opened: OpenCar) -> tuple[CarStatus, float | None]:
    """Close the car after its first status and inputs.

    Return that status, and for how many seconds the car has been stopped (None if it is not).
    """
    car = opened.car
    try:
        while car.status is None or car.inputs is None:
            await asyncio.sleep(0.01)  # a step of a car
        return car.status, car.stop_age_s()
    finally:
        await opened.close()


def _unbound(opened: OpenCar) -> TandemError:
    return ProtocolFault(
        "the car did not take this session in",
        where=opened.uri,
        got=f"link {opened.car.connection.state.value}",
        remedy="it serves four sessions: end one; where one was killed, wait 3 s",
    )
