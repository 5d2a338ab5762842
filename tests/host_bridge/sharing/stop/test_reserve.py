"""The last files of a program are kept for Stop, whoever has the others."""

from __future__ import annotations

import resource

import pytest

from host_bridge.sharing.stop import reserve


@pytest.mark.parametrize(
    ("most", "first_kept"), [(1024, 960), (256, 192), (100, 75), (resource.RLIM_INFINITY, None)]
)
def test_the_last_64_are_kept_and_of_few_a_quarter(monkeypatch, most, first_kept):
    monkeypatch.setattr(reserve.resource, "getrlimit", lambda which: (most, most))
    kept = [fd for fd in range(1100) if reserve.is_in_reserve(fd)]
    assert kept == ([] if first_kept is None else list(range(first_kept, 1100)))
