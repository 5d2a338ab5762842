"""Where the time of the tests goes, by folder, and the slowest of them.

    python tests/tools/running/times.py [FILE]  of the last `make test` or `make quick` (.times.xml)

Seconds are of work: two workers do as much of it in half the time.
"""

import sys
import xml.etree.ElementTree as ET
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

REPORT = Path(__file__).resolve().parents[3] / ".times.xml"
SLOWEST = 30


@dataclass(frozen=True)
class Test:
    """One test, in one of its cases."""

    name: str
    folder: str
    seconds: float


def read(path: Path) -> list[Test]:
    """The tests of pytest's JUnit report, the slowest first."""
    root = ET.parse(path).getroot()
    cases = [case.attrib for case in root.iter("testcase")]
    found = [_test(case) for case in cases if "classname" in case]  # one cut short has no name
    return sorted(found, key=lambda test: -test.seconds)


def _test(case: dict[str, str]) -> Test:
    module = case["classname"].split(".")
    last = next((i for i, word in enumerate(module) if word.startswith("test_")), len(module))
    folder = "/".join(module[:last])
    return Test(f"{case['classname']}.{case['name']}", folder, float(case["time"]))


def by_folder(tests: list[Test]) -> list[tuple[str, int, float]]:
    """Folder, how many tests, their seconds; the dearest first."""
    counts: dict[str, int] = defaultdict(int)
    seconds: dict[str, float] = defaultdict(float)
    for test in tests:
        counts[test.folder] += 1
        seconds[test.folder] += test.seconds
    rows = [(folder, counts[folder], seconds[folder]) for folder in counts]
    return sorted(rows, key=lambda row: (-row[2], -row[1]))


def main() -> int:
    """Print both tables; 1 without a report, or with none in it."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else REPORT
    try:
        tests = read(path)
    except (OSError, ET.ParseError):
        tests = []
    if not tests:
        print(f"{path} holds no times: run make test or make quick first", file=sys.stderr)
        return 1
    total_s = sum(test.seconds for test in tests)
    print(f"{len(tests)} tests, {total_s:.1f} s of work\n")
    for folder, count, seconds in by_folder(tests):
        print(
            f"{seconds:9.1f} s  {100.0 * seconds / max(total_s, 1e-9):6.1f} %  {count:5}  {folder}"
        )
    print(f"\nthe slowest {min(SLOWEST, len(tests))}")
    for test in tests[:SLOWEST]:
        print(f"{test.seconds:9.1f} s  {test.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
