"""What Python says of a document that was read is told in words of ours."""

from dataclasses import dataclass

import pytest

from host_bridge.core.files import finite, misread_text


@dataclass
class Reading:
    """A document's keys, as a class."""

    taken_s: float
    range_m: float


def misread(read):
    """What is said of what this raises."""
    with pytest.raises((ValueError, KeyError, TypeError, AttributeError, IndexError)) as caught:
        read()
    return misread_text(caught.value)


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (lambda: {}["taken_s"], "there is no taken_s"),
        (lambda: Reading(taken_s=1, range_m=2, depth=3), "there is no key depth"),
        (lambda: Reading(taken_s=1), "there is no range_m"),
        (Reading, "there is no taken_s and range_m"),
        (lambda: float([]), "a value is of another kind than expected"),
        (lambda: None.values, "a value is of another kind than expected"),
        ([].pop, "a value is of another kind than expected"),
        (lambda: finite("x"), "expected a finite number, got 'x'"),
    ],
)
def test_each_error_of_a_reader(read, text):
    assert misread(read) == text


def test_an_error_without_a_key_is_worded_too_and_a_sentence_is_kept():
    assert misread_text(KeyError()) == "there is no key"
    sentence = "meta is not a file in the archive"
    assert misread_text(KeyError(sentence)) == sentence
