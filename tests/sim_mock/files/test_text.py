"""What a file is: its encoding, its size, and what is no file at all."""

import codecs
import os

import pytest

from sim_mock.files import text
from sim_mock.files.text import (
    FileFault,
    MissingFile,
    decoded,
    lines_of,
    read_bytes,
    read_lines,
    read_text,
)
from tests.support.evidence import some


def written(tmp_path, data):
    path = tmp_path / "file.csv"
    path.write_bytes(data)
    return path


def outcome(read):
    """The lines, or the error's text."""
    try:
        return list(read())
    except FileFault as fault:
        return str(fault)


def test_utf_8_is_read_with_and_without_a_mark(tmp_path):
    for data in some([b"\xc3\x9cbung", codecs.BOM_UTF8 + b"\xc3\x9cbung"]):
        assert read_text(written(tmp_path, data), 100) == "Übung"


@pytest.mark.parametrize(
    ("data", "what"),
    [
        ("a,b\n".encode("utf-16"), ":1: is not text in UTF-8; expected UTF-8; got UTF-16"),
        ("a,b\n".encode("utf-16-le"), "got UTF-16"),
        ("a,b\n".encode("utf-16-be"), "got UTF-16"),
        ("a,b\n".encode("utf-32"), "got UTF-32"),
        (
            "a\nÜbung\n".encode("cp1252"),
            ":2: is not text in UTF-8; expected UTF-8; got the byte 0xdc",
        ),
        (b"a\n\xed\xa0\x80\n", ":2: is not text in UTF-8"),  # half of a surrogate pair
    ],
)
def test_other_encodings_are_refused_by_name_and_line(tmp_path, data, what):
    path = written(tmp_path, data)
    with pytest.raises(FileFault) as caught:
        read_text(path, 100)
    assert what in str(caught.value)
    assert "save it as UTF-8" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_log_in_place_of_a_table_is_named_with_the_way_to_read_it(tmp_path):
    with pytest.raises(FileFault, match=r"got a log \(MCAP\); .* tandem replay LOG"):
        read_text(written(tmp_path, b"\x89MCAP0\r\n" + bytes(99)), 1000)


@pytest.mark.parametrize(
    ("begin", "what"),
    [
        (b"PK\x03\x04\x14\x00\x06\x00", "got a zip file, as .xlsx is; save the sheet as CSV UTF-8"),
        (b"\x1f\x8b\x08\x00\x00\x00", "got a file that gzip packed; unpack it: gunzip FILE"),
        (b"P5\n362 302\n255\n\xcd", "of a map the .yaml file is meant, which names its picture"),
        (b"\x89PNG\r\n\x1a\n", "of a map the .yaml file is meant, which names its picture"),
    ],
)
def test_a_sheet_that_was_not_saved_as_text_is_named(tmp_path, begin, what):
    path = written(tmp_path, begin + bytes(range(99)))
    assert outcome(lambda: lines_of(read_text(path, 1000))).endswith(what)
    assert outcome(lambda: read_lines(path, 1000)).endswith(what)


def test_zeros_are_no_utf_16():
    assert decoded("x", bytes(8)) == "\0" * 8


def test_lines_end_in_any_way_and_at_no_control_within():
    assert list(lines_of("a\r\nb\rc\nd\x0ce\u2028f")) == [
        (1, "a"),
        (2, "b"),
        (3, "c"),
        (4, "d\x0ce\u2028f"),
    ]


IN_PARTS = {
    "ends of all kinds": b"a\r\nbb\rc\n\r\n\n\rd",
    "CR alone": b"1\r22\r\r333\r",
    "a mark": codecs.BOM_UTF8 + b"one\ntwo\n",
    "a mark alone": codecs.BOM_UTF8,
    "letters of several bytes": "Ü\n€\r\n😀\n".encode(),
    "nothing": b"",
    "no end": b"a\nb",
    "another encoding": b"a\nbb\n\xdc\n",
    "UTF-16": "a,b\n".encode("utf-16"),
    "a letter that is cut": b"a\n\xe2\x82",
}


@pytest.mark.parametrize("block", [5, 6, 7, 1 << 20])
@pytest.mark.parametrize("kind", IN_PARTS)
def test_a_file_read_in_parts_is_the_same_as_read_whole(tmp_path, monkeypatch, kind, block):
    path = written(tmp_path, IN_PARTS[kind])
    monkeypatch.setattr(text, "_BLOCK", block)
    parts = outcome(lambda: read_lines(path, 100))
    assert parts == outcome(lambda: lines_of(read_text(path, 100)))


def test_a_line_without_an_end_is_refused_before_it_fills_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(text, "_BLOCK", 64)
    path = written(tmp_path, b"short\n" + b"x" * 65)
    assert ":2: a line is too long to be read; expected at most" in outcome(
        lambda: read_lines(path, 1000)
    )


def test_a_size_in_parts_is_bounded_and_told(tmp_path, monkeypatch):
    monkeypatch.setattr(text, "_BLOCK", 4)
    path, told = written(tmp_path, b"a\nb\nc\n"), []
    assert "is too large to be read" in outcome(lambda: read_lines(path, 5))
    list(read_lines(path, 6, lambda done, total: told.append((done, total))))
    assert told == [(4, 6), (6, 6)]


def test_a_size_is_bounded_before_it_is_read(tmp_path):
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.truncate(1 << 40)  # a terabyte that takes no room
    with pytest.raises(FileFault, match=r"too large.* at most 2\.0 MiB; got 1048576\.0 MiB"):
        read_bytes(path, 2 << 20)


def test_what_is_no_ordinary_file_is_refused_at_once(tmp_path):
    pipe, loop = tmp_path / "pipe", tmp_path / "loop"
    os.mkfifo(pipe)
    loop.symlink_to(loop)
    rows = [
        (pipe, "got a named pipe"),
        (tmp_path, "got a folder"),
        ("/dev/zero", "got a device or a socket"),
        (loop, "Too many levels"),
        (tmp_path / "no\0ne", "null byte"),
    ]
    for path, what in some(rows):
        with pytest.raises(FileFault, match=what):
            read_bytes(path, 100)
    with pytest.raises(MissingFile, match="cannot be read; got No such file or directory"):
        read_bytes(tmp_path / "none", 100)


def test_a_link_to_a_file_is_read(tmp_path):
    link = tmp_path / "link"
    link.symlink_to(written(tmp_path, b"x"))
    assert read_bytes(link, 1) == b"x"
