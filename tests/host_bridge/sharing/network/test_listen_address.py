"""The addresses at which a car's computer can be told to listen."""

from __future__ import annotations

import pytest

from host_bridge.core.errors import UsageFault
from host_bridge.sharing.network import network_endpoint
from host_bridge.sharing.network.network_endpoint import NetworkEndpoint, endpoint_at


def endpoint(text: str) -> NetworkEndpoint:
    return endpoint_at(text, str, str)


@pytest.mark.parametrize(
    "text",
    ["192.168.1.7", "192.168.1.7:27410", "fd00::7", "[fd00::7]", "[fd00::7]:27410", "0.0.0.0:0"],
)
def test_an_address_with_or_without_a_port_is_taken(text):
    assert endpoint(text)


@pytest.mark.parametrize(
    "text",
    [
        "", ":27410", "192.168.1.7:", "192.168.1.7:http", "192.168.1.7:65536", "192.168.1.7:-1",
        "[fd00::7]:", "car.local", "192.168.1",
    ],
)  # fmt: skip
def test_whatever_else_is_refused_with_examples_of_what_is_meant(text):
    with pytest.raises(UsageFault, match="no address to listen at") as why:
        endpoint(text)
    assert "192.168.1.7:27410" in str(why.value)


@pytest.mark.parametrize(
    ("listens", "own", "told"),
    [
        ("0.0.0.0:27410", ["192.168.1.7", "10.0.0.3"], ["192.168.1.7/red", "10.0.0.3/red"]),
        ("0.0.0.0:27411", ["192.168.1.7"], ["192.168.1.7:27411/red"]),
        ("0.0.0.0:27410", [], ["0.0.0.0/red"]),  # it has no network yet
        ("127.0.0.1:27410", ["192.168.1.7"], ["127.0.0.1/red"]),
        ("[fd00::7]:27410", ["192.168.1.7"], ["[fd00::7]/red"]),
    ],
)
def test_a_guest_is_told_addresses_that_lead_there(monkeypatch, listens, own, told):
    """Nobody reaches a car by the address that stands for all of a machine's."""
    monkeypatch.setattr(network_endpoint, "own_addresses", lambda: own)
    assert endpoint(listens).uris("red") == [f"tandem://{it}" for it in told]
