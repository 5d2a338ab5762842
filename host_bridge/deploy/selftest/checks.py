"""The checks of the self-test, in order. Each yields rows; none moves what it does not test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import TypeAlias

from host_bridge.core import BatteryStage, Cause, DriveCommand, State, VescState
from host_bridge.core.texts.table import source_word
from host_bridge.deploy.selftest.bench import CheckResult, SelfTestBench

Check: TypeAlias = Callable[[SelfTestBench], AsyncIterator[CheckResult]]
_LISTEN_S = 1.5  # slow reports come twice a second
_STEER_PART = 0.3  # of full lock: clearly visible, and away from the mechanical stops
_STEER_S = 1.2  # a slow servo's way to there, and time to see it
_STEER_WITHIN_RAD = 0.02  # about a degree: what the program puts out is exact, but for its rounding
_NEUTRAL_S = 0.3  # an attended source begins from neutral
_CAP_PART = 0.5  # of the stand's cap
_SPEED_WITHIN_S = 5.0  # an ESC arms for up to 2 s; six magnets a turn are slow to show a speed
_MOVED_MPS = 0.05  # the least that a wheel counter of these cars shows as motion
_STILL_RADPS = 0.1  # a gyro at rest, biased
_PERSON_S = 30.0  # time for a person to find the switch
_STOPS_S = 0.5  # the loop is heard within a step; the rest is the line and this program
_RESTS_S = 5.0  # from half of the stand's cap any car's wheels stand in less
_VESC_ALONE_S = 3.0  # it is released for 0.3 s, and may time out after a second
_TIMES_OUT_S = 0.2  # firmware/boards/physical/vesc_drive.py relies on it
_BRAKES_A = 1.0  # clearly above noise, for a light wheel off the ground
_LOOP = "runstop_loop"
_SERVO, _ESC, _BRIDGE = 1, 2, 3  # firmware.core.settings.params, channel_kind


async def sensors(bench: SelfTestBench) -> AsyncIterator[CheckResult]:
    """Yield a reading of each sensor, at rest."""
    car, numbers = bench.car, bench.vehicle.parameters
    await bench.until(lambda: bool(car.power and car.motion and car.inputs), _LISTEN_S)
    yield _battery(bench)
    motion = car.motion
    rate = motion.yaw_rate_radps if motion else None
    if not numbers["gyro_fitted"][0]:
        yield CheckResult("gyro", None, "none is fitted")
    else:
        is_good = rate is not None and abs(rate) < _STILL_RADPS
        got = "no reading" if rate is None else f"{rate:+.3f} rad/s at rest"
        yield CheckResult(
            "gyro", is_good, got, "keep the car still; see to its wires and its mounting"
        )
    inputs = car.inputs
    if numbers["gyro_fitted"][0]:
        has_imu = inputs is not None and inputs.has_imu
        got = "answers" if has_imu else "silent, frozen or not there"
        yield CheckResult("IMU", has_imu, got, "see to its wires, its address and its supply")
    if car.second is not None:
        yield CheckResult("time receiver", True, "a pulse each second")
    is_open = inputs is not None and not inputs.is_enable_closed
    yield CheckResult(
        "enable contact", is_open, "open" if is_open else "closed", "the relay is welded"
    )
    if bench.vehicle.has_rc:
        mode = inputs.rc_mode if inputs else None
        got = "no signal" if mode is None else mode.word
        yield CheckResult(source_word("rc"), None if mode is None else True, got)


def _battery(bench: SelfTestBench) -> CheckResult:
    power = bench.car.power
    if not bench.vehicle.parameters["battery_empty_mv"][0]:
        return CheckResult("battery", None, "none is measured")
    is_good = power is not None and power.stage is not BatteryStage.EMPTY and power.battery_v > 1
    got = f"{power.battery_v:.1f} V, {power.stage.word}" if power else "no reading"
    return CheckResult("battery", is_good, got, "charge it; see to its divider")


async def steering(bench: SelfTestBench) -> AsyncIterator[CheckResult]:
    """Steer left and right a little; check the board's reported angle and pulses."""
    await bench.until(lambda: bench.car.outputs is not None, _LISTEN_S)
    for side, sign in (("left", 1), ("right", -1)):
        asked_rad = sign * _STEER_PART * bench.vehicle.steer_max_rad
        before = _pulses(bench, _SERVO)
        await bench.hold(DriveCommand(steer_rad=asked_rad, is_held=True), _STEER_S)
        status = bench.car.status
        got_rad = status.steer_rad if status else 0.0
        pulses = _pulses(bench, _SERVO)
        is_good = abs(got_rad - asked_rad) < _STEER_WITHIN_RAD and _all_differ(before, pulses)
        got = f"{got_rad:+.3f} rad of {asked_rad:+.3f}, {_text(pulses)}"
        yield CheckResult(f"steering {side}", is_good, got, "look: do the wheels turn that way?")


