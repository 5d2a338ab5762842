"""A car that was flashed is offered its self-test; whether it is on blocks a person has to say."""

from __future__ import annotations

import argparse
import sys

from host_bridge.interfaces.cli.attest import WHEELS_OFF_GROUND, says_wheels_off_ground
from host_bridge.selftest import command
from host_bridge.services import Host


def offer_self_test(uri: str, host: Host) -> int:
    """The self-test's exit code; 0 if it is left out, which is said. Raises errors.TandemError."""
    if not sys.stdin.isatty():
        return left_out("nobody can be asked here", uri)
    print("Its self-test, on blocks: it steers, turns the wheels slowly, and asks for the runstop.")
    if not says_wheels_off_ground():
        return left_out("its wheels are on the ground", uri)
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return command.run(parser.parse_args([uri, "--attest", WHEELS_OFF_GROUND]), host)


def left_out(why: str, uri: str) -> int:
    """0, once it is said why, and how to test it later."""
    print(f"not tested: {why}; on blocks: tandem selftest {uri}", file=sys.stderr)
    return 0
