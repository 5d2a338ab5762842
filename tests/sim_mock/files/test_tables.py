"""Tables as people save them: separators, quotes, marks, commas, names and units."""

import codecs
import re

import pytest

from sim_mock.files.keys import choice, flag, integer, number
from sim_mock.files.table_schema import TableSchema, parse_columns
from sim_mock.files.tables import read_table, stream_table
from sim_mock.files.text import FileFault
from tests.support.evidence import some

SCHEMA = TableSchema(
    "file of commands",
    (
        number("t_s", 0.0, 1e6),
        choice("channel", ("throttle", "steering")),
        number("value_norm", -1.0, 1.0),
    ),
    rows="commands",
    rising="t_s",
    example="t_s,channel,value_norm / 0.0,throttle,0.1",
)
WANTED = [(0.0, "steering", 0.2), (0.01, "throttle", 0.3), (1.0, "throttle", 0.0)]
ROWS = (("t_s", "channel", "value_norm"), ("0.00", "steering", "0.2"), ("0.01", "throttle", "0.3"),
        ("1.00", "throttle", "0.0"))  # fmt: skip
PLACES = TableSchema(
    "path",
    (number("x_m", -1e4, 1e4), number("y_m", -1e4, 1e4), number("yaw_rad", -7.0, 7.0, None)),
    rows="points",
    has_gaps=True,
)


def read_streamed(path, schema):
    table, rows = stream_table(path, schema)
    table.rows.extend(rows)
    return table


READERS = {"whole": read_table, "streamed": read_streamed}


def written(tmp_path, text):
    path = tmp_path / "table.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def joined(sign, rows=ROWS, end="\n"):
    return end.join(sign.join(row) for row in rows) + end


def quoted(sign):
    return joined(sign, [[f'"{cell}"' for cell in row] for row in ROWS])


