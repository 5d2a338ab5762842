"""The car's programs as ``tandem flash`` puts them on boards, each made once: it takes seconds."""

from __future__ import annotations

import functools

import pytest

from host_bridge.deploy.flash.build import program_for

made_program = functools.cache(program_for)
# Tests of one group run in one process, which makes each program for all of them
WITH_MADE_PROGRAMS = pytest.mark.xdist_group("programs as flashed")
