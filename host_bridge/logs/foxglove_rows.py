"""Rows in Foxglove's standard schemas, made of what a car reports: JSON, drawn as they are.

Foxglove knows a message by the name of its schema, and draws these without a script: transforms and
poses, scans, images and lines in its 3D and image panels, texts in its log panel. They repeat what
our own channels hold, so a reader of logs passes them over. Frames are ``map``, ``CAR/odom``,
``CAR/base_link`` and ``CAR/laser``; a car's ``odom`` is where it began, which only of a virtual car
is known in the map. The schemas: https://docs.foxglove.dev/docs/visualization/message-schemas.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from math import atan2, cos, hypot, pi, radians, sin
from typing import Any, NamedTuple

from host_bridge.core import CarEvent, CarMotion, EventCode, Vehicle
from host_bridge.core.texts.events import event_text
from host_bridge.link.protocol.events import CarRestarted
from host_bridge.logs.sensor_lines import LASER_HEIGHT_M, LidarScan

Row = dict[str, Any]
Place = tuple[float, float, float]  # x and y in m, yaw in rad

MAP = "map"
ORIGIN: Place = (0.0, 0.0, 0.0)
_POSE_EVERY_NS = 15_000_000  # of two reports 10 ms apart every second one: 50 Hz are smooth
_TRAIL_EVERY_NS = 1_000_000_000  # once a second: a whole row of 20 kB each time
_TRAIL_STEP_M = 0.1  # between two points: finer than a car is wide
_TRAIL_POINTS = 500  # 50 m of them, in a row of 20 kB
_JUMP_M = 1.0  # between two reports: the car was put elsewhere, or its odometry began anew
_WIDE_M, _THIN_M = 0.04, 0.02  # lines of the walls, and of the way driven
_WALLS = {"r": 0.5, "g": 0.5, "b": 0.5, "a": 1.0}
_TRAIL = {"r": 0.1, "g": 0.6, "b": 1.0, "a": 1.0}
_LINE_STRIP, _LINE_LIST = 0, 2  # LinePrimitive's types
_NOT_RETURNED = 0.0  # JSON has no infinity; a ray without a return is drawn at the LIDAR itself
_INFO, _WARNING, _ERROR = 2, 3, 4  # Log's levels
_LEVELS = {
    EventCode.STOP_LATCHED: _ERROR,
    EventCode.FAULT_LATCHED: _ERROR,
    EventCode.CLAIM_REFUSED: _WARNING,
    EventCode.ACTION_REFUSED: _WARNING,
    EventCode.SOURCE_SILENT: _WARNING,
    EventCode.BATTERY: _WARNING,
    EventCode.BEAT: _WARNING,
    EventCode.IMU: _WARNING,
}


class StandardRow(NamedTuple):
    """One row: its topic below the car's name, the name of its schema, and its fields."""

    topic: str
    schema: str
    row: Row


# --- the schemas, as Foxglove publishes them for JSON


def _object(**properties: Row) -> Row:
    return {"type": "object", "properties": properties}


def _array(items: Row) -> Row:
    return {"type": "array", "items": items}


_FLOAT, _WHOLE, _TEXT, _FLAG = ({"type": it} for it in ("number", "integer", "string", "boolean"))
_BYTES = {"type": "string", "contentEncoding": "base64"}
_TIME = _object(sec=_WHOLE, nsec=_WHOLE)
_VECTOR = _object(x=_FLOAT, y=_FLOAT, z=_FLOAT)
_QUATERNION = _object(x=_FLOAT, y=_FLOAT, z=_FLOAT, w=_FLOAT)
_POSE = _object(position=_VECTOR, orientation=_QUATERNION)
_COLOR = _object(r=_FLOAT, g=_FLOAT, b=_FLOAT, a=_FLOAT)
_LINE = _object(
    type=_WHOLE,
    pose=_POSE,
    thickness=_FLOAT,
    scale_invariant=_FLAG,
    points=_array(_VECTOR),
    color=_COLOR,
    colors=_array(_COLOR),
    indices=_array(_WHOLE),
)
_ENTITY = _object(
    timestamp=_TIME,
    frame_id=_TEXT,
    id=_TEXT,
    lifetime=_TIME,
    frame_locked=_FLAG,
    metadata=_array(_object(key=_TEXT, value=_TEXT)),
    lines=_array(_LINE),
)

