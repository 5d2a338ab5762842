"""Documents as people write them, and as nobody would: depth, bombs, doubles, halves of letters."""

import codecs
import time

import pytest

from sim_mock.files.documents import key_lines, read_json, read_json_lines, read_toml
from sim_mock.files.text import FileFault
from sim_mock.files.yaml_document import read_yaml, yaml_value
from tests.support.evidence import every, some

READERS = {"toml": read_toml, "yaml": read_yaml, "json": read_json}
GOOD = {
    "toml": 'name = "Übung"\n[a]\nb = 1.5\n',
    "yaml": "name: Übung\na:\n  b: 1.5\n",
    "json": '{"name": "Übung",\n "a": {"b": 1.5}}',
}
VALUES = {"name": "Übung", "a": {"b": 1.5}}


def written(tmp_path, kind, text):
    path = tmp_path / f"file.{kind}"
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    return path


@pytest.mark.parametrize("kind", READERS)
def test_each_format_is_read_with_and_without_a_mark_and_with_crlf(tmp_path, kind):
    good = GOOD[kind]
    for data in some([good.encode(), codecs.BOM_UTF8 + good.replace("\n", "\r\n").encode()]):
        assert READERS[kind](written(tmp_path, kind, data)).values == VALUES


def test_keys_have_their_lines(tmp_path):
    for kind in some(["toml", "yaml"]):
        document = READERS[kind](written(tmp_path, kind, GOOD[kind]))
        assert str(document.fault("a.b", "too large")) == f"{document.path}:3, a.b: too large"
        assert document.where("a.c") == f"{document.path}:2, a.c"


BOMB = "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9) if before else '1'}]\n"
    for before, name in zip(["", *"abcdefgh"], "abcdefghi", strict=True)
)
WRONG = {
    "toml": {
        "x = ": "is not TOML",
        "x = 1\nx = 2\n": ":2: is not TOML",
        "x = " + "[" * 5000 + "]" * 5000: "nested too deeply",
        "a." * 200_000 + "a = 1": "got a line of 400005 letters",
        'x = "\\ud800"': "is not TOML",
        "# " + "x" * 600_000: "too large",
    },
    "yaml": {
        "{": "is not YAML",
        "- 1\n- 2\n": "is not YAML as it is read here; expected names with values; got a list",
        "": "got nothing",
        "x: 1\ny: 2\nx: 3\n": "got the key 'x' is there twice",
        "x: " + "[" * 5000: "nested too deeply",
        "x: " + "[" * 40 + "]" * 40: "nested too deeply",
        BOMB: "has too many values",
        "a: &a [*a]": "nested too deeply",
        "a: &a {b: 1}\nc:\n  <<: *a\n": "merging by << is not read",
        "x: !!python/object:os.system {}": "is not YAML",
        "? [1]\n: 2\n": "is not YAML",
        "{? {a: 1} : 2}": "is not YAML",
        'x: "\\ud800"': "half of a surrogate pair",
        "# " + "x" * 600_000: "too large",
        "x: 1\n---\nx: 2\n": "is not YAML",
        "x: 0o9": "",
    },
    "json": {
        "{": ":1: is not JSON",
        "[1]": "got a list",
        '{"x": 1, "x": 2}': "the key 'x' is there twice",
        '{"x": NaN}': "NaN is no number of JSON",
        '{"x": ' + "[" * 100_000: "nested too deeply",
        '{"x": ' + "[" * 40 + "]" * 40 + "}": "nested too deeply",
        '{"x": "\\ud800"}': "half of a surrogate pair",
        '{"x": ' + "9" * 5000 + "}": "is not JSON",
    },
}


@pytest.mark.parametrize(
    ("kind", "text"),
    [(kind, text) for kind in WRONG for text in WRONG[kind]],
    ids=lambda it: it[:20],
)
def test_what_is_hostile_is_refused_in_one_line_and_at_once(tmp_path, kind, text):
    what = WRONG[kind][text]
    path = written(tmp_path, kind, text)
    begun_s = time.process_time()
    if not what:
        assert READERS[kind](path).values  # a text, and no number
        return
    with pytest.raises(FileFault) as caught:
        READERS[kind](path)
    assert time.process_time() - begun_s < 5.0
    assert what in str(caught.value)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_numbers_of_yaml_are_those_that_ros_reads():
    rows = {
        "1e-3": 0.001,
        "-.5": -0.5,
        "0x10": 16,
        "0": 0,
        "2_5": "2_5",
        "1:30": "1:30",
        "010": "010",
        "2001-01-01": "2001-01-01",
        "true": True,
        ".inf": float("inf"),
    }
    assert every(yaml_value(text) == value for text, value in rows.items())


def test_lines_of_json_are_those_that_begin_so_and_whole(tmp_path):
    path = tmp_path / "run.jsonl"
    path.write_text('{"s": "a", "x": 1}\nrubbish\n{"s": "a", "x": 2}\n{"s": "a", "x"')
    rows = list(read_json_lines(path, b'{"s": "a"', 1 << 20))
    assert [(line, row["x"]) for line, row in rows] == [(1, 1), (3, 2)]
    path.write_text('{"s": "a", "x": \n')
    with pytest.raises(FileFault, match=r"run\.jsonl:1: is not JSON"):
        list(read_json_lines(path, b'{"s": "a"', 1 << 20))


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (read_toml, "a = 1\nwheelbase_m = 0,32\n"),
        (read_toml, "a = 1\nwheelbase_m = -0,32 # as measured\n"),
        (read_json, '{"a": 1,\n"wheelbase_m": 0,32}'),
    ],
)
def test_a_decimal_comma_is_refused_by_that_name(tmp_path, read, text):
    path = tmp_path / "file"
    path.write_text(text)
    with pytest.raises(FileFault, match=r":2: .* got a decimal comma; numbers have a point: "):
        read(path)


def test_a_table_that_is_a_list_of_tables_has_its_line():
    assert key_lines("a = 1\n[[fault]]\nat_s = 1\n[[fault]]\nat_s = 2\n") == {
        "a": 1, "fault": 2, "fault.0": 2, "fault.0.at_s": 3, "fault.1": 4, "fault.1.at_s": 5,
    }  # fmt: skip
