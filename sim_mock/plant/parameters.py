"""The parameters of one virtual car, from the ``[plant]`` table of its vehicle file."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from sim_mock.files.plain_reading import as_list, as_mapping, as_number, refuse, refuse_unknown
from sim_mock.plant.body import BodyParameters
from sim_mock.plant.brake import BrakeParameters
from sim_mock.plant.drive import DriveParameters
from sim_mock.plant.esc import EscParameters
from sim_mock.plant.integrators import INTEGRATORS, Integrator
from sim_mock.plant.motor import BatteryParameters, MotorParameters
from sim_mock.plant.servo import Curve, ServoParameters
from sim_mock.plant.tables import TABLES, read_table
from sim_mock.plant.tyre import LAWS
from sim_mock.plant.vesc import VescParameters
from sim_mock.sensors.encoder import EncoderParameters
from sim_mock.sensors.imu import ImuParameters
from sim_mock.sensors.parameters import (
    BarometerParameters,
    GpsParameters,
    LidarParameters,
    MagnetometerParameters,
    OutlineParameters,
    PositionParameters,
)

CHANNELS = 8  # outputs of a board (firmware/core/settings/params.py)
_KINDS = ("none", "servo_steering", "h_bridge", "brake_servo")  # each has a table of keys
WHEEL_MAX_RAD = 1.2  # above it the tangents of the no-slip model grow without bound
_SECTIONS = ("body", "tyre", "servo", "drive", "motor", "battery", "encoder", "imu")
# Optional tables, and what reads each
_CARRIED: dict[str, Callable[..., Any]] = {
    "lidar": LidarParameters,
    "position": PositionParameters,
    "outline": OutlineParameters,
    "gps": GpsParameters,
    "magnetometer": MagnetometerParameters,
    "barometer": BarometerParameters,
}
_TOP = (
    *(*_SECTIONS, "esc", "vesc", "brake", *_CARRIED),
    *("model", "payload_kg", "payload_x_m", "patches", "channels"),
)


@dataclass(frozen=True, slots=True)
class Patch:
    """A round piece of floor where the friction is ``mu_scale`` times the usual."""

    x_m: float
    y_m: float
    radius_m: float
    mu_scale: float


@dataclass(frozen=True, slots=True)
class SteeringChannel:
    """A steering servo on output ``channel`` for the wheels of ``axle`` ("front" or "rear")."""

    channel: int
    axle: str
    curve: Curve
    wheel_ratio: float


@dataclass(frozen=True, slots=True)
class PlantParameters:
    """The parameters of one virtual car; the ``with_`` methods return a different one.

    ``model`` names a model of ``sim_mock.bodies`` that replaces this folder's body ("": none).
    """

    body: BodyParameters
    integrate: Integrator
    mu: float
    servo: ServoParameters
    drive: DriveParameters
    motor: MotorParameters
    battery: BatteryParameters
    esc: EscParameters | VescParameters | None
    encoder: EncoderParameters
    imu: ImuParameters
    steering: tuple[SteeringChannel, ...]
    drive_channels: tuple[int, ...]
    brake: BrakeParameters | None = None
    patches: tuple[Patch, ...] = ()
    lidar: LidarParameters | None = None
    position: PositionParameters | None = None
    outline: OutlineParameters | None = None
    gps: GpsParameters | None = None
    magnetometer: MagnetometerParameters | None = None
    barometer: BarometerParameters | None = None
    model: str = ""

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, object]) -> "PlantParameters":
        """Parse a ``[plant]`` table with the list ``channels`` added (README.md has the keys).

        Raises ValueError naming the key that is unknown, missing, mistyped or out of range.
        """
        refuse_unknown("plant", mapping, _TOP)
        read = {name: _section(mapping, name) for name in _SECTIONS}
        carried = {
            name: make(**_section(mapping, name))
            for name, make in _CARRIED.items()
            if name in mapping
        }
        channels = _channels(mapping)
        drive_channels = _drive_channels(channels)
        parameters = cls(
            body=_body(read["body"], read["tyre"]),
            integrate=INTEGRATORS[read["body"]["integrator"]],
            mu=read["tyre"]["mu"],
            servo=ServoParameters(**read["servo"]),
            drive=DriveParameters(**read["drive"]),
            motor=_motor(read["motor"]),
            battery=BatteryParameters(**read["battery"]),
            esc=_esc(mapping, channels),
            encoder=EncoderParameters(**read["encoder"]),
            imu=ImuParameters(**read["imu"]),
            steering=_steering(channels),
            drive_channels=drive_channels,
            brake=_brake(mapping, channels, read["drive"]["driven"]),
            patches=_patches(mapping),
            **carried,
            model=_text("plant.model", mapping.get("model", "")),
        )
        payload = {k.name: mapping[k.name] for k in TABLES["payload"] if k.name in mapping}
        return parameters.with_payload(**read_table("plant", "payload", payload))

    def with_payload(self, payload_kg: float, payload_x_m: float = 0.0) -> "PlantParameters":
        """Return the car with a load ``payload_x_m`` ahead of its own centre of gravity.

        Raises ValueError if the common centre would lie outside the axles.
        """
        body = self.body.with_payload(payload_kg, payload_x_m)
        if body.lf_m <= 0.0 or body.lr_m <= 0.0:
            raise refuse("plant.payload_x_m", "a centre of gravity between the axles", payload_x_m)
        return replace(self, body=body)

    def with_patches(self, patches: tuple[Patch, ...]) -> "PlantParameters":
        return replace(self, patches=patches)


def _section(mapping: Mapping[str, object], name: str) -> dict[str, Any]:
    if name not in mapping:
        keys = ", ".join(key.name for key in TABLES[name])
        raise ValueError(f"plant.{name}: missing; expected a table of {keys}")
    return read_table(f"plant.{name}", name, mapping[name])


def _text(path: str, given: object) -> str:
    if not isinstance(given, str):
        raise refuse(path, "a text", given)
    return given


def _body(body: dict[str, Any], tyre: dict[str, Any]) -> BodyParameters:
    return BodyParameters(
        stiffness_front_per_rad=tyre["stiffness_front_per_rad"],
        stiffness_rear_per_rad=tyre["stiffness_rear_per_rad"],
        law=LAWS[tyre["law"]],
        **{key: value for key, value in body.items() if key != "integrator"},
    )


def _motor(motor: dict[str, Any]) -> MotorParameters:
    return MotorParameters(**motor)


def _channels(mapping: Mapping[str, object]) -> list[dict[str, Any]]:
    given = as_list("plant.channels", mapping.get("channels"))
    if len(given) > CHANNELS:
        raise refuse("plant.channels", f"at most {CHANNELS} channels", len(given))
    return [_channel(f"plant.channels[{i}]", one) for i, one in enumerate(given)]


def _channel(path: str, given: object) -> dict[str, Any]:
    values = dict(as_mapping(path, given))
    kind = values.get("kind")
    if kind == "esc":  # its numbers are in plant.esc or plant.vesc
        refuse_unknown(path, values, ("kind",))
        return values
    if kind not in _KINDS:
        raise refuse(f"{path}.kind", ", ".join(("esc", *_KINDS)), kind)
    curve = _curve(f"{path}.curve", values.pop("curve", None)) if kind == "servo_steering" else ()
    read = read_table(path, kind, values)
    if any(abs(steer_rad * read["wheel_ratio"]) > WHEEL_MAX_RAD for steer_rad, _ in curve):
        raise refuse(path, f"wheels that turn by at most {WHEEL_MAX_RAD:g} rad", curve)
    return {**read, "curve": curve}


def _curve(path: str, given: object) -> Curve:
    points = as_list(path, given)
    pairs = [_point(f"{path}[{i}]", point) for i, point in enumerate(points)]
    pulse_steps = [b[1] - a[1] for a, b in pairwise(pairs)]
    is_one_way = all(d > 0 for d in pulse_steps) or all(d < 0 for d in pulse_steps)
    rises = all(a[0] < b[0] for a, b in pairwise(pairs))
    if len(pairs) < 2 or not rises or not is_one_way:
        raise refuse(path, "2 or more points, angles rising, pulses all rising or falling", given)
    return tuple(pairs)


def _point(path: str, given: object) -> tuple[float, float]:
    pair = as_list(path, given)
    if len(pair) != 2:
        raise refuse(path, "[steer_rad, pulse_ns]", given)
    # rad, ns: beyond any servo; the next checks tell what is wrong
    return as_number(path, pair[0], -1.5, 1.5), as_number(path, pair[1], 1, 3_000_000)


def _steering(channels: list[dict[str, Any]]) -> tuple[SteeringChannel, ...]:
    return tuple(
        SteeringChannel(i, c["axle"], c["curve"], c["wheel_ratio"])
        for i, c in enumerate(channels)
        if c["kind"] == "servo_steering"
    )


def _drive_channels(channels: list[dict[str, Any]]) -> tuple[int, ...]:
    kinds = [c["kind"] for c in channels]
    bridges = tuple(i for i, kind in enumerate(kinds) if kind == "h_bridge")
    escs = tuple(i for i, kind in enumerate(kinds) if kind == "esc")
    if len(escs) + bool(bridges) != 1:
        raise refuse("plant.channels", 'one "esc", or "h_bridge" channels, not both', kinds)
    return escs or bridges


def _esc(
    mapping: Mapping[str, object], channels: list[dict[str, Any]]
) -> EscParameters | VescParameters | None:
    has_channel = any(c["kind"] == "esc" for c in channels)
    given = [name for name in ("esc", "vesc") if name in mapping]
    if len(given) != has_channel:
        expected = 'this table, or plant.vesc, with an "esc" channel and only then'
        raise refuse("plant.esc", expected, given or has_channel)
    if not has_channel:
        return None
    if given == ["vesc"]:
        return _vesc(VescParameters(**_section(mapping, "vesc")))
    esc = EscParameters(**_section(mapping, "esc"))
    low, high = esc.neutral_ns - esc.dead_band_ns, esc.neutral_ns + esc.dead_band_ns
    if not esc.reverse_ns < low or not high < esc.forward_ns:
        raise refuse("plant.esc", "reverse_ns < neutral_ns -/+ dead_band_ns < forward_ns", esc)
    return esc


def _vesc(vesc: VescParameters) -> VescParameters:
    if not vesc.reverse_ns < vesc.neutral_ns < vesc.forward_ns:
        raise refuse("plant.vesc", "reverse_ns < neutral_ns < forward_ns", vesc)
    return vesc


def _brake(
    mapping: Mapping[str, object], channels: list[dict[str, Any]], driven: str
) -> BrakeParameters | None:
    """Parse the front axle's brake, if any; that axle must not be driven.

    A tyre does not brake and drive at once in this model.
    """
    at = [i for i, channel in enumerate(channels) if channel["kind"] == "brake_servo"]
    if bool(at) != ("brake" in mapping) or len(at) > 1:
        raise refuse("plant.brake", 'this table with one "brake_servo" channel and only then', at)
    if not at:
        return None
    if driven != "rear":
        raise refuse("plant.drive.driven", '"rear", with a brake on the front axle', driven)
    given = channels[at[0]]
    released_ns, full_ns = given["released_ns"], given["full_ns"]
    if released_ns == full_ns:
        raise refuse(f"plant.channels[{at[0]}].full_ns", "a pulse that is not released_ns", full_ns)
    return BrakeParameters(at[0], released_ns, full_ns, **_section(mapping, "brake"))


def _patches(mapping: Mapping[str, object]) -> tuple[Patch, ...]:
    given = as_list("plant.patches", mapping.get("patches", ()))
    return tuple(
        Patch(**read_table(f"plant.patches[{i}]", "patch", one)) for i, one in enumerate(given)
    )
