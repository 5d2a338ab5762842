"""Trim: the offsets of one car's steering and throttle pulses. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from host_bridge.core import Vehicle
from host_bridge.core.errors import UsageFault

# Values of channel_kind in firmware.core.settings.params
_SERVO, _ESC = 1, 2
_GROUPS = {"steering": _SERVO, "throttle": _ESC}
MOST_US = 200  # a larger offset is no trim: the servo horn is on a wrong tooth, or points are wrong


@dataclass(frozen=True)
class TrimOffset:
    """Channels by number, and the offset of their pulses from the vehicle file's, in us."""

    channels: tuple[int, ...]
    by_us: float


def parse_trim(word: str, vehicle: Vehicle) -> TrimOffset:
    """Parse ``steering=12``, ``throttle=-5`` or ``3=12``.

    Raises errors.UsageFault.
    """
    what, _, amount = word.partition("=")
    kinds = vehicle.parameters["channel_kind"]
    try:
        by_us = float(amount)
        channels = tuple(i for i, kind in enumerate(kinds) if _is_meant(what, i, kind))
    except ValueError:
        raise _unclear(word) from None
    if not channels or not abs(by_us) <= MOST_US:
        raise _unclear(word)
    return TrimOffset(channels, by_us)


def _is_meant(what: str, channel: int, kind: int) -> bool:
    if what in _GROUPS:
        return kind == _GROUPS[what]
    return int(what) == channel and kind in _GROUPS.values()


def _unclear(word: str) -> UsageFault:
    return UsageFault(
        f"{word!r} is no trim of this vehicle",
        expected=f"steering=US, throttle=US or CHANNEL=US, at most {MOST_US} us either way, "
        "of a servo or an ESC",
        remedy="tandem vehicles NAME shows its channels; an H-bridge has nothing to trim",
    )


def trimmed_parameters(
    vehicle: Vehicle, before: Mapping[str, list[int]], shifts: list[TrimOffset]
) -> dict[str, list[int]]:
    """Return the parameters that differ from the file's; those of ``before`` stay if not named.

    Raises errors.UsageFault if a pulse would leave its channel's range.
    """
    file = vehicle.parameters
    neutral = list(before.get("channel_neutral", file["channel_neutral"]))
    curve = list(before.get("channel_curve", file["channel_curve"]))
    points = len(curve) // len(neutral)
    for shift in shifts:
        by_ns = round(shift.by_us * 1000)
        for channel in shift.channels:
            neutral[channel] = file["channel_neutral"][channel] + by_ns
            if file["channel_kind"][channel] == _SERVO:
                at = channel * points
                moved = [ns + by_ns for ns in file["channel_curve"][at : at + points]]
                curve[at : at + points] = moved
            _refuse_beyond(vehicle, channel, [neutral[channel], *_of(curve, channel, points)])
    found = {"channel_neutral": neutral, "channel_curve": curve}
    return {name: v for name, v in {**before, **found}.items() if v != file[name]}


def _of(curve: list[int], channel: int, points: int) -> list[int]:
    return [ns for ns in curve[channel * points : (channel + 1) * points] if ns]


def _refuse_beyond(vehicle: Vehicle, channel: int, pulses_ns: list[int]) -> None:
    low = vehicle.parameters["channel_low"][channel]
    high = vehicle.parameters["channel_high"][channel]
    if not low <= min(pulses_ns) <= max(pulses_ns) <= high:
        raise UsageFault(
            f"with this trim channel {channel} leaves its range",
            expected=f"{low / 1000:g} to {high / 1000:g} us, as the vehicle file allows",
            got=f"{min(pulses_ns) / 1000:g} to {max(pulses_ns) / 1000:g} us",
            remedy="trim less and turn the horn on its shaft; or lower steer_max_rad in the file",
        )
