"""Converts the parameters of the lifecycle node to arguments of ``tandem ros``; imports no ROS."""

from __future__ import annotations

import contextlib
import io
import itertools
from collections.abc import Mapping, Sequence

# name -> its default, and its option; a parameter at its default is not passed on
PARAMETERS: dict[str, tuple[str | float | bool, str]] = {
    "car": ("", "--car"),
    "vocabulary": ("f1tenth", "--as"),
    "mux": ("", "--mux"),
    "vesc": ("", "--vesc"),
    "priorities": ("", "--priorities"),
    "opponent": ("", "--opponent"),
    "sensors": ("", "--sensors"),
    "poses": ("", "--poses"),
    "twin": ("", "--twin"),
    "vehicle": ("", "--vehicle"),
    "profile": ("", "--profile"),
    "speed": (0.0, "--speed"),
    "cap": (0.0, "--cap"),
    "record": ("", "--record"),
    "clock": (False, "--clock"),
    "forgiving": (False, "--forgiving"),
}


class WrongParameter(ValueError):
    """A parameter that the command refuses, with the command's own error text."""


def remaps_of(arguments: Sequence[str]) -> list[str]:
    """Return the remappings of topics and services that ROS 2 gave this node (``-r FROM:=TO``).

    They are passed on to the car's node. Those of the node's name and namespace, and those of other
    nodes, are left out.
    """
    found = [
        rule
        for flag, rule in itertools.pairwise(arguments)
        if flag in ("-r", "--remap") and not rule.startswith("__")
    ]
    return [rule for rule in found if ":" not in rule.partition(":=")[0]]  # another node's


def options_of(
    values: Mapping[str, object], namespace: str, remaps: Sequence[str] = ()
) -> list[str]:
    """Return the command line: unarmed, in the node's namespace.

    Raises NotRight for a refused parameter, and ImportError where Tandem is not installed.
    """
    if not values["car"]:
        raise WrongParameter("the parameter car is empty: say which, as car:=sim://f1tenth")
    words = ["ros", "--unarmed"]
    if namespace.strip("/"):
        words += ["--ns", f"/{namespace.strip('/')}"]
    for name, (default, option) in PARAMETERS.items():
        value = values[name]
        if value is True:
            words.append(option)
        elif value != default or (name in ("car", "vocabulary") and value):
            words += [option, str(value)]
    words += [word for rule in remaps for word in ("--remap", rule)]
    _read(words)
    return words


def _read(words: list[str]) -> None:
    """Parse the words as the command will; raise NotRight with its error text."""
    from host_bridge.cli import main as cli
    from host_bridge.cli.commands import ros

    command = cli.find(words[0])
    complaint = io.StringIO()
    try:
        with contextlib.redirect_stderr(complaint):
            cli.parser_of(command, ros).parse_args(words[1:])
    except SystemExit:
        raise WrongParameter(complaint.getvalue().strip().splitlines()[-1]) from None
