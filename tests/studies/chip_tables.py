"""Arguments, benches and tables of the commands that measure a chip through its port."""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from host_bridge.deploy.hil.bench import HilBench
from host_bridge.deploy.hil.host.port import BAUD


def parser_of(name: str, doc: str | None, epilog: str) -> argparse.ArgumentParser:
    """Make the parser of ``python -m tests.studies.NAME``, with the board and port."""
    parser = argparse.ArgumentParser(
        prog=f"python -m tests.studies.{name}", description=doc, epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("port")
    parser.add_argument("--repl", metavar="PORT", help="its REPL's port, where the link is a UART")
    parser.add_argument("--baud", type=int, default=BAUD)
    parser.add_argument("--board", required=True, help="as tandem vehicles --check calls it")
    parser.add_argument("--wiring", required=True)
    parser.add_argument("--link", default="usb", choices=("usb", "uart"))
    add_how(parser, is_required=True)
    return parser


def add_how(parser: argparse.ArgumentParser, *, is_required: bool) -> None:
    """Declare what says of each row how it was measured."""
    told = "on what: a board, or what stands for one"
    parser.add_argument("--how", required=is_required, help=told)
    parser.add_argument("--patience", type=float, default=1.0)


def bench_of(args: argparse.Namespace) -> HilBench:
    """Make the bench that these arguments tell."""
    return HilBench(args.port, args.repl or args.port, args.baud, args.patience, say)


def bench_at(port: str, repl: str, args: argparse.Namespace) -> HilBench:
    """Make a bench of a board at the port of its link and at that of its REPL."""
    return HilBench(port, repl, BAUD, args.patience, say)


def merge(old: Iterable[Any], new: Iterable[Any], key_of: Callable[[Any], Any]) -> list[Any]:
    """Put rows that were measured anew in the place of those of the same key."""
    table = {key_of(row): row for row in (*old, *new)}
    return [table[key] for key in sorted(table)]


def write(path: Path, columns: tuple[str, ...], rows: Iterable[Any]) -> None:
    """Write rows, which are dataclasses; a truth value is 0 or 1."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            plain = asdict(row)
            writer.writerow({k: int(v) if isinstance(v, bool) else v for k, v in plain.items()})


def say(text: str) -> None:
    """Tell progress."""
    print(text, file=sys.stderr, flush=True)
