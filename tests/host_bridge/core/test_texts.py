"""The table of texts has every code that a user meets, each in plain words."""

from __future__ import annotations

import ast
import errno
import os
import re
import string
from pathlib import Path

import pytest

from firmware.protocol import codes as wire
from host_bridge.cli.output.status_line import status_line
from host_bridge.config import load_vehicle, vehicle_names
from host_bridge.config.vehicle.schema import SOURCE_IDS, STOP_SOURCES
from host_bridge.core import OperatorAction, codes
from host_bridge.core.texts import table as texts
from host_bridge.drive.display.lines import car_line
from host_bridge.sharing.network.sealed.handshake import GrantStatus
from host_bridge.sharing.stop import frozen_stop, stop_words
from host_bridge.station.views.car_row import car_row
from tests.host_bridge.drive.drives import Drive, Rig
from tests.support.evidence import every, some

KINDS = {kind.__name__: kind for kind in codes.Worded.__subclasses__()}
# The codes of the wire that a user may meet, by how their names begin in firmware/protocol/codes.py
PREFIXES = {
    "ACTION_": codes.Action,
    "BIND_": codes.BindResult,
    "CAUSE_": codes.Cause,
    "CLAIM_": codes.ClaimVerdict,
    "DEVICE_": codes.Device,
    "EVENT_": codes.EventCode,
    "FAULT_": codes.Fault,
    "LOST_": codes.ArbitrationLoss,
    "MODE_": codes.RcMode,
    "PAIRING_": codes.BoxPairing,
    "PARAMETER_": codes.WriteResult,
    "PROFILE_": codes.Profile,
    "REFUSED_": codes.Refusal,
    "RESET_": codes.ResetCause,
    "SENDER_": codes.Sender,
}
# What looks like an identifier in a text and is what a user reads or types
PLAIN = {*(state.word for state in codes.State), "ROS", "IMU", "AES", "PORT"}
HOST = Path(texts.__file__).parents[2]
SENTENCES = ("State", "Cause", "Fault", "Refusal", "ClaimVerdict", "ArbitrationLoss", "BoxPairing")
PAGE = Path(texts.__file__).parents[2] / "station/page"
_CODE = re.compile(r"\b(?:[A-Z]+_[A-Z_]+|[a-z]+_[a-z_]+)\b")


def test_every_enumeration_has_its_table_and_there_is_no_other():
    assert texts.TEXTS.keys() == KINDS.keys()
    assert {
        "State",
        "Cause",
        "Fault",
        "Refusal",
        "ArbitrationLoss",
        "Sender",
        "EventCode",
    } <= KINDS.keys()


@pytest.mark.parametrize("name", texts.TEXTS)
def test_every_code_has_its_row_once_and_in_order(name):
    rows = texts.TEXTS[name]
    assert list(rows) == [code.name for code in KINDS[name]]
    assert every(row[1] and row[2] for row in rows.values())


def test_every_source_and_stop_source_of_vehicle_files_has_its_row():
    assert texts.SOURCE_TEXTS.keys() == SOURCE_IDS.keys()
    assert texts.STOP_SOURCE_TEXTS.keys() == STOP_SOURCES.keys()
    assert len(texts.SOURCES) == len(texts.SOURCE_TEXTS)
    assert len(texts.STOP_SOURCES) == len(texts.STOP_SOURCE_TEXTS)


@pytest.mark.parametrize("name", SENTENCES)
def test_each_says_what_is_so_and_what_to_do_as_sentences(name):
    for code, _, sentence, remedy in some(texts.TEXTS[name].values()):
        for text in some([it for it in (sentence, remedy) if it]):
            assert text[0].isupper(), code
            assert text[-1] == ".", code
            assert not _CODE.search(text), code


def test_no_two_causes_and_no_two_faults_read_alike():
    for rows in (texts.CAUSES, texts.FAULTS, texts.REFUSALS, texts.LOSSES):
        assert len({row[2] for row in rows}) == len(rows)


def test_no_two_states_have_one_word_and_a_stop_says_the_same_words():
    words = [code.word for code in codes.State]
    assert len({*words, texts.NO_LINK}) == len(words) + 1
    assert list(frozen_stop.STATES) == [code.name for code in codes.State]


def test_a_parked_car_whose_stop_is_latched_is_shown_as_stopped():
    for name in some(frozen_stop.STATES):
        word = codes.State[name].word
        assert texts.locked_state_word(name) == ("STOPPED" if word == "PARKED" else word)
    parked = Drive(Rig("a"))
    parked.bind()
    parked.advance(0.5)
    car = parked.rigs[0].car
    assert (car.status.state, car.status.shown_state.word) == (codes.State.STANDBY, "PARKED")
    car.stop(codes.Sender.COMMAND, "test", parked.now_us)
    parked.advance(0.2)
    assert (car.status.state, car.status.shown_state.word) == (codes.State.STANDBY, "STOPPED")
    assert "  STOPPED  " in status_line(car)
    assert car_line(car, parked.now_us).startswith("a: STOPPED")
    assert car_row(car, None, parked.now_us, "")["word"] == "STOPPED"
    car.request(OperatorAction(codes.Action.CLEAR, codes.Sender.COMMAND), parked.now_us)
    parked.advance(0.2)
    assert car.status.shown_state.word == "PARKED"


def test_whatever_is_not_in_the_table_is_called_as_it_is():
    assert texts.locked_state_word("unknown (13)") == "unknown (13)"
    assert texts.source_word("mine") == texts.source_subject("mine") == "mine"
    assert texts.stop_source_word("mine") == texts.stop_source_subject("mine") == "mine"
    assert texts.stop_source_remedy("mine")
    assert codes.Cause(13).phrase == codes.Cause(13).advice == "unknown (13)"