SCHEMAS: dict[str, Row] = {
    "foxglove.FrameTransforms": _object(
        transforms=_array(
            _object(
                timestamp=_TIME,
                parent_frame_id=_TEXT,
                child_frame_id=_TEXT,
                translation=_VECTOR,
                rotation=_QUATERNION,
            )
        )
    ),
    "foxglove.PoseInFrame": _object(timestamp=_TIME, frame_id=_TEXT, pose=_POSE),
    "foxglove.LaserScan": _object(
        timestamp=_TIME,
        frame_id=_TEXT,
        pose=_POSE,
        start_angle=_FLOAT,
        end_angle=_FLOAT,
        ranges=_array(_FLOAT),
        intensities=_array(_FLOAT),
    ),
    "foxglove.CompressedImage": _object(timestamp=_TIME, frame_id=_TEXT, data=_BYTES, format=_TEXT),
    "foxglove.Log": _object(
        timestamp=_TIME, level=_WHOLE, message=_TEXT, name=_TEXT, file=_TEXT, line=_WHOLE
    ),
    "foxglove.SceneUpdate": _object(
        deletions=_array(_object(timestamp=_TIME, type=_WHOLE, id=_TEXT)),
        entities=_array(_ENTITY),
    ),
}


# --- the rows


class StandardRows:
    """The standard rows of one car; times are the wall clock's, in ns since 1970."""

    def __init__(self, car: str, vehicle: Vehicle | None = None, start: Place = ORIGIN) -> None:
        """Set up. ``start`` is where in the map the car's base_link began."""
        self._car = car
        self._vehicle = vehicle
        self._start = start
        self._posed_ns = self._drawn_ns = 0
        self._trail: list[tuple[float, float]] = []
        self._is_drawn = True

    def of(self, report: object, time_ns: int) -> list[StandardRow]:
        """Return the rows of a report; none where Foxglove has no schema for it."""
        if isinstance(report, CarMotion):
            return self._motion(report, time_ns)
        if isinstance(report, CarEvent):
            text = event_text(report, self._vehicle)
            return [log_row(self._car, text, time_ns, _LEVELS.get(report.code, _INFO))]
        if isinstance(report, CarRestarted):
            self._trail = []
        return []

    def scan(self, scan: LidarScan, time_ns: int) -> StandardRow:
        """Return a scan, whose bearings are the car's, in the frame of its base_link."""
        first_rad = scan.first_rad
        row = {
            "timestamp": _time(time_ns),
            "frame_id": f"{self._car}/base_link",
            "pose": _pose(self._mounted_ahead_m(), 0.0, 0.0, LASER_HEIGHT_M),
            "start_angle": first_rad,
            "end_angle": first_rad + (len(scan.ranges_m) - 1) * scan.step_rad,
            "ranges": [_NOT_RETURNED if it is None else round(it, 3) for it in scan.ranges_m],
            "intensities": [],
        }
        return StandardRow("scan", "foxglove.LaserScan", row)

    def track(self, walls: Sequence[Sequence[float]], time_ns: int) -> StandardRow:
        """Return the walls of a track or map, each x1, y1, x2, y2 in m."""
        ends = [end for x1, y1, x2, y2 in walls for end in ((x1, y1), (x2, y2))]
        line = _line(_LINE_LIST, ends, _WIDE_M, _WALLS)
        return StandardRow("track", "foxglove.SceneUpdate", _scene(MAP, "walls", line, time_ns))

    def _motion(self, motion: CarMotion, time_ns: int) -> list[StandardRow]:
        self._follow(motion)
        found = []
        if time_ns - self._posed_ns >= _POSE_EVERY_NS:
            self._posed_ns = time_ns
            found += [self._transforms(motion, time_ns), self._pose_row(motion, time_ns)]
        if not self._is_drawn and time_ns - self._drawn_ns >= _TRAIL_EVERY_NS:
            self._drawn_ns, self._is_drawn = time_ns, True
            line = _line(_LINE_STRIP, self._trail, _THIN_M, _TRAIL)
            row = _scene(f"{self._car}/odom", "driven", line, time_ns)
            found.append(StandardRow("driven", "foxglove.SceneUpdate", row))
        return found

    def _follow(self, motion: CarMotion) -> None:
        """Add the pose to the way driven, if the car has moved; begin anew after a jump."""
        here = motion.x_m, motion.y_m
        last = self._trail[-1] if self._trail else here
        moved_m = hypot(here[0] - last[0], here[1] - last[1])
        if moved_m > _JUMP_M:
            self._trail = []
        if not self._trail or moved_m >= _TRAIL_STEP_M:
            self._trail = [*self._trail[1 - _TRAIL_POINTS :], here]
            self._is_drawn = False

    def _transforms(self, motion: CarMotion, time_ns: int) -> StandardRow:
        odom, base = f"{self._car}/odom", f"{self._car}/base_link"
        here = motion.x_m, motion.y_m, motion.yaw_rad
        found = [
            _transform(MAP, odom, self._start, time_ns),
            _transform(odom, base, here, time_ns),
        ]
        if self._lidar() is not None:
            mount = self._mounted_ahead_m(), 0.0, radians(float(self._lidar_yaw_deg()))
            found.append(_transform(base, f"{self._car}/laser", mount, time_ns, LASER_HEIGHT_M))
        return StandardRow("tf", "foxglove.FrameTransforms", {"transforms": found})

    def _pose_row(self, motion: CarMotion, time_ns: int) -> StandardRow:
        row = {
            "timestamp": _time(time_ns),
            "frame_id": f"{self._car}/odom",
            "pose": _pose(motion.x_m, motion.y_m, motion.yaw_rad),
        }
        return StandardRow("pose", "foxglove.PoseInFrame", row)

    def _lidar(self) -> Mapping[str, Any] | None:
        lidar = self._vehicle.plant.get("lidar") if self._vehicle else None
        return lidar if isinstance(lidar, Mapping) else None

    def _lidar_yaw_deg(self) -> float:
        return float((self._lidar() or {}).get("yaw_deg", 0.0))

    def _mounted_ahead_m(self) -> float:
        """Return how far the LIDAR is ahead of base_link, in m; 0 where that is not known."""
        lidar = self._lidar()
        if lidar is None or self._vehicle is None:
            return 0.0
        return float(lidar["ahead_m"]) - self._vehicle.turns_ahead_m


