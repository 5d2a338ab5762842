"""``tandem log FILE``: what a log holds."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from host_bridge.logbook.reading import Summary, summary

EPILOG = """\
examples:
  tandem log drive.mcap         cars, channels, notes, how long, whether it was cut short
  tandem log drive.mcap --json  the same, for a program
  tandem monitor "replay://drive.mcap?car=nigel&speed=2"
                                see it again, twice as fast

Foxglove opens the file as it is.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.description = "What a log (MCAP) of Tandem holds."
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("file", type=Path, help="the log")
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def run(args: argparse.Namespace, context: object) -> int:
    """Raises errors.DataFileFault for what is no log."""
    found = summary(args.file)
    print(json.dumps(_row(found), indent=2) if args.json else "\n".join(_lines(found)))
    return 0


def _row(found: Summary) -> dict[str, object]:
    counts = [
        {"car": car, "topic": topic, "records": count}
        for (car, topic), count in found.counts.items()
    ]
    return {**asdict(found), "counts": counts, "duration_s": _duration_s(found)}


def _lines(found: Summary) -> Iterator[str]:
    ending = "" if found.is_complete else ", cut short"
    yield f"{_duration_s(found):.1f} s{ending}"
    for name, facts in found.facts.items():
        yield f"{name}: " + ", ".join(f"{key} {value}" for key, value in facts.items())
    for (car, topic), count in sorted(found.counts.items()):
        yield f"{count:9} {car}/{topic}"
    for note in found.notes:
        yield f"note: {note}"


def _duration_s(found: Summary) -> float:
    return (found.last_us - found.first_us) * 1e-6
