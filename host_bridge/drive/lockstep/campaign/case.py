"""A case: one drive of a virtual car, computed from its spec alone.

``run_case`` reads no clock but to say how long it took, which is in ``ran`` and in no hash.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from host_bridge.core import Input
from host_bridge.core.errors import TandemError, UsageFault
from host_bridge.drive.controls import make_input
from host_bridge.drive.lockstep.campaign.detector import (
    BrakeForObstacle,
    ObstacleAhead,
    driver_of,
)
from host_bridge.drive.lockstep.campaign.provenance import ran
from host_bridge.drive.lockstep.campaign.ros_node import CasePace, ros_node
from host_bridge.drive.lockstep.campaign.spec import (
    BRAKE,
    CENTRE,
    CHANGES,
    LINEAGE,
    LOCALISED,
    NONE,
    Spec,
    canonical,
    case_id,
    is_impure,
    refuse_changed,
)
from host_bridge.drive.lockstep.campaign.trace import Trace
from host_bridge.drive.lockstep.car import LockstepCar, VehicleFiles, open_in_lockstep
from host_bridge.drive.lockstep.loop import LockstepDrive
from host_bridge.drive.options import DriveOptions
from host_bridge.inputs.paths.follower import follow
from host_bridge.inputs.paths.path import Path, resampled
from host_bridge.mapping.poses.sources import ODOMETRY
from sim_mock.faults.bounds.promises import TITLES as PROMISES
from sim_mock.faults.bounds.promises import PromiseMonitor
from sim_mock.tracks.loading import load_centre_line

Row = dict[str, Any]
_SPACING_M = 0.05  # of the points of a track's centre line, as tandem path centre has them
_FIGURES = {  # of the row, which the oracles with a limit judge
    "stops_within_m": "stop_m",
    "rests_within_m": "claim_to_rest_m",
    "path_error_within_m": "path_error_max_m",
    "laps_at_least": "laps",
    "distance_at_least_m": "true_distance_m",
}
_LINK = ("loss", "delay_ms", "jitter_ms")  # keys of a bad line's URI, and of a case
_START = ("start_x_m", "start_y_m", "start_yaw_deg")
_OF_A_CAR = ("calibration", "track", "map", "fault")  # keys of its URI, under their own names
_PATH = "path:"
_UNSEEN = "Stopped after its link was lost."
_OVERTIME_S = 60.0  # virtual: arming takes 2 s, coming to rest 5 s at most; beyond is a hang


@dataclass
class CaseInHand:
    """A case on its way, between two ticks.

    ``lineage`` has the moments, in us since power-up, at which all its chance begins anew, each
    with its seed. Whoever observes may add this moment.
    """

    car: LockstepCar
    drive: LockstepDrive
    obstacle: ObstacleAhead | None
    chosen: Input
    lineage: list[tuple[int, int]]
    begun_anew: int = field(default=0)  # moments of its lineage that are over

    @property
    def now_us(self) -> int:
        return self.car.world.now_us

    def follow_lineage(self) -> None:
        """Begin all chance anew where this is a moment of its lineage."""
        for at_us, seed in self.lineage[self.begun_anew :]:
            if at_us > self.now_us:
                return
            self.begun_anew += 1
            self.car.reseed(seed)
            if isinstance(self.chosen, BrakeForObstacle):
                self.chosen.reseed(seed)


CaseObserver = Callable[[CaseInHand], None]  # before each tick


def run_case(spec: Spec, files: VehicleFiles, observe: CaseObserver | None = None) -> Row:
    """Run a case and return its row; a case that cannot be driven is ``refused``.

    ``files`` reads vehicle files. The row's spec has the lineage that ``observe`` left. Raises
    errors.DataFileFault if a file of it has changed.
    """
    refuse_changed(spec)
    wall_s, cpu_s = time.perf_counter(), time.process_time()
    lineage = [(at_us, seed) for at_us, seed in spec.get(LINEAGE, ())]
    try:
        found = _driven(spec, files, lineage, observe)
    except TandemError as error:
        found = {"outcome": "refused", "why": str(error)}
    if lineage:
        spec = {**spec, LINEAGE: [list(moment) for moment in lineage]}
    row: Row = {"case_id": case_id(spec), "spec": spec, "is_pure": not is_impure(spec), **found}
    row["result_hash"] = result_hash(row)
    row["ran"] = ran(time.perf_counter() - wall_s, time.process_time() - cpu_s)
    return row


def result_hash(row: Row) -> str:
    """Return the hash of all that is decided by the spec."""
    return hashlib.sha256(canonical(row).encode()).hexdigest()


def _driven(
    spec: Spec, files: VehicleFiles, lineage: list[tuple[int, int]], observe: CaseObserver | None
) -> Row:
    car = open_in_lockstep(files, uri_of(spec), changes=spec[CHANGES])
    asked = [name for name in spec["oracles"] if name in PROMISES]
    try:
        promises = PromiseMonitor(car.world, car.vehicle) if asked else None
        at_m = spec["obstacle_m"]
        obstacle = ObstacleAhead(car, at_m, spec["start_yaw_deg"]) if at_m else None
        chosen = _controller(spec, car, obstacle)
        options = DriveOptions(
            cars=(),
            input=chosen,
            seconds=spec["duration_s"],
            speed_mps=spec["speed_mps"],
            is_lockstep=True,
        )
        drive = LockstepDrive([car], chosen, options)
        try:
            hand = CaseInHand(car, drive, obstacle, chosen, lineage)
            row = _figures(spec, car, drive, _trace_of(spec, hand, observe))
            row["obstacle_left_m"] = obstacle.distance_m() if obstacle else None
            return _judged(spec, row, promises.broken if promises else {})
        finally:
            drive.close()
    finally:
        car.close()


def _trace_of(spec: Spec, hand: CaseInHand, observe: CaseObserver | None) -> Trace:
    """Drive to the end; return what was recorded on the way."""
    car, drive = hand.car, hand.drive
    trace, pace = Trace(car), CasePace(spec)
    car.is_line_good = True  # what a bad link does to a drive is asked, not whether a car arms
    give_up_us = drive.now_us + round((spec["duration_s"] + _OVERTIME_S) * 1e6)
    while not drive.drive.is_over() and drive.now_us < give_up_us:
        if observe:
            observe(hand)
        hand.follow_lineage()
        drive.tick()
        pace.tick()
        trace.tick()
        car.is_line_good &= drive.drive.begun_us is None
    while drive.drive.is_over() and not trace.stands and drive.now_us < give_up_us:
        car.step_alone()  # it was lost: the host has ended, and the car has not stopped yet
        trace.tick()
    return trace


def _figures(spec: Spec, car: LockstepCar, drive: LockstepDrive, trace: Trace) -> Row:
    driven, trip = drive.drive, drive.drive.trips[0]
    contact = car.surroundings.contact if car.surroundings else None
    path = driven.controls.input.figures().get("path")
    errors = path if isinstance(path, dict) else {}
    row: Row = {
        "driven_s": driven.lasted_s(drive.now_us),
        "distance_m": trip.distance_m,
        "true_distance_m": trace.distance_m,
        "top_mps": trace.top_mps,
        "stops": trace.stops,
        "first_stop": trip.stops[0] if trip.stops else _UNSEEN if trace.stops else "",
        "stop_m": trace.stop_m,
        "stop_s": trace.stop_s,
        "claim_to_rest_m": trace.claim_to_rest_m,
        "hits": contact.hits if contact else None,
        "hit_mps": contact.hit_mps if contact and contact.hits else None,
        "left_count": contact.left_count if contact else None,
        "laps": trace.laps.count,
        "lap_best_s": trace.laps.best_s or None,
        "path_error_rms_m": errors.get("cross_track_rms_m"),
        "path_error_max_m": errors.get("cross_track_worst_m"),
        "trace": trace.digest,
        "bytes": trace.bytes_digest,
    }
    if not driven.is_over():
        why = "the cars did not come to rest in time"
        return {**row, "outcome": "not_measured", "why": why}
    if driven.begun_us is None:
        return {**row, "outcome": "refused", "why": driven.refusal or driven.notice}
    return {**row, "is_completed": driven.is_completed}


def _judged(spec: Spec, row: Row, promises: Mapping[str, str]) -> Row:
    """Return the row with its oracles; ``promises`` are those that were broken, in words.

    One that was broken fails a case that never drove, too.
    """
    if "outcome" in row:
        why = "; ".join(promises.values())
        return {**row, "outcome": "failed", "why": why} if promises else row
    asked = _held(spec, row, promises)
    broken = [promises.get(name, name) for name, held in asked.items() if held is False]
    why = "; ".join(broken)
    if broken and row.get("first_stop"):
        why += f" ({row['first_stop']})"
    return {**row, "oracles": asked, "outcome": "failed" if broken else "passed", "why": why}


def _held(spec: Spec, row: Row, promises: Mapping[str, str]) -> dict[str, bool | None]:
    """Return for each oracle that is asked whether it held; None where it does not apply."""
    left_m = row["obstacle_left_m"]
    has_walls = row["hits"] is not None
    seen = {
        **{name: name not in promises for name in PROMISES},
        "completed": row["is_completed"],
        "no_stop": row["stops"] == 0,
        "no_spurious_stop": row["stops"] == 0 if spec["fault"] == NONE else None,
        "no_collision": row["hits"] == 0 if has_walls else None,
        "no_obstacle_hit": None if left_m is None else left_m > 0.0,
        "on_track": row["left_count"] == 0 if has_walls else None,
    }
    found = {name: seen[name] for name in spec["oracles"]}
    for name, limit in spec.get("bounds", {}).items():
        figure = row[_FIGURES[name]]
        if figure is None:
            found[name] = None
        else:
            found[name] = figure >= limit if "at_least" in name else figure <= limit
    return found


def uri_of(spec: Spec) -> str:
    """Return the URI of the case's virtual car, as every other command takes it."""
    query: dict[str, str] = {"seed": str(spec["seed"])}
    start = [spec[key] for key in _START]
    if any(start):
        query["start"] = ",".join(repr(value) for value in start)
    if spec["payload_kg"]:
        query["payload_kg"] = repr(spec["payload_kg"])
    query.update({key: spec[key] for key in _OF_A_CAR if spec[key] != NONE})
    line = {key: repr(spec[f"link_{key}"]) for key in _LINK if spec[f"link_{key}"]}
    if spec["link_burst"] != NONE:
        line["burst"] = spec["link_burst"]
    if line:
        query["inner.seed"] = query["seed"]
        query.update(line, direction=spec["link_direction"])
    scheme = "lossy+sim" if line else "sim"
    words = "&".join(f"{key}={quote(value, safe='/,:;@.-')}" for key, value in query.items())
    return f"{scheme}://{quote(spec['vehicle'], safe='/.')}?{words}"


