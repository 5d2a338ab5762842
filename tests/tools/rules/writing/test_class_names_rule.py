"""A class name with two meanings is refused, with both places."""

import pytest

from tests.tools.rules.writing.class_names_rule import HOST_FORMS, WIRE, refusals

ONE = "class Echo:\n    pass\n"
MESSAGE, REPORT = WIRE + "reports.py", HOST_FORMS[0]


def test_a_name_that_two_files_give_is_refused():
    assert refusals({"a/x.py": ONE, "b/y.py": ONE}, {}) == [
        "Echo: a class of a/x.py and of b/y.py: rename the one that fewer files import"
    ]


def test_a_name_that_one_file_gives_twice_is_refused():
    (found,) = refusals({"a/x.py": ONE + "def made():\n    class Echo:\n        pass\n"}, {})
    assert found.startswith("Echo: a class of a/x.py and of a/x.py")


@pytest.mark.parametrize(
    ("texts", "one_thing"),
    [
        ({"a/x.py": ONE, "b/y.py": "class Other:\n    pass\n"}, {}),
        ({"a/x.py": "class _Echo:\n    pass\n", "b/y.py": ONE}, {}),
        ({MESSAGE: ONE, REPORT: ONE}, {}),
        ({"a/x.py": ONE, "b/y.py": ONE}, {"Echo": "the same, and its interface"}),
    ],
)
def test_one_meaning_is_let_be(texts, one_thing):
    assert refusals(texts, one_thing) == []


def test_a_third_form_of_a_message_is_refused():
    assert len(refusals({MESSAGE: ONE, REPORT: ONE, "a/x.py": ONE}, {})) == 1


def test_a_reason_that_nothing_needs_is_refused():
    (found,) = refusals({"a/x.py": ONE}, {"Echo": "once two"})
    assert found == "Echo: has its reason in class_names_rule.py, and needs none any more"


def test_no_class_is_no_evidence():
    with pytest.raises(ValueError, match="no class"):
        refusals({"a/x.py": "x = 1\n"}, {})
