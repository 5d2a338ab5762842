"""The report of ``tandem replay``: how far a twin is from its car, as text, JSON and a picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, TypeAlias

from calibration.bayesian_fit.estimates import Fit
from calibration.files.calibration import Calibration
from calibration.replay.cause_report import CauseReport
from calibration.replay.replay import (
    ErrorSummary,
    Replay,
    hausdorff_m,
    path_length_m,
    speed_and_yaw_rate,
)
from calibration.simulation.poses import Poses

ROWS_S = 0.5  # between the lines of the table
Shown: TypeAlias = tuple[Replay, Calibration | None]


@dataclass(frozen=True)
class ReplayReport:
    """Replays, each with its calibration; ``is_each`` if each has one of its own.

    ``causes`` says for each why its car differs from the twin; none if nobody asked.
    """

    shown: Sequence[Shown]
    is_each: bool
    causes: Sequence[CauseReport] = ()

    def rows(self) -> list[dict[str, Any]]:
        """Return the replays as ``--json`` prints them."""
        causes: Sequence[Any] = [it.row() for it in self.causes] or [None] * len(self.shown)
        return [
            {**_row(*one), "cause": cause} for one, cause in zip(self.shown, causes, strict=True)
        ]

    def lines(self) -> Iterator[str]:
        """Yield the replays as lines for people."""
        return _lines(self.shown, self.causes, is_each=self.is_each)

    def draw(self, path: Path) -> None:
        """Write the first replay as a picture."""
        _draw(*self.shown[0], path)


def _row(shown: Replay, calibration: Calibration | None) -> dict[str, Any]:
    o, fit = shown.run.odometry, _fit(calibration)
    return {
        "commands": shown.run.commands.file,
        "odometry": o.file,
        "was_fitted_on": bool(calibration and calibration.was_fitted_on(shown.run)),
        "fitted_on": calibration.fitted_on if calibration else [],
        "lack_of_fit": fit.lack_of_fit._asdict() if fit else None,
        "band_stretch": fit.stretch if fit else None,
        "t_s": o.t_s.tolist(),
        "car": _poses(shown, shown.car),
        "twin": _model(shown, shown.twin),
        "untuned": _model(shown, shown.untuned),
        "band": _band(shown),
    }


def _fit(calibration: Calibration | None) -> Fit | None:
    return calibration.fit if calibration else None


def _poses(shown: Replay, poses: Poses) -> dict[str, Any]:
    speed_mps, yaw_rate_radps = speed_and_yaw_rate(shown.run.odometry.t_s, poses)
    return {
        "x_m": poses.x_m.tolist(),
        "y_m": poses.y_m.tolist(),
        "yaw_rad": poses.yaw_rad.tolist(),
        "speed_mps": speed_mps.tolist(),
        "yaw_rate_radps": yaw_rate_radps.tolist(),
        "way_m": path_length_m(poses, shown.first_sample),
    }


def _model(shown: Replay, poses: Poses) -> dict[str, Any]:
    errors = shown.errors(poses)
    return {
        **_poses(shown, poses),
        "position_error_m": errors.position_m.tolist(),
        "yaw_error_rad": errors.yaw_rad.tolist(),
        **errors.summary(shown.first_sample)._asdict(),
        "error_percent_of_way": _percent(shown, poses),
        "hausdorff_m": hausdorff_m(poses, shown.car),
    }


def _percent(shown: Replay, poses: Poses) -> float:
    """Return the last position error in percent of the distance that the car drove."""
    last_m = shown.errors(poses).summary(shown.first_sample).position_last_m
    # m: a car that stood has no distance to be measured against
    return 100.0 * last_m / max(path_length_m(shown.car, shown.first_sample), 1e-6)


def _band(shown: Replay) -> dict[str, Any] | None:
    """Return the 90 % band for each sample since the first command, or None."""
    band = shown.band
    if band is None:
        return None
    return {
        "t_s": shown.run.odometry.t_s[shown.first_sample :].tolist(),
        "position_m": band.position_m.tolist(),
        "yaw_rad": band.yaw_rad.tolist(),
        "is_inside": shown.is_inside().tolist(),
        "is_extrapolated": band.is_extrapolated.tolist(),
    }


def _lines(
    shown: Sequence[Shown], causes: Sequence[CauseReport], *, is_each: bool
) -> Iterator[str]:
    calibration = shown[0][1]
    if not is_each:
        yield from _numbers(calibration) if calibration else ("numbers of the vehicle file", "")
    for (one, own), cause in zip_longest(shown, causes):
        fitted = " (was fitted on)" if own and own.was_fitted_on(one.run) else ""
        yield f"{one.run.commands.file} against {one.run.odometry.file}{fitted}"
        if is_each and own and own.fit:
            yield f"predicted by a fit on {', '.join(own.fitted_on)}"
            yield _lack_of_fit(own.fit)
        else:
            yield from _over_time(one)
            yield ""
        yield _HEAD
        yield _summed("twin", one.errors(one.twin).summary(one.first_sample))
        yield _summed("untuned", one.errors(one.untuned).summary(one.first_sample))
        yield from _paths(one)
        yield from _banded(one, _fit(own))
        if cause:
            yield from cause.lines()
        yield ""


def _paths(shown: Replay) -> Iterator[str]:
    car_m = path_length_m(shown.car, shown.first_sample)
    for name, poses in (("twin", shown.twin), ("untuned", shown.untuned)):
        percent, apart_m = _percent(shown, poses), hausdorff_m(poses, shown.car)
        way = f"last {percent:.1f} % of {car_m:.2f} m"
        yield f"{name:8} {way}; paths {apart_m:.3f} m apart (Hausdorff)"


def _banded(shown: Replay, fit: Fit | None) -> Iterator[str]:
    band, is_inside = shown.band, shown.is_inside()
    if band is None or fit is None:
        return
    out = f"outside in {(~is_inside).sum()} of {len(is_inside)} samples"
    verdict = f"inside all the way ({len(is_inside)} samples)" if is_inside.all() else out
    wide = f"{band.position_m[-1]:.3f} m, {band.yaw_rad[-1]:.3f} rad either side at the end"
    yield f"band     90 %: {wide}; the car is {verdict}"
    if fit.stretch > 1.0:
        yield (
            f"         {fit.stretch:.2f} times as wide as the model says: "
            "by what the fitted runs say of one another"
        )
    if band.is_extrapolated.any():
        low, high = fit.steering
        when_s = shown.run.odometry.t_s[shown.first_sample :][band.is_extrapolated][0]
        note = f"fitted was steering {low:g} to {high:g}"
        yield f"         EXTRAPOLATED from {when_s:.2f} s on: {note}"


def _lack_of_fit(fit: Fit) -> str:
    lack_of_fit = fit.lack_of_fit
    if not lack_of_fit.is_significant:
        return f"lack of fit: none seen (p = {lack_of_fit.p:.2g})"
    like = f"; it looks like {lack_of_fit.suspect}" if lack_of_fit.suspect else ""
    return f"LACK OF FIT (p = {lack_of_fit.p:.2g}): these runs are not of such a car{like}"


def _numbers(calibration: Calibration) -> Iterator[str]:
    yield f"calibration of {calibration.vehicle}, {calibration.date}; 95 % intervals"
    for one in calibration.estimates:
        note = "" if one.is_fitted else "  hardly told by the data: near its known value"
        yield f"  {one.name:29}{one.value:9.4g}  {one.low:9.4g} to {one.high:<9.4g}{note}".rstrip()
    if calibration.fit:
        low, high = calibration.fit.steering
        yield f"  fitted with steering of {low:g} to {high:g}; {_lack_of_fit(calibration.fit)}"
        if len(calibration.fitted_on) == 1:
            yield "  fitted on one run: by how much the next one differs is assumed, not measured"
    yield ""


def _over_time(shown: Replay) -> Iterator[str]:
    yield "                the car            twin is off      untuned is off"
    yield "   t s     x m     y m     rad        m     rad        m     rad"
    o, twin, untuned = shown.run.odometry, shown.errors(shown.twin), shown.errors(shown.untuned)
    next_s = shown.run.commands.t_s[0]
    for i in range(shown.first_sample, len(o.t_s)):
        if o.t_s[i] < next_s:
            continue
        next_s += ROWS_S
        car = f"{o.t_s[i]:6.2f} {o.x_m[i]:7.3f} {o.y_m[i]:7.3f} {o.yaw_rad[i]:7.3f}"
        own = f"{twin.position_m[i]:8.3f} {twin.yaw_rad[i]:7.3f}"
        yield f"{car} {own} {untuned.position_m[i]:8.3f} {untuned.yaw_rad[i]:7.3f}"


_HEAD = "           rms m  worst m   last m  rms rad    worst     last"


def _summed(name: str, summary: ErrorSummary) -> str:
    return f"{name:8}" + " ".join(f"{amount:8.3f}" for amount in summary)


def _draw(shown: Replay, calibration: Calibration | None, path: Path) -> None:
    from calibration.replay.picture import draw  # imports matplotlib, which only a picture needs

    twin, untuned = (
        shown.errors(p).summary(shown.first_sample) for p in (shown.twin, shown.untuned)
    )
    fitted = "fitted on" if calibration and calibration.was_fitted_on(shown.run) else "predicted"
    title = (
        f"{shown.run.commands.file} ({fitted}): "
        f"rms {twin.position_rms_m:.3f} m, {twin.yaw_rms_rad:.3f} rad; "
        f"untuned {untuned.position_rms_m:.3f} m, {untuned.yaw_rms_rad:.3f} rad"
    )
    draw(shown, title, path)
