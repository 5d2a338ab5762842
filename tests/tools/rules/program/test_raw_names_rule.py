"""A text that shows a name of the code, or Python's own words, is refused with its line."""

import pytest

from tests.tools.rules.program import raw_names_rule

HANDLER = """
try:
    read()
except (KeyError, OSError) as error:
    raise DataFileFault("no row", got={})
"""


def found(tmp_path, text, file="host_bridge/car.py"):
    return raw_names_rule.refusals({file: text}, tmp_path)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('"it lets by_us pass"', ["by_us"]),
        ('f"{it} lets by_us pass"', ["by_us"]),
        ('"the ConnectedCar is gone"', ["ConnectedCar"]),
        ('"it is NOT_YET here"', ["NOT_YET"]),
        ('"a MicroPython is there"', []),
        ('"see --neutral-us, or a/path_of/files.py"', []),
        ('"by_us"', []),
    ],
)
def test_a_raw_name_in_a_text_is_refused(tmp_path, text, names):
    refused = [it.split("'")[1] for it in found(tmp_path, f"said = {text}\n")]
    assert refused == names


def test_what_stands_by_itself_somewhere_is_typed_and_may_be_named(tmp_path):
    text = 'print("the column t_s is missing")\n'
    assert found(tmp_path, text) != []
    assert found(tmp_path, f'KEYS = ("t_s",)\n{text}') == []
    (tmp_path / "hardware").mkdir()
    (tmp_path / "hardware/a.toml").write_text("t_s = 1\n")
    assert found(tmp_path, text) == []


def test_a_class_s_name_is_none_of_these(tmp_path):
    text = 'class WheelBox: pass\nNAMES = ["WheelBox"]\nprint("no WheelBox here")\n'
    assert len(found(tmp_path, text)) == 1


def test_docstrings_assertions_and_types_in_quotes_are_no_texts(tmp_path):
    text = '"""About by_us."""\nassert it, "open_car gave it"\nIt = "OpenCar | None"\n'
    assert found(tmp_path, text) == []


@pytest.mark.parametrize("said", ["str(error)", 'f"no {error}"', 'f"no {error!r}"'])
def test_an_error_of_python_s_is_worded_before_it_is_shown(tmp_path, said):
    assert len(found(tmp_path, HANDLER.format(said))) == 1
    assert found(tmp_path, HANDLER.format("misread_text(error)")) == []
    assert found(tmp_path, HANDLER.format(said).replace("(KeyError, OSError)", "OSError")) == []


def test_a_class_s_name_is_put_into_no_text(tmp_path):
    assert len(found(tmp_path, 'got = f"a {type(value).__name__}"\n')) == 1
    assert len(found(tmp_path, "refuse(got=type(value).__name__)\n")) == 1
    assert found(tmp_path, "table[type(value).__name__] = 1\n") == []


def test_what_may_show_them_is_there_and_shows_them():
    for file in (*raw_names_rule.PROGRAMS, *raw_names_rule.SHOWN):
        assert (raw_names_rule.ROOT / file).is_file()


def test_a_reason_that_is_needed_no_more_is_refused(tmp_path):
    (refusal,) = found(tmp_path, "a = 1\n", next(iter(raw_names_rule.SHOWN)))
    assert "needs none any more" in refusal


def test_nothing_to_look_at_passes_nothing(tmp_path):
    with pytest.raises(ValueError, match="no file"):
        raw_names_rule.refusals({}, tmp_path)
