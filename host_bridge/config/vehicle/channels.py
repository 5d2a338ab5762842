"""Output channels: from measured points to the curves of the car's program and of the plant."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from host_bridge.config.vehicle.document import VehicleDocument
from host_bridge.config.vehicle.geometry import SteeringGeometry, curve_angles_rad, pulse_us
from host_bridge.config.vehicle.schema import ACTUATOR_BITS, CHANNEL_KINDS

_NS_PER_US = 1000
_FULL_DUTY = 10_000  # all of the time, in 1/10000
_PLANT_POINTS_PER_SPAN = 4  # the plant's linkage is finer than the program's nine points of it


@dataclass(frozen=True)
class CompiledChannel:
    """One output: pulses in ns or duties in 1/10000 for the car's program, and the plant's data."""

    kind: int
    low: int = 0
    neutral: int = 0
    high: int = 0
    curve: list[int] = field(default_factory=list)  # a servo's pulses by steering angle
    plant: dict[str, object] = field(default_factory=dict)
    actuator: int = 0  # the actuator that a level channel follows


def compile_channels(
    document: VehicleDocument,
    tables: list[dict[str, Any]],
    geometry: SteeringGeometry,
    steer_max_rad: float,
) -> list[CompiledChannel]:
    """Compile all channels of a vehicle file.

    Raises VehicleFileFault for a pulse or an angle that the channel cannot reach.
    """
    _refuse_wrong_drive(document, [table["kind"] for table in tables])
    bench = _Bench(document, geometry, steer_max_rad)
    return [
        _COMPILERS[table["kind"]](bench, f"channels.{i}", table) for i, table in enumerate(tables)
    ]


@dataclass(frozen=True)
class _Bench:
    document: VehicleDocument
    geometry: SteeringGeometry
    steer_max_rad: float

    def none(self, path: str, table: dict[str, Any]) -> CompiledChannel:
        return CompiledChannel(CHANNEL_KINDS.index("none"), plant={"kind": "none"})

    def h_bridge(self, path: str, table: dict[str, Any]) -> CompiledChannel:
        high = round(table["duty_max"] * _FULL_DUTY)
        return CompiledChannel(
            CHANNEL_KINDS.index("h_bridge"), -high, 0, high, plant={"kind": "h_bridge"}
        )

    def esc(self, path: str, table: dict[str, Any]) -> CompiledChannel:
        pulses = self._pulses_ns(path, table, "reverse_us", "neutral_us", "forward_us")
        low, neutral, high = pulses
        return CompiledChannel(
            CHANNEL_KINDS.index("esc"), low, neutral, high, plant={"kind": "esc"}
        )

    def brake_servo(self, path: str, table: dict[str, Any]) -> CompiledChannel:
        low, neutral, high = self._away_ns(path, table, "released_us")
        plant: dict[str, object] = {
            "kind": "brake_servo",
            "released_ns": neutral,
            "full_ns": high if neutral == low else low,
        }
        return CompiledChannel(CHANNEL_KINDS.index("brake_servo"), low, neutral, high, plant=plant)

    def level(self, path: str, table: dict[str, Any]) -> CompiledChannel:
        low, neutral, high = self._away_ns(path, table, "off_us")
        actuator = ACTUATOR_BITS[table["actuator"]].bit_length() - 1
        kind = CHANNEL_KINDS.index("level")
        return CompiledChannel(kind, low, neutral, high, plant={"kind": "none"}, actuator=actuator)

    def _away_ns(self, path: str, table: dict[str, Any], rest: str) -> tuple[int, int, int]:
        """Return lowest, resting and highest pulse of a servo that moves only to one side."""
        rest_ns, full_ns = round(table[rest] * _NS_PER_US), round(table["full_us"] * _NS_PER_US)
        if rest_ns == full_ns:
            raise self.document.fault(
                f"{path}.full_us",
                f"{table['name']} does not move",
                expected=f"a pulse that is not {rest}",
                got=f"{table['full_us']:g}",
                remedy="write both ends of its travel, in microseconds",
            )
        return min(rest_ns, full_ns), rest_ns, max(rest_ns, full_ns)

    def servo(self, path: str, table: dict[str, Any]) -> CompiledChannel:
        ratio = self._ratio(path, table)
        low, high = self._pulses_ns(path, table, "low_us", "high_us")
        angles_rad = curve_angles_rad(self.steer_max_rad)
        curve = [self._pulse_ns(path, table, angle_rad) for angle_rad in angles_rad]
        fine_rad = curve_angles_rad(self.steer_max_rad, _PLANT_POINTS_PER_SPAN)
        plant: dict[str, object] = {
            "kind": "servo_steering",
            "axle": table["axle"],
            "curve": [[angle, self._pulse_ns(path, table, angle)] for angle in fine_rad],
            "wheel_ratio": ratio,
        }
        middle = curve[len(curve) // 2]
        return CompiledChannel(
            CHANNEL_KINDS.index("servo_steering"), low, middle, high, curve, plant
        )

    def _ratio(self, path: str, table: dict[str, Any]) -> float:
        """Return the angle of this axle's wheels divided by that of the front wheels."""
        ratio = 1.0 if table["axle"] == "front" else self.geometry.rear_ratio
        if ratio == 0:
            raise self.document.fault(
                f"{path}.axle",
                f"{table['name']} is at the rear, and the rear wheels do not turn",
                expected="rear_steer_ratio in [geometry], or no servo at the rear",
                got="rear_steer_ratio = 0",
                remedy="write how far the rear wheels turn for one radian in front, or kind = none",
            )
        return ratio

    def _pulses_ns(self, path: str, table: dict[str, Any], *keys: str) -> list[int]:
        """Return the pulses of these keys in ns.

        Raises VehicleFileFault unless they rise in this order.
        """
        pulses = [round(table[key] * _NS_PER_US) for key in keys]
        for key, before, after in zip(keys[1:], pulses, pulses[1:], strict=False):
            if before >= after:
                raise self.document.fault(
                    f"{path}.{key}",
                    f"the pulses of {table['name']} are not in order",
                    expected=" < ".join(keys),
                    got=", ".join(f"{table[key]:g}" for key in keys),
                    remedy="write them as the servo or the ESC has them, in microseconds",
                )
        return pulses

    def _pulse_ns(self, path: str, table: dict[str, Any], steer_rad: float) -> int:
        wheel_rad = self.geometry.wheel_rad(steer_rad, table["side"]) * self._ratio(path, table)
        try:
            wanted_us: float = pulse_us(table["points"], wheel_rad) + table["trim_us"]
        except ValueError as error:
            raise self._unreachable(f"{path}.points", table, steer_rad, str(error)) from error
        if not table["low_us"] <= wanted_us <= table["high_us"]:
            got = f"{wanted_us:.0f} us"
            raise self._unreachable(f"{path}.low_us", table, steer_rad, got)
        return round(wanted_us * _NS_PER_US)

    def _unreachable(
        self, path: str, table: dict[str, Any], steer_rad: float, got: str
    ) -> Exception:
        limit = self.document.where("limits.steer_max_rad")
        return self.document.fault(
            path,
            f"{table['name']} cannot follow {steer_rad:.4f} rad of steering",
            expected=f"{table['low_us']:g} to {table['high_us']:g} us, on the measured points",
            got=got,
            remedy=f"lower steer_max_rad ({limit}) or widen what the servo may do, if it can",
        )


_COMPILERS = {
    "none": _Bench.none,
    "servo_steering": _Bench.servo,
    "esc": _Bench.esc,
    "h_bridge": _Bench.h_bridge,
    "brake_servo": _Bench.brake_servo,
    "level": _Bench.level,
}


def _refuse_wrong_drive(document: VehicleDocument, kinds: list[str]) -> None:
    escs, bridges = kinds.count("esc"), kinds.count("h_bridge")
    if (escs == 1) == (bridges > 0):
        raise document.fault(
            "channels.0",
            "this vehicle has no drive, or more than one kind of it",
            expected="one esc, or one or more h_bridge",
            got=f"{escs} esc and {bridges} h_bridge",
            remedy="write a [[channels]] table for what drives the wheels",
        )
