"""``tandem calibrate --help`` is text, and says what its readers take."""

from calibration.logs.trace_csv import COLUMNS
from host_bridge.cli.commands.calibrate import EPILOG
from tests.support.evidence import every


def test_the_help_names_every_column_of_a_table():
    _, _, after = EPILOG.partition("a column t_s and any of\n")
    names = after.partition(".\n")[0].replace(",", " ").split()
    assert names == list(COLUMNS)
    assert every(not name.startswith("-") for name in names)
