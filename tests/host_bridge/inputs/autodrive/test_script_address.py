"""Where a Devkit script may be: on this machine, or on another one by a person's word."""

from __future__ import annotations

import socket

import pytest

from host_bridge.core.errors import DeviceFault, UsageFault
from host_bridge.inputs.autodrive import make
from host_bridge.inputs.autodrive.script_address import DEFAULT, parse_address, resolve_address


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [(DEFAULT, "127.0.0.1", 4567), ("[::1]:80", "::1", 80), ("lab-pc:65535", "lab-pc", 65535)],
)
def test_an_address_is_a_host_and_a_port(text, host, port):
    assert parse_address(text) == (host, port)


@pytest.mark.parametrize(
    "text",
    ["", "4567", "here", ":4567", "here:", "here:port", "here:0", "here:65536", "here:\u0661",
     "::1:4567", "[]:4567", "a:b:4567"],
)  # fmt: skip
def test_whatever_else_is_refused_with_the_form_of_one(text):
    with pytest.raises(UsageFault, match="not the address of a script") as raised:
        parse_address(text)
    assert "127.0.0.1:4567 or [::1]:4567" in raised.value.expected


@pytest.mark.parametrize("text", [DEFAULT, "localhost:4567", "127.9.9.9:1"])
def test_of_this_machine_nothing_has_to_be_said(text):
    address = resolve_address(text)
    assert (address.is_local, address.note()) == (True, "")


@pytest.mark.parametrize("text", ["192.0.2.7:4567", "0.0.0.0:4567", "[2001:db8::1]:4567"])
def test_of_another_machine_it_is_said_what_connecting_means(text):
    address = resolve_address(text)
    assert not address.is_local
    for part in (f"{address.host} is another machine", "drives", "authenticates and encrypts"):
        assert part in address.note()
    script = make(text, {}, lambda: 0)
    assert script.address == address


def test_a_name_with_an_address_elsewhere_too_is_another_machine(monkeypatch):
    def both(host, port, *, type):  # noqa: A002 - the keyword of socket.getaddrinfo
        return [(socket.AF_INET, type, 0, "", (ip, port)) for ip in ("127.0.0.1", "192.0.2.7")]

    monkeypatch.setattr(socket, "getaddrinfo", both)
    assert not resolve_address("lab-pc:4567").is_local


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("lab-pc.invalid:4567", socket.gaierror(-2, "Name or service not known")),
        ("x" * 70 + ".lab:4567", UnicodeError("label too long")),
    ],
)
def test_a_name_that_nobody_knows_is_refused_before_anything_is_opened(text, error, monkeypatch):
    def unknown(*words, **options):  # a real look-up may take half a minute
        raise error

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(DeviceFault, match="no machine of this name is known") as raised:
        make(text, {}, lambda: 0)
    assert raised.value.where == text
    assert raised.value.got