COMMAS = [[cell.replace(".", ",") for cell in row] for row in ROWS]
WAYS = {
    "commas": joined(","),
    "commas and blanks": joined(", "),
    "semicolons": joined(";"),
    "tabs": joined("\t"),
    "spaces": joined("   "),
    "CRLF": joined(",", end="\r\n"),
    "CR": joined(",", end="\r"),
    "no end": joined(",").rstrip("\n"),
    "byte order mark": codecs.BOM_UTF8.decode() + joined(","),
    "mark before a comment": codecs.BOM_UTF8.decode() + "# made\n" + joined(";"),
    "quotes": quoted(","),
    "quotes and semicolons": quoted(";"),
    "Excel's sep=": "sep=;\n" + joined(";"),
    "comments": "# made by hand\n" + joined(",").replace("\n", "\n# and\n\n", 2),
    "names in a comment": "# made\n# " + joined(";"),
    "names in a comment, rows otherwise": "# " + joined(",", ROWS[:1]) + joined("\t", ROWS[1:]),
    "empty columns at the right": joined(",", [(*row, "", "") for row in ROWS]),
    "empty rows below": joined(",") + ",,\n\n",
    "further columns": joined(",", [(row[0], "x", *row[1:]) for row in ROWS]),
    "other order": joined(",", [row[::-1] for row in ROWS]),
    "decimal commas between semicolons": joined(";", COMMAS),
    "decimal commas between tabs": joined("\t", COMMAS),
    "decimal commas in quotes": joined(",", [[f'"{cell}"' for cell in row] for row in COMMAS]),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("way", WAYS)
def test_one_table_in_every_way_of_saving_it(tmp_path, way, reader):
    table = READERS[reader](written(tmp_path, WAYS[way]), SCHEMA)
    assert [tuple(row.values[name] for name in SCHEMA.names()) for row in table.rows] == WANTED


HEAD = "t_s,channel,value_norm\n"
WRONG = {
    "": (1, "is no file of commands: no names of its columns"),
    "\0\0\0\0": (1, "zero bytes"),
    HEAD: (1, "no commands in it"),
    "time,channel,value_norm\n0,throttle,0\n": (1, "the column t_s is missing"),
    "t_ms,channel,value_norm\n": (1, "t_ms is in another unit: t_s is in seconds"),
    "T_s,channel,value_norm\n": (1, "--columns t_s=T_s"),
    "t_s,channel,channel,value_norm\n": (1, "the column 'channel' is there twice"),
    HEAD + "0,throttle\n": (2, "wrong number of values; expected 3; got 2"),
    HEAD + "0,throttle,0,1\n": (2, "are these decimal commas, between commas?"),
    HEAD + '0,throttle,"0.1\n': (2, "a quote is opened and not closed"),
    HEAD + "0,throttle,2_5\n": (2, "value_norm is not a number"),
    HEAD + "0,throttle,0x1\n": (2, "value_norm is not a number"),
    HEAD + "0,throttle,٠\n": (2, "value_norm is not a number"),
    HEAD + "0,throttle,nan\n": (2, "value_norm is out of range: not a finite number"),
    HEAD + "1e999,throttle,0\n": (2, "t_s is not a number"),
    HEAD + "0,throttle,\n": (2, "value_norm is not a number"),
    HEAD + "0,throttle,50\n": (2, "a number from -1 to 1; got 50; are these percent?"),
    HEAD + "0,horn,0\n": (2, "unknown channel; expected throttle or steering; got horn"),
    HEAD + "# note\n1,throttle,0\n0.5,throttle,0\n": (4, "time runs backward"),
    HEAD.replace(",", ";") + "0,5;throttle;0.1\n": (2, "decimal commas and decimal points"),
    HEAD + '"1,000",throttle,0\n': (2, "of decimals or of thousands"),
    HEAD + '"1,000 ",throttle,0\n': (2, "of decimals or of thousands"),
    HEAD + f"0,{'x' * 2000},0\n": (2, "channel is too long"),
    HEAD + f"0,throttle,0,{'x' * 200_000}\n": (2, "a line is too long; expected at most 100000"),
    HEAD + f"0,throttle,0.{'1' * 500}\n": (2, "value_norm is not a number"),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("text", WRONG, ids=lambda text: text[:40])
def test_what_is_none_is_refused_in_one_line_with_its_place(tmp_path, text, reader):
    line, what = WRONG[text]
    path = written(tmp_path, text)
    with pytest.raises(FileFault) as caught:
        READERS[reader](path, SCHEMA)
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert what in str(caught.value)
    assert "a file like: t_s,channel" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_columns_may_have_other_names(tmp_path):
    path = written(tmp_path, "time;what;how;t_s\n1;throttle;0,5;9\n")
    names = parse_columns("t_s=time, channel=what,value_norm=how")
    table = read_table(path, SCHEMA, names)
    assert table.column("t_s") == [1.0]
    assert table.column("value_norm") == [0.5]
    assert table.others == ("t_s",)
    for columns, what in some(
        [({"t_s": "when"}, "no column 'when'"), ({"speed": "how"}, "speed is no column of a file")]
    ):
        with pytest.raises(FileFault, match=what):
            read_table(path, SCHEMA, columns)
    for text in some(["t_s", "=x", "t_s=", "t_s=a,t_s=b"]):
        with pytest.raises(ValueError, match="expected OURS=THEIRS"):
            parse_columns(text)


@pytest.mark.parametrize("line", ["8.654,0.0,29.2", "8,654;0,0;29,2", '"1" "2"', "-1\t2e3"])
def test_a_file_without_names_is_told_to_have_them_and_its_first_row_is_not_taken_for_names(
    tmp_path, line
):
    path = written(tmp_path, f"{line}\n{line}\n")
    for columns in some([{}, {"x_m": "8.654", "y_m": "29.2"}]):
        with pytest.raises(FileFault, match=r"no names of its columns.* write their names above"):
            read_table(path, PLACES, columns)


def test_gaps_are_none_and_counted_and_others_named(tmp_path):
    table = read_table(
        written(tmp_path, "x_m,y_m,yaw_rad,kind\n1,2,,a\n3,4,nan,b\n5,6,0.1,\n"), PLACES
    )
    assert table.column("yaw_rad") == [None, None, 0.1]
    assert table.gaps == {"yaw_rad": 2}
    assert table.others == ("kind",)
    assert [row.line for row in table.rows] == [2, 3, 4]
    both = read_table(written(tmp_path, "x_m,y_m,yaw_rad,yaw_deg\n1,2,0,0\n"), PLACES)
    assert both.others == ("yaw_deg",)
    with pytest.raises(FileFault, match="x_m is not a number"):
        read_table(written(tmp_path, "x_m,y_m\n,2\n"), PLACES)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("x_m,y_m\n50000,1\n", "are these millimetres?"),
        ("x_m,y_m,yaw_rad\n1,1,90\n", "are these degrees?"),
        ("x_m,y_m\n1e9,1\n", "a number from -10000 to 10000 metres; got 1e9"),
        ("x_mm,y_mm\n1,1\n", "x_mm is in another unit: x_m is in metres"),
        ("x_m,y_m,yaw_deg\n1,1,0\n", "the column yaw_deg would not be read; expected yaw_rad"),
        ("x_m,y_m,yaw_deg\n1,1,0\n", "yaw_deg is in another unit: yaw_rad is in radians"),
        ("x_m,y_m,yaw\n1,1,0\n", "is it yaw? --columns yaw_rad=yaw"),
        ("x_m,y_m,Yaw_rad\n1,1,0\n", "is it Yaw_rad? --columns yaw_rad=Yaw_rad"),
    ],
)
def test_a_slip_of_unit_is_asked_about(tmp_path, text, what):
    with pytest.raises(FileFault, match=re.escape(what)):
        read_table(written(tmp_path, text), PLACES)


def test_whole_numbers_and_flags(tmp_path):
    schema = TableSchema("log", (integer("count", 0, 9), flag("is_on")))
    table = read_table(written(tmp_path, "count,is_on\n3,True\n4,false\n"), schema)
    assert (table.column("count"), table.column("is_on")) == ([3, 4], [True, False])
    for row, what in some([("3.5,True", "count is not a number"), ("3,yes", "neither true nor")]):
        with pytest.raises(FileFault, match=what):
            read_table(written(tmp_path, f"count,is_on\n{row}\n"), schema)