def test_a_cause_with_a_name_to_it_is_one_of_the_causes():
    assert set(texts.CAUSES_BY) - {row[0] for row in texts.CAUSES} == {"STRANGE"}
    for text in texts.CAUSES_BY.values():
        fields = {field for _, field, _, _ in string.Formatter().parse(text) if field}
        assert fields <= {"who", "word", "limit", "held"}


def test_the_page_has_no_words_of_its_own_for_states():
    raw = {code.name for code in codes.State} - {code.word for code in codes.State}
    for path in some(list(PAGE.rglob("*.js"))):
        assert not [name for name in raw if f'"{name}"' in path.read_text()], path.name


def test_each_reason_for_no_answer_to_a_stop_has_its_text(monkeypatch):
    def heard(state: str, pid: int = 7, fault: int = 0) -> str:
        monkeypatch.setattr(stop_words, "_state_of", lambda pid: state)
        return stop_words.why_unheard(pid, fault)

    found = {
        "NOT_ASKED": heard("", fault=errno.EACCES),
        "NOTHING_BACK": heard("", os.getpid()),
        "NOT_LET_IN": heard("", 0, errno.EAGAIN),
        "SUSPENDED": heard("T"),
        "ENDED": heard("X"),
        "SILENT": heard("S"),
    }
    assert found.keys() == texts.UNHEARD_TEXTS.keys()
    for code, text in some(found.items()):
        _, _, why, known = texts.UNHEARD_TEXTS[code]
        assert text == f"{why.format(pid=7, reason=os.strerror(errno.EACCES))}\n  {known}"
    assert heard("") == found["SILENT"]


def test_each_reason_to_refuse_a_guest_has_its_text():
    refusals = [code.name for code in GrantStatus if code is not GrantStatus.GRANTED]
    assert list(texts.GUEST_REFUSAL_TEXTS) == refusals


def numbered(prefix: str) -> dict[str, int]:
    """The constants of the firmware whose names begin so, without counts."""
    found = {name: getattr(wire, name) for name in dir(wire) if name.startswith(prefix)}
    return {name[len(prefix) :]: n for name, n in found.items() if not name.endswith("_COUNT")}


@pytest.mark.parametrize("prefix", PREFIXES)
def test_every_code_of_the_firmware_has_a_text(prefix):
    kind = PREFIXES[prefix]
    for name, number in some(numbered(prefix).items()):
        code = kind(number)
        assert code.name == name
        assert code.word != code.name or name in PLAIN
        assert code.sentence, name


def test_every_state_and_actuator_of_the_firmware_has_a_text():
    for kind in (codes.State, codes.Actuator, codes.BatteryStage):
        for code in some(list(kind)):
            assert (code.word, code.sentence) != (code.name, code.name)


def test_every_source_and_sender_of_the_vehicle_files_has_a_word():
    for name in some(list(vehicle_names())):
        vehicle = load_vehicle(name)
        for source in vehicle.sources:
            assert source.name in texts.SOURCE_TEXTS
        for stop_source in vehicle.stop_sources:
            assert stop_source.name in texts.STOP_SOURCE_TEXTS
        for profile in some(list(vehicle.profile_caps_mps)):
            assert texts.profile_word(profile) != profile
    assert texts.profile_word("mine") == "mine"


def every_text():
    for kind, rows in texts.TEXTS.items():
        yield from ((kind, text) for row in rows.values() for text in row[1:])
    for rows in (texts.SOURCES, texts.STOP_SOURCES, texts.UNHEARD, texts.GUEST_REFUSALS):
        yield from ((row[0], text) for row in rows for text in row[1:])
    for table in (texts.CAUSES_BY, texts.UNAIDED):
        yield from table.items()


def test_no_text_holds_a_raw_identifier():
    for code, text in some(list(every_text())):
        plain = re.sub(r"\{[^}]*\}", "", text)
        assert not _CODE.search(plain), (code, text)
        shouted = set(re.findall(r"\b[A-Z]{2,}\b", plain))
        assert shouted <= PLAIN, (code, text)


def test_what_names_a_state_in_a_text_is_its_word():
    assert codes.State.STANDBY.word in codes.WriteResult.NOT_NOW.sentence
    assert codes.State.FAULT.word in codes.WriteResult.NOT_NOW.sentence


CODES = {  # how the host's code calls a value that is a code
    "action", "actuator", "cause", "code", "device", "fault", "first_cause", "profile", "rc_mode",
    "refusal", "reset", "sender", "stage", "state", "verdict",
}  # fmt: skip
UNKNOWN = HOST / "core/texts/events.py"  # names an event that this host does not know


def names_in_sentences(source: str):
    """Of what a text with parts has the ``name``: the expression before it."""
    texts_in = (it for it in ast.walk(ast.parse(source)) if isinstance(it, ast.JoinedStr))
    parts = (part for text in texts_in for part in ast.walk(text))
    named = (it for it in parts if isinstance(it, ast.Attribute) and it.attr == "name")
    return [ast.unparse(it.value) for it in named]


def test_a_code_s_own_name_in_a_sentence_is_seen():
    assert names_in_sentences('f"it is {car.state.name}, {x}"') == ["car.state"]


def test_no_sentence_is_made_of_a_code_s_own_name():
    """Of a code a sentence has its word or phrase; JSON and CSV have its name."""
    for path in some(sorted(HOST.rglob("*.py"))):
        named = () if path == UNKNOWN else names_in_sentences(path.read_text())
        assert not [it for it in named if it.rpartition(".")[2] in CODES], path
