"""The check that a car keeps its control period on a board, by step times measured on its chip."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from host_bridge.config.boards.facts import BoardType, Wiring
from host_bridge.config.boards.measured import MeasuredSteps, read_measured
from host_bridge.config.boards.tables import minor_of, numbers_of
from host_bridge.core import BudgetRow

WHAT = "us of a step"
HOST_EVERY_US = 10_000  # a source claims a hundred times a second
LONGEST_STEP_US = 20_000  # firmware/core/settings/params.py
HOLDS_SHARE = 0.9  # of a control period, for its longest steps: a margin for the unmeasured
_MANY = 4  # sources, for information; the verdict is that with one source


@dataclass(frozen=True)
class StepTime:
    """The verdict on a car's step time.

    ``p99_us`` is the driving car's, None where none was measured; ``basis`` says where it comes
    from; ``refusal`` is set if the steps do not fit the control period.
    """

    p99_us: int | None
    step_us: int
    basis: str
    refusal: str = ""

    @property
    def row(self) -> BudgetRow | None:
        if self.p99_us is None:
            return None
        return BudgetRow(WHAT, self.p99_us, self.step_us, self.basis)


def step_time(board: BoardType, wiring: Wiring, name: str, step_us: int) -> StepTime:
    """Return the step time of the wiring ``name``, or of the nearest one measured on this chip.

    The chip's clock has to be the same. It is the time under the slowest of the measured
    MicroPython releases.
    """
    link = link_of(wiring)
    timed = [row for row in read_measured() if _is_of(row, board)]
    rows = [row for row in timed if not row.is_paired]
    one, many = (_worst(rows, name, link, count, step_us) for count in (1, _MANY))
    if one is None:
        basis = f"never timed on this chip at {board.clock_mhz} MHz: no step of the program was"
        return StepTime(None, step_us, basis)
    basis = "p99, driving with one source at 100 Hz"
    basis += f"; {many.p99_us} with {_MANY}" if many else f"; with {_MANY} not measured"
    if (one.wiring, one.link) != (name, link):
        basis += f"; that of {one.wiring} over {one.link}, for {name} over {link} was not timed"
    basis += f"; {one.provenance}"
    basis += "".join(_shorter(timed, name, link, step_us))
    return StepTime(one.p99_us, step_us, basis, _refusal(board, name, one.p99_us, step_us))


def link_of(wiring: Wiring) -> str:
    """Return the car's line by this wiring: ``uart`` or ``usb``."""
    return "uart" if "link" in wiring.others else "usb"


def holds(
    board: BoardType, name: str, link: str, step_us: int, micropython: str, *, is_paired: bool
) -> bool:
    """Return whether this very car was measured with this period and release, and kept it.

    It must leave a tenth to spare, by each model of its chip.
    """
    timed = [row for row in read_measured() if _is_of(row, board)]
    return _held(timed, name, link, step_us, micropython, is_paired=is_paired)


def _held(
    timed: Sequence[MeasuredSteps],
    name: str,
    link: str,
    step_us: int,
    release: str,
    *,
    is_paired: bool,
) -> bool:
    rows = [
        row
        for row in timed
        if (row.wiring, row.link, row.beat_us) == (name, link, step_us)
        and row.is_paired is is_paired
        and minor_of(row.micropython) == minor_of(release)
    ]
    worst = _worst(rows, name, link, 1, step_us)
    return worst is not None and worst.p99_us <= HOLDS_SHARE * step_us


def _shorter(timed: Sequence[MeasuredSteps], name: str, link: str, step_us: int) -> Iterator[str]:
    """Yield a text for each release under which a shorter control period was measured and kept."""
    beats = sorted({row.beat_us for row in timed if row.beat_us < step_us})
    releases = sorted({row.micropython for row in timed}, key=numbers_of)
    for beat_us in beats:
        for release in releases:
            if _held(timed, name, link, beat_us, release, is_paired=False):
                also = _held(timed, name, link, beat_us, release, is_paired=True)
                but = "" if also else ", without a box's key"
                yield f"; MicroPython {release} holds {beat_us / 1000:g} ms{but}"


def _is_of(row: MeasuredSteps, board: BoardType) -> bool:
    is_same = row.chip == board.chip.name and row.mhz == board.clock_mhz
    return is_same and row.is_configured and row.state == "driving"


def _worst(
    rows: Sequence[MeasuredSteps], name: str, link: str, sources: int, step_us: int
) -> MeasuredSteps | None:
    """Return the slowest row that received what these sources send in a step, or the next more.

    Only rows with this very control period count, where there are any.
    """
    heard = -(-sources * step_us // HOST_EVERY_US)
    heard_enough = [row for row in rows if row.heard >= heard]
    enough = [row for row in heard_enough if row.beat_us == step_us] or heard_enough
    own = [row for row in enough if (row.wiring, row.link) == (name, link)]
    known = own or [row for row in enough if row.wiring == name] or enough
    if not known:
        return None
    least = min(row.heard for row in known)
    return max((row for row in known if row.heard == least), key=lambda row: row.p99_us)


def _refusal(board: BoardType, name: str, p99_us: int, step_us: int) -> str:
    if p99_us <= step_us:
        return ""
    is_longer = step_us < LONGEST_STEP_US and p99_us <= LONGEST_STEP_US
    longer = "write step_s = 0.02 in the vehicle file, or " if is_longer else ""
    return (
        f"{name} on {board.name}: a step takes {p99_us / 1000:.1f} ms of its {step_us / 1000:g}; "
        f"{longer}take a faster board"
    )
