"""A served car, reached by its address: the commands, a real socket, the real firmware."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
from time import monotonic_ns

import pytest

from host_bridge.core.errors import DeviceFault, RefusedFault, UsageFault
from host_bridge.link.transports.uri import Uri
from host_bridge.sharing.network.invitations import invitations_to
from host_bridge.sharing.network.network_car import NetworkCar
from tests.host_bridge.cli.programs import TANDEM, program, serving, tandem
from tests.host_bridge.sharing.desk import runtime_folder
from tests.support import patience

pytestmark = pytest.mark.process(drives=True)


@pytest.fixture(autouse=True)
def folders(monkeypatch, tmp_path):
    monkeypatch.setenv("TANDEM_DATA_DIR", str(tmp_path))
    with runtime_folder(monkeypatch):
        yield


def address_of(process) -> str:
    """The URI that a host prints for its guests."""
    for line in process.stdout:
        if line.startswith("reached by the network as "):
            return line.split()[-1]
    raise AssertionError("the car is not reached by the network")


def invited(*words: str) -> None:
    """Make a token for the served car, and accept it."""
    made = tandem("invite", "red", "--json", *words)
    assert made.returncode == 0, made.stderr
    token = json.loads(made.stdout)["token"]
    kept = patience.run([*TANDEM, "accept"], text=True, within_s=45.0, data=token)
    assert kept.returncode == 0, kept.stderr


@pytest.mark.smoke
def test_a_guest_is_let_in_by_its_token_and_anyone_may_stop():
    with serving("sim://nigel", "red", "--listen", "127.0.0.1:0") as host:
        uri = address_of(host)
        refused = tandem("cap", "0.2", "--car", uri)
        assert refused.returncode == UsageFault.exit_code, "no token"
        invited("--role", "drive")
        capped = tandem("cap", "0.2", "--car", uri)
        assert capped.returncode == 0, capped.stderr
        assert "0.2 m/s at most" in capped.stdout
        refused = tandem("cap", "0.3", "--car", uri)
        assert refused.returncode == RefusedFault.exit_code
        assert "can only be lowered, and by a guest always" in refused.stderr
        refused = tandem("arm", uri)
        assert refused.returncode == RefusedFault.exit_code
        assert "does not let this sender" in refused.stderr
        stopped = tandem("stop", uri)
        assert stopped.returncode == 0, stopped.stderr
        other = tandem("stop", uri.replace("/red", "/blue"))
        assert other.returncode == DeviceFault.exit_code
        assert "got: red, which was stopped" in other.stderr
        assert tandem("guests", "revoke", "all").returncode == 0
        refused = tandem("cap", "0.2", "--car", uri)
        assert refused.returncode == DeviceFault.exit_code
        assert "the token was revoked" in refused.stderr


def test_of_two_cars_of_one_name_each_is_reached_by_its_own_token(monkeypatch):
    """Two labs, or a class in which nobody gave the cars names."""
    words = ("--listen", "127.0.0.1:0")
    with serving("sim://nigel?board=00000000000000a1", "red", *words) as first:
        invited("--role", "watch")
        with (
            runtime_folder(monkeypatch),
            serving("sim://nigel?board=00000000000000b2", "red", *words) as second,
        ):
            invited("--role", "watch")
            for uri in (address_of(first), address_of(second)):
                seen = tandem("monitor", uri, "--seconds", "0.5")
                assert seen.returncode == 0, (uri, seen.stderr)


def test_a_name_with_several_addresses_is_reached_at_the_one_that_is_served(monkeypatch):
    """A hall's name often stands for IPv6 and IPv4, and a host listens at one of them."""
    with (
        serving("sim://nigel", "red", "--listen", "127.0.0.1:0") as host,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent,
    ):
        uri = address_of(host)
        invited("--role", "watch")
        silent.bind(("127.0.0.1", 0))
        port = int(uri.split(":")[-1].split("/")[0])
        none = (
            socket.AF_INET,
            ("255.255.255.255", 9),
        )  # a broadcast: refused, as is a net without a way
        places = [
            none,
            (socket.AF_INET, silent.getsockname()),
            (socket.AF_INET, ("127.0.0.1", port)),
        ]

        def found(*words):
            return [(family, socket.SOCK_DGRAM, 0, "", address) for family, address in places]

        async def role() -> str:
            car = NetworkCar(
                Uri.parse(uri), invitations_to("red", uri), lambda: monotonic_ns() // 1000
            )
            await car.open(lambda data: None, lambda fault: None)
            word = car.onlooking_role
            car.close()
            return word

        monkeypatch.setattr(socket, "getaddrinfo", found)
        assert asyncio.run(role()) == "watch"
        places.pop()
        with pytest.raises(DeviceFault, match="no session with the car's host"):
            asyncio.run(role())
        places.pop()
        with pytest.raises(DeviceFault, match="this host cannot be reached"):
            asyncio.run(role())