def log_row(name: str, text: str, time_ns: int, level: int = _INFO) -> StandardRow:
    """Return a remark, by whoever is called ``name``."""
    row = {
        "timestamp": _time(time_ns),
        "level": level,
        "message": text,
        "name": name,
        "file": "",
        "line": 0,
    }
    return StandardRow("log", "foxglove.Log", row)


def image_row(frame: str, jpeg: bytes, time_ns: int) -> StandardRow:
    """Return a camera's picture; ``frame`` is its optical frame."""
    row = {
        "timestamp": _time(time_ns),
        "frame_id": frame,
        "data": b64encode(jpeg).decode(),
        "format": "jpeg",
    }
    return StandardRow("image", "foxglove.CompressedImage", row)


def start_in_map(centre: Place, vehicle: Vehicle) -> Place:
    """Return where base_link is, if the centre of gravity is at ``centre``."""
    x_m, y_m, yaw_rad = centre
    rear_m = vehicle.turns_behind_centre_m
    return x_m - rear_m * cos(yaw_rad), y_m - rear_m * sin(yaw_rad), yaw_rad


def _time(time_ns: int) -> Row:
    sec, nsec = divmod(time_ns, 1_000_000_000)
    return {"sec": sec, "nsec": nsec}


def _vector(x_m: float, y_m: float, z_m: float = 0.0) -> Row:
    return {"x": round(x_m, 4), "y": round(y_m, 4), "z": z_m}


def _turn(yaw_rad: float) -> Row:
    yaw_rad = atan2(sin(yaw_rad), cos(yaw_rad)) if abs(yaw_rad) > pi else yaw_rad
    return {"x": 0.0, "y": 0.0, "z": sin(yaw_rad / 2), "w": cos(yaw_rad / 2)}


def _pose(x_m: float, y_m: float, yaw_rad: float, z_m: float = 0.0) -> Row:
    return {"position": _vector(x_m, y_m, z_m), "orientation": _turn(yaw_rad)}


def _transform(parent: str, child: str, at: Place, time_ns: int, z_m: float = 0.0) -> Row:
    return {
        "timestamp": _time(time_ns),
        "parent_frame_id": parent,
        "child_frame_id": child,
        "translation": _vector(at[0], at[1], z_m),
        "rotation": _turn(at[2]),
    }


def _line(kind: int, points: Sequence[tuple[float, float]], wide_m: float, color: Row) -> Row:
    return {
        "type": kind,
        "pose": _pose(*ORIGIN),
        "thickness": wide_m,
        "scale_invariant": False,
        "points": [_vector(x_m, y_m) for x_m, y_m in points],
        "color": color,
        "colors": [],
        "indices": [],
    }


def _scene(frame: str, name: str, line: Row, time_ns: int) -> Row:
    entity = {
        "timestamp": _time(time_ns),
        "frame_id": frame,
        "id": name,
        "lifetime": {"sec": 0, "nsec": 0},
        "frame_locked": True,
        "metadata": [],
        "lines": [line],
    }
    return {"deletions": [], "entities": [entity]}
