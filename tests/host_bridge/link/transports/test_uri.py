from __future__ import annotations

import pytest

from host_bridge.core.errors import UsageFault
from host_bridge.link.transports.uri import EXAMPLES, Uri, open_transport, schemes
from tests.host_bridge.link.contract import Bench


@pytest.mark.parametrize(
    ("text", "scheme", "authority", "path", "query"),
    [
        ("serial:///dev/ttyACM0", "serial", "", "/dev/ttyACM0", {}),
        ("serial:///dev/a?baud=9600", "serial", "", "/dev/a", {"baud": "9600"}),
        ("sim+process://nigel", "sim+process", "nigel", "", {}),
        ("autodrive://:4567?vehicle=nigel", "autodrive", ":4567", "", {"vehicle": "nigel"}),
        ("replay://a%20b.mcap", "replay", "a b.mcap", "", {}),
        ("replay:///x/a.mcap?car=n&speed=2", "replay", "", "/x/a.mcap", {"car": "n", "speed": "2"}),
        ("lossy+sim://n?burst=0.1,0.2", "lossy+sim", "n", "", {"burst": "0.1,0.2"}),
        ("sim://n?a=x+y&b=p%26q&c=", "sim", "n", "", {"a": "x+y", "b": "p&q", "c": ""}),
    ],
)
def test_a_uri_falls_into_its_parts(
    text: str, scheme: str, authority: str, path: str, query: dict[str, str]
) -> None:
    uri = Uri.parse(text)
    assert (uri.text, uri.scheme, uri.authority, uri.path) == (text, scheme, authority, path)
    assert uri.query == query


@pytest.mark.parametrize("place", ["nigel", "my.toml", "./my.toml", "a/b/my.toml", "/a/my.toml"])
def test_a_name_or_the_path_of_a_file_is_one_place(place: str) -> None:
    assert Uri.parse(f"sim://{place}?seed=1").place == place


@pytest.mark.parametrize(
    "text", ["", "nigel", "/dev/ttyACM0", "serial:/dev/a", "Serial:///dev/a", "sim://a#b", "://a"]
)
def test_what_is_no_uri_is_refused(text: str) -> None:
    with pytest.raises(UsageFault, match="not the URI of a car"):
        Uri.parse(text)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("/dev/ttyACM0", "serial:///dev/ttyACM0"),
        ("nigel", "tandem:///nigel"),
        ("nigel", "sim://nigel"),
    ],
)
def test_the_remedy_guesses_what_was_meant(text: str, meant: str) -> None:
    with pytest.raises(UsageFault) as caught:
        Uri.parse(text)
    assert meant in caught.value.remedy


@pytest.mark.parametrize("text", ["sim://a?seed", "sim://a?seed=1&seed=2"])
def test_a_parameter_without_a_value_or_twice_is_refused(text: str) -> None:
    with pytest.raises(UsageFault, match="a parameter"):
        Uri.parse(text)


def test_an_unknown_scheme_names_the_known_ones_each_with_an_example() -> None:
    with pytest.raises(UsageFault) as caught:
        open_transport("serail:///dev/ttyACM0", Bench())
    for scheme in schemes():
        assert EXAMPLES[scheme] in caught.value.expected
    assert "serial://" in caught.value.remedy


@pytest.mark.parametrize("text", ["sim+quick://a", "serial+lossy:///dev/a", "lossy+nothing://a"])
def test_a_scheme_that_only_begins_like_a_known_one_is_unknown(text: str) -> None:
    with pytest.raises(UsageFault, match="unknown scheme"):
        open_transport(text, Bench())


def test_the_examples_are_uris_of_the_schemes_they_stand_for() -> None:
    for scheme, example in EXAMPLES.items():
        assert Uri.parse(example).scheme.split("+")[0] == scheme.split("+")[0]


def test_every_scheme_of_the_issue_is_offered() -> None:
    wanted = {"serial", "tandem", "loopback", "lossy", "sim", "sim+process", "replay"}
    assert wanted <= set(schemes())


def test_a_number_in_its_range_is_read() -> None:
    uri = Uri.parse("sim://a?n=7&x=0.5")
    assert uri.integer("n", 1, 0, 10) == 7
    assert uri.integer("m", 1, 0, 10) == 1
    assert uri.number("x", 0, 0, 1) == 0.5


@pytest.mark.parametrize("value", ["11", "-1", "x", "1.5", ""])
def test_a_number_that_does_not_fit_is_refused_with_its_range(value: str) -> None:
    with pytest.raises(UsageFault) as caught:
        Uri.parse(f"sim://a?n={value}").integer("n", 1, 0, 10)
    assert "from 0 to 10" in caught.value.expected
    assert caught.value.got == value


def test_a_word_is_one_of_its_choices_the_first_by_default() -> None:
    uri = Uri.parse("sim://a?way=up")
    assert uri.choice("way", ("both", "up")) == "up"
    assert uri.choice("other", ("both", "up")) == "both"
    with pytest.raises(UsageFault, match="way"):
        uri.choice("way", ("both", "down"))


def test_a_parameter_with_a_typo_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageFault) as caught:
        Uri.parse("serial:///dev/a?buad=9600").refuse_others("baud")
    assert caught.value.remedy == "did you mean baud?"
