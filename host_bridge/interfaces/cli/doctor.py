"""``tandem doctor``: is this machine fit to drive cars, and if not, what to do."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # the findings are handed in
    from host_bridge.doctor import Finding

EPILOG = """\
examples:
  tandem doctor                 look at everything
  tandem doctor --json          the same, for a program
  tandem doctor --udev | sudo tee /etc/udev/rules.d/71-tandem.rules
                                names that stay: /dev/tandem/<board id>

It exits with 1 if something fails; warnings are no failures.
"""


class Context(Protocol):
    """What the command needs of its surroundings."""

    def examine(self) -> Sequence[Finding]:
        """doctor.examine of this machine."""

    def udev_rules(self) -> str:
        """doctor.rules for this system's group of serial ports."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.description = "Python, MicroPython, serial ports and what gets in their way."
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print the findings as JSON")
    output.add_argument("--udev", action="store_true", help="print a udev rules file")


def run(args: argparse.Namespace, context: Context) -> int:
    """Returns 1 if something fails."""
    if args.udev:
        print(context.udev_rules(), end="")
        return 0
    findings = context.examine()
    print(_json(findings) if args.json else "\n".join(map(_line, findings)))
    return 1 if any(finding.verdict.value == "fail" for finding in findings) else 0


def _line(finding: Finding) -> str:
    line = f"{finding.verdict.value:5} {finding.subject:19} {finding.what}"
    return f"{line}\n{'':26}-> {finding.remedy}" if finding.remedy else line


def _json(findings: Sequence[Finding]) -> str:
    rows = [
        {
            "subject": finding.subject,
            "verdict": finding.verdict.value,
            "what": finding.what,
            "remedy": finding.remedy,
        }
        for finding in findings
    ]
    return json.dumps(rows, indent=2)
