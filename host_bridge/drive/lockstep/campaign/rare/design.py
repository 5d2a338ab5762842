"""The design ``splitting`` of a campaign: reads it, and makes the specs of its replicates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from host_bridge.core.files import Document, choice, integer
from host_bridge.drive.lockstep.campaign.rare.levels import LEVELS
from host_bridge.drive.lockstep.campaign.spec import BRAKE, SPLITTING, Spec, described, seed_of
from sim_mock.files.reading import read_table

_MOST = 1_000_000  # as of cases
# Chosen: 24 branches in 6 replicates take some 830 runs for a failure in 5000, within the 1000
SPLITTING_KEYS = (
    described(choice("level", tuple(LEVELS)), "how near a drive has come to the failure"),
    described(integer("particles", 4, 10_000, default=24), "branches at once, in each replicate"),
    described(integer("replicates", 2, 1000, default=6), "independent estimates"),
    described(integer("most_runs", 8, _MOST, default=1000), "of all replicates together"),
    described(integer("chance", 0, _MOST, default=0), "ordinary cases beside it, judged as ever"),
)


@dataclass(frozen=True)
class Splitting:
    """The settings of ``[design] kind = "splitting"``."""

    level: str
    particles: int
    replicates: int
    most_runs: int
    chance: int

    def specs(self, values: Mapping[str, Any], seed: int, wall_s: float) -> Iterator[Spec]:
        """Yield the spec of each replicate of a case; ``seed`` is the campaign's."""
        settings = {
            "level": self.level,
            "particles": self.particles,
            "most_runs": self.most_runs // self.replicates,
            "wall_s": wall_s,
        }
        for number in range(self.replicates):
            own = seed_of(seed, self.chance + number)
            yield {**values, "seed": own, SPLITTING: settings}


def read_splitting(document: Document, case: Mapping[str, Any]) -> Splitting:
    """Read the design. Raises FileFault with line and key."""
    given = dict(document.values["design"])
    for name in ("kind", "impossible"):
        given.pop(name, None)
    found = Splitting(**read_table(document, "design", given, SPLITTING_KEYS))
    if document.values.get("factors"):
        raise document.fault("factors", "a rare event is of one cell", "no [factors]")
    if found.most_runs < 2 * found.particles * found.replicates:
        raise document.fault(
            "design.most_runs",
            "leaves no room to split",
            f"twice particles x replicates at least, {2 * found.particles * found.replicates}",
            str(found.most_runs),
        )
    needs = {
        "path_error_m": ("a path: controller", case["controller"].startswith("path:")),
        "looks_missed": (f"{BRAKE} as controller", case["controller"] == BRAKE),
    }
    what, is_there = needs.get(found.level, ("", True))
    if not is_there:
        raise document.fault("design.level", "there is no such figure", what, found.level)
    return found
