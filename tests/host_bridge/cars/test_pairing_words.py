"""What is said about a runstop box that a car does not believe, and what to do about it."""

import pytest

from firmware.protocol import codes
from host_bridge.core.codes import NOBODY, BoxPairing, Cause, EventCode
from host_bridge.core.reports import CarEvent
from host_bridge.core.texts.stops import _stop_source
from host_bridge.core.texts.stops import stop_source_name as name_of
from host_bridge.core.texts.table import stop_source_remedy

BOX = codes.STOP_SOURCE_RUNSTOP_BOX
NEXT = ("tandem pair", "switch", "arm in a profile")


@pytest.mark.parametrize(
    "pairing", [it for it in BoxPairing if it not in (BoxPairing.ANSWERS, BoxPairing.SILENT)]
)
def test_each_way_of_not_being_paired_says_what_to_do_next(pairing):
    remedy = pairing.advice
    assert any(step in remedy for step in NEXT)
    assert len({it.advice for it in BoxPairing}) == len(BoxPairing)


def test_each_way_of_having_a_key_says_how_it_is_forgotten():
    """A car that was given one is not armed without its box, whatever its vehicle file says."""
    for pairing in (BoxPairing.NO_KEY, BoxPairing.MOVED, BoxPairing.NO_CIPHER):
        assert "tandem pair --forget" in pairing.advice
    assert "tandem pair --forget" in stop_source_remedy(name_of(BOX, None))


def latched(cause, by):
    return CarEvent(1, 0, EventCode.STOP_LATCHED, cause, by)


def test_the_stop_of_another_cars_box_is_named_as_that():
    own = _stop_source(latched(Cause.STOP_SOURCE, BOX), (), None)
    strange = _stop_source(latched(Cause.STOP_SOURCE, BOX + codes.STOP_SOURCE_STRANGE), (), None)
    assert "not this car's" in strange
    assert "not this car's" not in own
    assert _stop_source(latched(Cause.STOP_SOURCE, NOBODY), (), None) == "a stop source says stop"