async def drive(bench: SelfTestBench) -> AsyncIterator[CheckResult]:
    """Drive forward a little, then to a standstill; check outputs, wheel counts and speed."""
    await bench.until(lambda: bool(bench.car.outputs and bench.car.motion), _LISTEN_S)
    before, counts = _pulses(bench, _ESC, _BRIDGE), _counts(bench)
    asked_mps = _slow_mps(bench)
    await bench.hold(DriveCommand(is_held=True), _NEUTRAL_S)
    bench.input.command = DriveCommand(speed_mps=asked_mps, is_held=True)
    await bench.until(lambda: _turns(bench, counts), _SPEED_WITHIN_S)
    # outputs are reported in turn with other things: a wheel may turn before
    await bench.until(lambda: _all_differ(before, _pulses(bench, _ESC, _BRIDGE)), _LISTEN_S)
    status, pulses, now = bench.car.status, _pulses(bench, _ESC, _BRIDGE), _counts(bench)
    speed = status.speed_mps if status else 0.0
    is_good = bench.state is State.ACTIVE and _all_differ(before, pulses)
    yield CheckResult("drive", is_good, _text(pulses), bench.car.why_stopped())
    for name, a, b in zip(("encoder left", "encoder right"), counts, now, strict=True):
        yield CheckResult(
            name, b > a, f"{b - a:+d} counts", "forward has to count up: swap A and B"
        )
    got = f"{speed:+.2f} m/s of {asked_mps:+.2f}"
    yield CheckResult("speed", speed >= _MOVED_MPS, got, "does the wheel turn? does its encoder?")
    yield await _standstill(bench, has_moved=speed >= _MOVED_MPS)


async def _standstill(bench: SelfTestBench, *, has_moved: bool) -> CheckResult:
    """Release the deadman; the car has to brake into HOLD and stand.

    A car that was not seen to move shows nothing by standing.
    """
    bench.let_go()
    stands = await bench.until(lambda: bench.state is State.HOLD and _stands(bench), _RESTS_S)
    if stands and not has_moved:
        return CheckResult("standstill", None, "not shown: it was not seen to move before")
    status = bench.car.status
    speed = f"{status.speed_mps:+.2f} m/s" if status else "no report"
    got = f"{speed}, {bench.state_word}, {'once' if stands else 'though'} the deadman was released"
    return CheckResult("standstill", stands, got, "see to its brake and its ESC's neutral")


async def runstop(bench: SelfTestBench) -> AsyncIterator[CheckResult]:
    """Have the loop opened and closed: the car has to stop, stay stopped, and be cleared.

    This is the daily proof. A VESC turns its wheel meanwhile, to show that it stops by itself.
    """
    if _LOOP not in [source.name for source in bench.vehicle.stop_sources]:
        yield CheckResult("runstop", None, "this vehicle has no loop")
        return
    turning = await _vesc_turns(bench)
    what = "Open the runstop loop now (press its button)."
    has_opened = await bench.ask(what, lambda: not _is_closed(bench), _PERSON_S)
    yield CheckResult(
        "runstop opens", has_opened, "seen" if has_opened else "not seen", "see to its wires"
    )
    if not has_opened:
        return
    stopped = await bench.until(lambda: _is_stopped(bench), _STOPS_S)
    yield CheckResult(
        "runstop stops",
        stopped,
        bench.state_word,
        "do not drive it",
    )
    bench.let_go()
    if turning is not None:
        await bench.until(lambda: _has_timed_out(bench), _VESC_ALONE_S)
        for row in vesc_rows(turning, bench.car.vesc or turning):
            yield row
    # a standing car is STOPPED before its slow reports show the open loop
    await bench.until(lambda: not _has_closed_loop(bench), _LISTEN_S)
    what = "Close the runstop loop again."
    has_closed = await bench.ask(what, lambda: _is_closed(bench), _PERSON_S)
    yield CheckResult(
        "runstop closes", has_closed, "seen" if has_closed else "not seen", "close it"
    )
    if has_closed:
        await bench.until(lambda: bench.state is State.STOPPED, _RESTS_S)
        is_latched = bench.state is State.STOPPED
        yield CheckResult("runstop latches", is_latched, "stopped until cleared", "do not drive it")
        await asyncio.sleep(0.2)  # the relay's contact settles
        await bench.clear()
        cleared = await bench.until(lambda: bench.state is State.STANDBY, 2.0)
        yield CheckResult("clear", cleared, bench.state_word)


