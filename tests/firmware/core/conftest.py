"""The defaults that are overwritten before anybody reads them are gone in all of these tests."""

from collections.abc import Iterator

import pytest

from tests.mutants.mistakes.overwritten import rows, taken_away


@pytest.fixture(scope="module", autouse=True)
def defaults_that_nobody_may_read() -> Iterator[None]:
    """Once more per module, so that no test elsewhere in the same process goes without them.

    The car is imported here and not above: where that fails, tests fail.
    """
    with pytest.MonkeyPatch.context() as patch:
        taken_away(patch, rows())
        yield
