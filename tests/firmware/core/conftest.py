"""The defaults that are overwritten before anybody reads them are gone in all of these tests."""

from collections.abc import Iterator
from importlib import import_module

import pytest

from tests.mutants.mutations import module_of
from tests.mutants.overwritten import OVERWRITTEN, taken_away

ROWS = [
    (getattr(import_module(module_of(row.file)), row.name), row.attributes) for row in OVERWRITTEN
]


@pytest.fixture(scope="module", autouse=True)
def defaults_that_nobody_may_read() -> Iterator[None]:
    """Once more per module, so that no test elsewhere in the same process goes without them."""
    with pytest.MonkeyPatch.context() as patch:
        taken_away(patch, ROWS)
        yield
