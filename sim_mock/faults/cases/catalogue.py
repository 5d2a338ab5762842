"""The catalogue of faults: failures seen in other projects, and what lines do to frames.

A row is the fault, its source, how it must end and what the board waits for before it acts. Sources
"peers N" are the rows of the table in README.md: failures of other cars and programs.
"""

from sim_mock.faults.cases.car_cases import CAR_CASES
from sim_mock.faults.cases.case import FaultCase
from sim_mock.faults.cases.driver_cases import DRIVER_CASES
from sim_mock.faults.cases.line_cases import LINE_CASES
from sim_mock.faults.cases.off_delay import OFF_DELAY_CASES

CASES = (*DRIVER_CASES, *CAR_CASES, *LINE_CASES, *OFF_DELAY_CASES)
_BY_ID = {case.id: case for case in CASES}


def case_of(case_id: str) -> FaultCase:
    """Return the case with this id. Raises KeyError if there is none."""
    return _BY_ID[case_id]


def cases() -> tuple[FaultCase, ...]:
    """Return all cases, in the order in which they are shown."""
    return CASES