async def _vesc_turns(bench: SelfTestBench) -> VescState | None:
    """Return a VESC's report while its wheel turns; None if there is none."""
    if bench.car.vesc is None:
        return None
    await bench.hold(DriveCommand(is_held=True), _NEUTRAL_S)
    bench.input.command = DriveCommand(speed_mps=_slow_mps(bench), is_held=True)
    await bench.until(lambda: not _stands(bench), _SPEED_WITHIN_S)
    await asyncio.sleep(_NEUTRAL_S)  # it reports ten times a second
    return bench.car.vesc


def _has_timed_out(bench: SelfTestBench) -> bool:
    return bench.car.vesc is not None and bench.car.vesc.timeout_s is not None


def vesc_rows(turning: VescState, alone: VescState) -> Iterator[CheckResult]:
    """Yield the rows of a VESC.

    ``alone`` is its report after its kill switch opened while it turned, without commands since.
    """
    if alone.tells:
        is_good = alone.is_killed and not turning.is_killed
        got = "acts while the drive is off" if is_good else _kill_words(turning)
        yield CheckResult(
            "VESC kill switch", is_good, got, "wire it to the drive enable; turn it on"
        )
        is_good = alone.timeout_s is not None and alone.timeout_s <= _TIMES_OUT_S
        got = "none seen" if alone.timeout_s is None else f"after {alone.timeout_s:.2f} s"
        remedy = f"in its tool: timeout {_TIMES_OUT_S / 2:g} s (its default is 1 s)"
        yield CheckResult("VESC timeout", is_good, got, remedy)
    else:
        yield CheckResult(
            "VESC status", None, "its firmware tells of no timeout and no kill switch"
        )
    got = f"{alone.brake_a:.1f} A"
    yield CheckResult(
        "VESC brake", alone.brake_a >= _BRAKES_A, got, "in its tool: timeout brake current"
    )


def _kill_words(turning: VescState) -> str:
    return "acts while the drive is on" if turning.is_killed else "does not act"


# name, what it does, does it need the car armed
CHECKS: tuple[tuple[str, Check, bool], ...] = (
    ("sensors", sensors, False),
    ("steering", steering, True),
    ("drive", drive, True),
    ("runstop", runstop, True),
)


def _slow_mps(bench: SelfTestBench) -> float:
    return _CAP_PART * bench.vehicle.profile_caps_mps["stand"]


def _pulses(bench: SelfTestBench, *kinds: int) -> list[int]:
    outputs = bench.car.outputs
    fitted = bench.vehicle.parameters["channel_kind"]
    return (
        [ns for ns, kind in zip(outputs.channels, fitted, strict=True) if kind in kinds]
        if outputs
        else []
    )


def _all_differ(before: list[int], now: list[int]) -> bool:
    is_known = bool(now) and len(before) == len(now)
    return is_known and all(a != b for a, b in zip(before, now, strict=True))


def _counts(bench: SelfTestBench) -> tuple[int, int]:
    motion = bench.car.motion
    return (motion.count_left, motion.count_right) if motion else (0, 0)


def _text(pulses: list[int]) -> str:
    return ", ".join(
        # pulses in ns and duties in 1/10000 differ by more than ten times
        f"{p / 1000:.0f} us" if abs(p) > 20_000 else f"{p / 100:.0f} %"
        for p in pulses
    )


def _turns(bench: SelfTestBench, before: tuple[int, int]) -> bool:
    """Return whether both sides counted and a speed was measured."""
    sides = zip(before, _counts(bench), strict=True)
    return all(b > a for a, b in sides) and not _stands(bench)


def _stands(bench: SelfTestBench) -> bool:
    status = bench.car.status
    return status is not None and abs(status.speed_mps) < _MOVED_MPS


def _is_closed(bench: SelfTestBench) -> bool:
    """Return whether the loop is closed, by the status's causes and the slower inputs.

    The causes come with every step.
    """
    status = bench.car.status
    if status and Cause.RUNSTOP_LOOP in status.causes and bench.state is not State.STOPPED:
        return False
    return _has_closed_loop(bench)


def _has_closed_loop(bench: SelfTestBench) -> bool:
    """Return whether the loop is closed, by the newest of the slow reports."""
    return bench.car.inputs is None or bench.car.inputs.is_runstop_closed


def _is_stopped(bench: SelfTestBench) -> bool:
    status = bench.car.status
    halted = bench.state in (State.STOPPING, State.STOPPED)
    return halted and status is not None and status.first_cause is Cause.RUNSTOP_LOOP
