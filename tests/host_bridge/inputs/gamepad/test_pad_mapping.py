"""What is kept of a kind of pad: read back as it was, and refused where it makes no sense."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from host_bridge.core.errors import DataFileFault
from host_bridge.core.system.users_folder import users_folder
from host_bridge.inputs.gamepad import mapping
from host_bridge.inputs.gamepad.mapping import (
    LivenessCheck,
    PadMapping,
    PadMappings,
    Roles,
)

ROW = {"guid": "ff00", "name": "Wheel", "sdl": "ff00,Wheel,a:b0", "life": "reports", "roles": {}}


def test_a_new_pad_is_driven_by_its_shoulder_buttons_and_triggers():
    assert PadMapping("ff00") == PadMapping("ff00", "", "", None, Roles())
    assert PadMapping.from_row(ROW) == PadMapping(
        "ff00", "Wheel", ROW["sdl"], LivenessCheck.REPORTS
    )


@pytest.mark.parametrize("liveness", [None, LivenessCheck.REPORTS, LivenessCheck.PRESSES])
def test_a_row_reads_back(liveness):
    kept = PadMapping("ff00", "Wheel", "line", liveness, Roles(steer="+rightx", brake="-lefty"))
    assert PadMapping.from_row(kept.row()) == kept
    assert kept.row()["life"] == (liveness.value if liveness else "")
    json.dumps(kept.row())


@pytest.mark.parametrize("role", ["hand", "autonomy", "arm", "quit", "stop", "forward", "reverse",
                                  "brake", "steer"])  # fmt: skip
def test_a_role_is_a_control_of_sdls(role):
    axes = () if role == "stop" else ("leftx", "-leftx", "+righttrigger")
    for control in ("", *axes, "paddle1"):
        found = PadMapping.from_row({**ROW, "roles": {role: control}})
        assert getattr(found.roles, role) == control
    with pytest.raises(ValueError, match=f"{role} = 'lever' is no control"):
        PadMapping.from_row({**ROW, "roles": {role: "-lever"}})


def test_only_an_axis_is_a_trigger():
    row = {**ROW, "life": "trigger"}
    with pytest.raises(ValueError, match="but leftshoulder is no axis"):
        PadMapping.from_row(row)
    found = PadMapping.from_row({**row, "roles": {"hand": "lefttrigger"}})
    assert found.liveness is LivenessCheck.TRIGGER


LINE = "ff00,Wheel,b:b1,start:b7,leftshoulder:b4,righttrigger:b5,lefttrigger:a2,leftx:a0"
# roles, SDL's line, and what is said of them
CONFLICTS = [
    ({"arm": "b"}, "", "stop and arm are one control, b"),
    ({"stop": "start"}, "", "stop and arm are one control, start"),
    ({"quit": "b"}, "", "stop and quit are one control"),
    ({"hand": "b"}, "", "stop and hand are one control"),
    ({"autonomy": "b"}, "", "stop and autonomy are one control"),
    ({"brake": "b"}, "", "stop and brake are one control"),
    ({"stop": "righttrigger"}, "", "stop = 'righttrigger' is no button"),
    ({"stop": "-leftx"}, "", "stop = 'leftx' is no button"),
    ({"arm": "back"}, "", "arm and quit are one control, back"),
    ({"autonomy": "leftshoulder"}, "", "hand and autonomy are one control"),
    ({"forward": "start"}, "", "arm and forward are one control"),
    ({}, LINE.replace("start:b7", "start:b1"), r"stop and arm are one control, start \(b1\)"),
    ({}, LINE.replace("righttrigger:b5", "righttrigger:b1"), "stop and forward are one control"),
    ({"arm": "x"}, LINE.replace("start:b7", "x:h0.1") + ",b:h0.1", "stop and arm are one control"),
    ({"stop": "guide"}, LINE + ",guide:a5", "stop = 'guide' is no button"),
    ({"stop": "guide"}, LINE + ",guide:a2~", "stop = 'guide' is no button"),
]


@pytest.mark.parametrize(("roles", "line", "message"), CONFLICTS)
def test_a_stop_is_only_a_stop_and_a_button_has_one_role(tmp_path, roles, line, message):
    row = {**ROW, "sdl": line, "roles": roles}
    with pytest.raises(ValueError, match=message):
        PadMapping.from_row(row)
    (tmp_path / "ff00.json").write_text(json.dumps(row))
    with pytest.raises(DataFileFault, match=message):
        PadMappings(tmp_path).of("ff00")


@pytest.mark.parametrize(
    ("roles", "line"),
    [
        ({}, ""),
        ({}, LINE),
        ({"forward": "-lefty", "reverse": "+lefty", "brake": "lefttrigger"}, ""),
        ({"arm": "", "quit": ""}, ""),
        ({"hand": "lefttrigger", "reverse": ""}, LINE),
        ({"stop": "righttrigger", "forward": "-lefty"}, LINE),  # of this wheel a button
    ],
)
def test_what_is_no_conflict_is_read(roles, line):
    found = PadMapping.from_row({**ROW, "sdl": line, "roles": roles})
    assert found.roles == Roles(**roles)


@pytest.mark.parametrize("changes", [{"roles": {"lever": "a"}}, {"life": "no"}, {"roles": None}])
def test_anything_else_is_refused(changes):
    with pytest.raises((KeyError, TypeError, ValueError, AttributeError)):
        PadMapping.from_row({**ROW, **changes})


# --- where it is kept


def test_it_is_kept_whole_in_a_file_of_its_own(tmp_path):
    mappings = PadMappings(tmp_path / "new" / "pads")
    for name in ("first", "second"):
        path = mappings.keep(PadMapping("ff00", name))
        assert path == mappings.path("ff00") == tmp_path / "new" / "pads" / "ff00.json"
        assert mappings.of("ff00").name == name
    assert path.read_text().startswith('{\n  "guid": "ff00",\n'), "for people, too"
    assert list(path.parent.iterdir()) == [path], "no draft is left"
    assert mappings.of("ff01") == PadMapping("ff01")


def test_a_draft_that_could_not_be_put_in_its_place_changes_nothing(tmp_path, monkeypatch):
    mappings = PadMappings(tmp_path)
    mappings.keep(PadMapping("ff00", "first"))

    def fail(*given):
        raise OSError("full")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(DataFileFault, match="got: full"):
        mappings.keep(PadMapping("ff00", "second"))
    assert mappings.of("ff00").name == "first"


@pytest.mark.parametrize(
    "text", ["{", "[]", "{}", "7", '{"roles": []}', json.dumps({**ROW, "life": "no"})]
)
def test_a_file_that_cannot_be_read_is_named(tmp_path, text):
    (tmp_path / "ff00.json").write_text(text)
    with pytest.raises(DataFileFault) as raised:
        PadMappings(tmp_path).of("ff00")
    fault = raised.value
    assert fault.what == "what is kept of this pad cannot be read"
    assert fault.where == str(tmp_path / "ff00.json")
    assert fault.got
    assert fault.remedy == "tandem pads map makes it anew, once the file is deleted"


@pytest.mark.parametrize(
    ("own", "shared", "folder"),
    [
        ("/own", "/shared", "/own/pads"),
        ("/own", None, "/own/pads"),
        (None, "/shared", "/shared/tandem/pads"),
        (None, None, "/home/me/.local/share/tandem/pads"),
    ],
)
def test_it_lies_in_the_users_data_folder(monkeypatch, own, shared, folder):
    for name, value in (("TANDEM_DATA_DIR", own), ("XDG_DATA_HOME", shared)):
        if value:
            monkeypatch.setenv(name, value)
        else:
            monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(mapping.Path, "home", lambda: Path("/home/me"))
    assert users_folder("pads") == Path(folder)
    assert PadMappings().folder == Path(folder)


def test_a_pad_whose_name_looks_like_a_control_has_none_by_that():
    line = LINE.replace("Wheel", "back:b1")  # b1 is the stop; back itself is not in the line
    assert PadMapping.from_row({**ROW, "sdl": line}).sdl == line