def test_a_guest_drives_once_a_person_beside_the_car_has_armed_it():
    with serving("sim://nigel", "red", "--listen", "127.0.0.1:0") as host:
        uri = address_of(host)
        invited("--role", "drive", "--cap", "0.2")
        words = ("--input", "script:slalom", "--seconds", "2", "--json")
        with program("drive", "--car", uri, *words, stdin=subprocess.DEVNULL) as drive:
            armed = False
            last: dict[str, object] = {}
            for line in drive.stdout:
                last = json.loads(line)
                if not armed and "Nothing is armed yet" in str(last.get("notice", "")):
                    armed = tandem("arm", "red").returncode == 0
        summary = last["summary"]
        assert armed
        assert summary["source"] == "remote"
        # What was asked for is within the token's cap: the host takes no claim beyond it
        assert summary["cars"][0]["top_speed_mps"] < 0.25, summary
        assert summary["is_completed"]
        assert summary["cars"][0]["distance_m"] > 0.1


def test_a_guest_configures_on_a_stand_and_is_in_the_log():
    with serving("sim://nigel", "red", "--listen", "127.0.0.1:0") as host:
        uri = address_of(host)
        invited("--role", "configure", "--label", "Ada")
        write = ("config", "write", uri, "step_s=0.02", "--vehicle", "nigel")
        refused = tandem(*write)
        assert refused.returncode != 0, "no attestation"
        assert "tandem attest wheels-off-ground" in refused.stderr
        assert tandem("attest", "wheels-off-ground", "--for", "5m").returncode == 0
        assert json.loads(tandem("attest", "show", "--json").stdout)["is_open"]
        written = tandem(*write)
        assert written.returncode == 0, written.stderr
        assert json.loads(tandem("config", "read", uri, "--json").stdout)["step_us"] == 20_000
        assert tandem("arm", "red").returncode == 0
        shown = json.loads(tandem("attest", "show", "--json").stdout)
        assert not shown["is_open"]
        assert "arm" in shown["ended"]
        told = [row["what"] for row in json.loads(tandem("guests", "log", "--json").stdout)]
        assert any("Ada: came to configure, 127.0.0.1" in it for it in told), told
        assert any("attested for 300 s" in it for it in told)
        (token,) = json.loads(tandem("accept", "--list", "--json").stdout)
        assert tandem("accept", "--forget", token["id"][:4]).returncode == 0
        assert tandem("cap", "0.2", "--car", uri).returncode == UsageFault.exit_code


LENT = """
base = "nigel"
[stop]
may_arm = ["owner", "seat", "fleet", "command", "guest"]
may_clear = ["owner", "seat", "fleet", "command", "guest"]
"""


def test_a_guest_arms_and_clears_only_where_the_vehicle_file_names_guests_and_only_to_drive(
    tmp_path,
):
    file = tmp_path / "lent.toml"
    file.write_text(LENT)
    with serving(f"sim://{file}", "red", "--listen", "127.0.0.1:0") as host:
        uri = address_of(host)
        arm = ("arm", uri, "--vehicle", str(file))
        for role in ("watch", "stop"):
            invited("--role", role)
            refused = tandem(*arm)
            assert refused.returncode == UsageFault.exit_code, role
            assert f"your token for this car may {role}, and no more" in refused.stderr
        invited("--role", "drive")
        armed = tandem(*arm)
        assert armed.returncode == 0, armed.stderr
        assert tandem("stop", uri).returncode == 0
        assert tandem(*arm).returncode == RefusedFault.exit_code, "a stop is locked"
        cleared = tandem("clear", uri)
        assert cleared.returncode == 0, cleared.stderr
        words = ("--vehicle", str(file), "--input", "script:slalom", "--seconds", "2", "--json")
        driven = tandem("drive", "--car", uri, *words)
        summary = json.loads(driven.stdout.splitlines()[-1])["summary"]
        assert summary["is_completed"], driven.stdout[-2000:]
        assert summary["source"] == "remote"
