"""The command line of an opponent: where it is, and what is no opponent."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from host_bridge.cli.commands.ros import _share_place
from host_bridge.core.errors import UsageFault

CAR, OTHER = "sim://f1tenth?track=corridor", "sim://f1tenth?start=3,0,0"


def asked(**changed):
    given = {"car": CAR, "opponent": OTHER, "vocabulary": "f1tenth_gym", "clock": False, "twin": []}
    return SimpleNamespace(**{**given, **changed})


def test_both_are_in_one_place_and_see_each_other():
    args = asked()
    _share_place(args)
    assert args.vocabulary == "f1tenth_gym_ego"
    assert args.car == f"{CAR}&scene=gym"
    assert args.opponent == f"{OTHER}&name=opponent&track=corridor&scene=gym"


def test_what_was_said_of_it_stays():
    args = asked(car=f"{CAR}&scene=race", opponent=f"{OTHER}&name=red")
    _share_place(args)
    assert args.car == f"{CAR}&scene=race"
    assert args.opponent == f"{OTHER}&name=red&track=corridor&scene=race"


@pytest.mark.parametrize(
    "changed",
    [
        {"opponent": "serial:///dev/ttyACM0"},
        {"car": "serial:///dev/ttyACM0"},
        {"car": None},
        {"vocabulary": "f1tenth"},
        {"clock": True},
        {"twin": ["sim://nigel"]},
    ],
)
def test_what_is_no_opponent_is_refused(changed):
    with pytest.raises(UsageFault, match="second virtual car of the gym's topics"):
        _share_place(asked(**changed))
