"""The figures in the README are those that are computed."""

import re
from pathlib import Path

from sim_mock import faults
from sim_mock.faults.bounds.spurious import table

README = (Path(faults.__file__).parent / "README.md").read_text()
UNITS_S = {"s": 1.0, "min": 60.0, "h": 3600.0}
ROW = re.compile(
    r"^\| (\d+) % \| (single frames|\d+ ms) \| (.+?) \| (.+?) \| (.+?) \|$", re.MULTILINE
)


def seconds(text):
    number, unit = text.removeprefix("over ").split()
    return float(number) * UNITS_S[unit]


def test_the_readme_says_how_often_a_line_stops_a_car_for_nothing():
    computed = {}
    for row in table():
        computed.setdefault((row.share, row.burst_ms), []).append(row.seconds)
    rows = ROW.findall(README)
    assert len(rows) == len(computed)
    for share, burst, *told in rows:
        key = float(share) / 100, 0.0 if burst == "single frames" else float(burst.split()[0])
        for text, computed_s in zip(told, computed[key], strict=True):
            if text.startswith("over"):
                assert computed_s > seconds(text)
            else:
                assert abs(seconds(text) - computed_s) < 0.5 * computed_s
