"""A check that looked at nothing has shown nothing."""

import pytest


def test_all_of_nothing_is_an_error_in_a_test():
    nothing: list[int] = []
    with pytest.raises(AssertionError, match="nothing to check"):
        all(value == 1 for value in nothing)
    assert all([1, 2])
    assert not all([0, 1])
