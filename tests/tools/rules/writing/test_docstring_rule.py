"""A docstring that begins with a fragment is refused, with its file, line and words."""

import pytest

from tests.tools.rules.writing import docstring_rule


def _tree(tmp_path, text):
    folder = tmp_path / "host_bridge" / "cars"
    folder.mkdir(parents=True)
    (folder / "car.py").write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ('"""What a car says."""', ["host_bridge/cars/car.py:1: begins with 'What a car says.'"]),
        ('"""A car."""\ndef f():\n    """Whether it is."""', ["host_bridge/cars/car.py:2: begins"]),
        (
            'class A:\n    """Of\n\n    a car."""',
            ["host_bridge/cars/car.py:1: begins with 'Of a car.'"],
        ),
        ('async def f():\n    """How, and when."""', ["host_bridge/cars/car.py:1: begins"]),
        ('"""A car."""\ndef f():\n    """Return whether it is armed."""', []),
        ("def f(): pass", []),
        ('"""Whatever drives."""', []),  # a word is compared, not its beginning
    ],
)
def test_fragments_are_found(text, refused, tmp_path, capsys):
    root = _tree(tmp_path, text)
    found = docstring_rule.refusals(root)
    assert len(found) == len(refused)
    assert [line for line, start in zip(found, refused, strict=True) if start not in line] == []
    assert docstring_rule.main([str(root)]) == bool(refused)
    assert capsys.readouterr().out.splitlines() == found


def test_a_folder_that_waits_may_only_get_better(tmp_path):
    root = _tree(tmp_path, '"""What a car says."""\ndef f():\n    """Whether."""')
    assert docstring_rule.refusals(root, {"host_bridge/cars": 2}) == []
    for count in (1, 3, 0):
        (found,) = docstring_rule.refusals(root, {"host_bridge/cars": count})
        assert (
            f"2 docstrings begin with a fragment, and the table of docstring_rule.py says {count}"
            in found
        )


def test_an_empty_folder_passes_nothing(tmp_path):
    with pytest.raises(ValueError, match="no file of"):
        docstring_rule.refusals(tmp_path)
