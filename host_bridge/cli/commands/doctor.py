"""``tandem doctor``: checks whether this machine is fit to drive cars, and names remedies."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from host_bridge.deploy.doctor import DoctorFinding, examine, this_machine, udev_rules
from host_bridge.sharing.services import Host

EPILOG = """\
examples:
  tandem doctor                 check everything
  tandem doctor --json          the same, for a program
  tandem doctor --udev | sudo tee /etc/udev/rules.d/71-tandem.rules
                                stable names: /dev/tandem/<board id>

It exits with 1 if something fails; warnings are no failures.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.description = "Check Python, MicroPython, serial ports and what gets in their way."
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print the findings as JSON")
    output.add_argument("--udev", action="store_true", help="print a udev rules file")


def run(args: argparse.Namespace, host: Host) -> int:
    """Run the checks; return 1 if one fails."""
    machine = this_machine()
    if args.udev:
        print(udev_rules(machine.serial_group), end="")
        return 0
    findings = examine(machine)
    print(_json(findings) if args.json else "\n".join(map(_line, findings)))
    return 1 if any(finding.verdict.value == "fail" for finding in findings) else 0


def _line(finding: DoctorFinding) -> str:
    line = f"{finding.verdict.value:5} {finding.subject:19} {finding.what}"
    return f"{line}\n{'':26}-> {finding.remedy}" if finding.remedy else line


def _json(findings: Sequence[DoctorFinding]) -> str:
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
