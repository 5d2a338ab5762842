"""Each way of starting a Python that takes the current folder along is refused."""

import pytest

from tests.tools.rules.program import children_rule


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('run([sys.executable, "-m", "x"])', [1]),
        ('await run(\n    sys.executable, "-m", "x")', [1]),
        ('run(sys.executable, "-c", "pass")', [1]),
        ('WORDS = (sys.executable, "-m", "x")', [1]),
        ('run(*(sys.executable, "-u", "-m", "x"))', [1]),
        ('run(["env", sys.executable, "-m", "x"])', [1]),
        ("import multiprocessing", [1]),
        ("from multiprocessing import get_context", [1]),
        ("from concurrent.futures import Future, ProcessPoolExecutor", [1]),
        ("from concurrent.futures import Future, ThreadPoolExecutor", []),
        ('run([sys.executable, "-I", "-c", "pass"])', []),
        ('run([sys.executable, "-I", "-S", __file__])', []),
        ('run([sys.executable, str(program), "-c"])', [1]),
        ('run(children.module("x", "-m"))', []),
        ("run([sys.executable, str(program)])", []),
    ],
)
def test_the_unsafe_ways_are_found(text, lines, tmp_path, capsys):
    folder = tmp_path / "host_bridge"
    folder.mkdir()
    (folder / "it.py").write_text(text)
    assert children_rule.main([str(tmp_path)]) == (1 if lines else 0)
    told = capsys.readouterr().out.splitlines()
    assert [line.partition(": ")[0] for line in told] == [f"host_bridge/it.py:{n}" for n in lines]


def test_nothing_to_look_at_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="no file"):
        children_rule.refusals(tmp_path)


def test_all_that_is_shipped_starts_programs_by_the_one_way():
    assert children_rule.refusals(children_rule.ROOT) == []