def _controller(spec: Spec, car: LockstepCar, obstacle: ObstacleAhead | None) -> Input:
    text: str = spec["controller"]
    if text == BRAKE:
        return driver_of(spec, obstacle)
    if is_impure(spec):
        return ros_node(text, car.clock.now_us)
    if spec["pose"] != ODOMETRY:
        text = _with_pose(spec, text)
    if not text.startswith(CENTRE):
        return make_input(text, {}, car.clock.now_us)
    if spec["track"] == NONE:
        raise UsageFault(
            f"{CENTRE} is the centre line of a track",
            expected='track = "corridor" or another in the same case',
        )
    points = load_centre_line(spec["track"])[:-1]
    path = Path(resampled(points, _SPACING_M, is_loop=True), is_loop=True)
    return follow(path, text.partition("?")[2])


def _with_pose(spec: Spec, text: str) -> str:
    """Return the controller with the case's pose source; a localiser begins at the car's start."""
    head, _, query = text.partition("?")
    if not text.startswith(_PATH) or "pose=" in query:
        raise UsageFault(
            "pose is for a path: controller that names none itself",
            expected='controller = "path:centre" with pose = "truth"',
            got=f"controller = {text!r}, pose = {spec['pose']!r}",
        )
    words = [*filter(None, [query]), f"pose={quote(spec['pose'])}"]
    if spec["pose"].startswith(LOCALISED) and "at=" not in query:
        start = ",".join(repr(spec[key]) for key in _START)
        words.append(f"at={start}")
    return f"{head}?{'&'.join(words)}"
