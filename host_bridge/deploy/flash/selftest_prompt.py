"""The offer of a self-test after flashing; a person has to confirm that the car is on blocks."""

from __future__ import annotations

import sys

from host_bridge.core.system.attestation import WHEELS_OFF_GROUND, says_wheels_off_ground
from host_bridge.deploy.selftest import SelfTestOptions, run_self_test
from host_bridge.sharing.services import Host


def prompt_self_test(uri: str, host: Host) -> int:
    """Return the self-test's exit code; 0 if it is skipped, which is said.

    Raises errors.TandemError.
    """
    if not sys.stdin.isatty():
        return report_skipped("nobody can be asked here", uri)
    print("Its self-test, on blocks: it steers, turns the wheels slowly, and asks for the runstop.")
    if not says_wheels_off_ground():
        return report_skipped("its wheels are on the ground", uri)
    return run_self_test(SelfTestOptions(uri, attested=WHEELS_OFF_GROUND), host)


def report_skipped(why: str, uri: str) -> int:
    """Say why the test was skipped, and how to run it later; return 0."""
    print(f"not tested: {why}; on blocks: tandem selftest {uri}", file=sys.stderr)
    return 0
