"""Writes the page of a campaign's keys, out of the schema that reads ``campaign.toml``.

python -m tests.host_bridge.drive.lockstep.campaign.keys_page --write
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from host_bridge.core.files import Key
from host_bridge.drive.lockstep.campaign import plan, sampling, spec
from host_bridge.drive.lockstep.campaign.rare.design import SPLITTING_KEYS
from host_bridge.drive.lockstep.campaign.rare.levels import LEVELS
from host_bridge.drive.lockstep.campaign.runners import keeping
from sim_mock.files.keys import REQUIRED

PAGE = Path(__file__).resolve().parents[5] / "host_bridge" / "drive" / "lockstep" / "KEYS.md"
HEAD = """\
# Keys of a campaign

All that `campaign.toml` may say. What is not here, is out of its range or contradicts something
else is refused with its line. `tandem campaign new` writes a file to begin with; the words are
explained in [campaign](campaign/README.md). This page is made of the schema that reads the file, by
`python -m tests.host_bridge.drive.lockstep.campaign.keys_page --write`.
"""
FACTORS = """\
Each key is one of `[case]` above, or `vehicle_changes.` and a dotted key of the vehicle file. Its
value is a list of levels, each once, or a range: `{ from = 1.0, to = 2.0, levels = 3 }`. All
combinations are driven. A factor of a name of its own has levels that set several keys:
`[factors.lease."0.12 s"]` is such a level, a table of keys and values; each level sets the same.
"""
KINDS = (sampling.GRID, sampling.LIST, *sampling.SAMPLED, sampling.SPLITTING)
DESIGN = f"""\
`kind` is one of {", ".join(KINDS)}; `grid`, all
combinations of `[factors]`, is the default. Of `list`, `cases` is a list of tables with the same
keys, as of `[factors]`, and there is no `[factors]`. Of the others, `samples` says how many, each
of which is one repetition; of `sobol` it is a power of 2. `saltelli` is the design from which Sobol
indices follow: `samples`, a power of 2, sets of two runs and one for each key of `[uncertain]`, all
with one seed, and no `[factors]`. `splitting` is of a rare failure
([rare](campaign/rare/README.md)), with keys of its own below.

`impossible` is one of refuse, list. A cell whose vehicle is refused ends a campaign before it
begins; with `impossible = "list"` it is listed in the report, and so is one whose `speed_mps` is
above what its vehicle, profile and source may do. Its cases are "refused", in no denominator.
"""
KEEP = """\
When all cases are there, those whose logs are asked for are driven once more, each into
`logs/CASE.mcap`, and have to end as their rows say.
"""
UNCERTAIN = """\
Each key is one of `[case]` above that is a number, or `vehicle_changes.` and a dotted key of the
vehicle file. Its value is one of three tables, in the key's own unit:
"""


def page() -> str:
    """Return the text of the page."""
    tables = (
        ("[campaign]", plan.ABOUT),
        ("[case]", plan.CASE_KEYS),
    )
    parts = [HEAD, *(_part(name, keys) for name, keys in tables)]
    parts += [
        "`vehicle_changes` is a table of dotted keys of the vehicle file, each in its own unit.\n",
        f"## `[factors]`\n\n{FACTORS}",
        f"## `[design]`\n\n{DESIGN}",
        "Keys of `splitting`, which has no `[factors]`:\n",
        *_rows(SPLITTING_KEYS),
        "",
        "| level | how near a drive has come |",
        "|---|---|",
        *(f"| `{name}` | {it.meaning} |" for name, it in LEVELS.items()),
        "",
        f"## `[uncertain]`\n\n{UNCERTAIN}",
        "| distribution | keys |",
        "|---|---|",
        *_distributions(),
        "",
        "## `[oracles]`\n",
        "A case fails if one that is asked for does not hold.\n",
        "| name | value | holds if |",
        "|---|---|---|",
        *(f"| `{name}` | true | {text} |" for name, text in spec.OBSERVED.items()),
        *(f"| `{key.name}` | {key.expected} | {key.meaning} |" for key in spec.BOUNDS),
        "",
        _part("[keep]", keeping.KEEP),
        f"{KEEP}",
        _part("[limits]", plan.LIMITS),
        _part("[report]", plan.REPORT),
    ]
    return "\n".join(parts)


def _distributions() -> Iterator[str]:
    for name, keys in (
        ("uniform", sampling.UNIFORM),
        ("normal, cut at both ends", sampling.NORMAL),
        ("lognormal, cut at its high end", sampling.LOGNORMAL),
    ):
        yield f"| {name} | {', '.join(f'`{key.name}`' for key in keys)} |"


def _part(name: str, keys: Sequence[Key]) -> str:
    return "\n".join([f"## `{name}`", "", *_rows(keys), ""])


def _rows(keys: Sequence[Key]) -> Iterator[str]:
    yield "| name | value | must be there |"
    yield "|---|---|---|"
    for key in keys:
        meaning = f"; {key.meaning}" if key.meaning else ""
        needed = "yes" if key.default is REQUIRED else f"no: `{key.default!r}`"
        yield f"| `{key.name}` | {key.expected}{meaning} | {needed} |"


def main() -> int:
    """Write the page, or print it."""
    if "--write" in sys.argv[1:]:
        PAGE.write_text(page(), encoding="utf-8")
        return 0
    print(page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
