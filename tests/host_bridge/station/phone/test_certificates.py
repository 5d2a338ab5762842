"""The certificates of a station: made once, closed, renewed, and worth nothing for public sites."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
import stat

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from host_bridge.core.errors import UsageFault
from host_bridge.station.phone import certificates

TODAY = datetime.datetime(2027, 1, 1, tzinfo=datetime.timezone.utc)


def test_the_authority_is_made_once_and_its_keys_are_closed(tmp_path):
    tmp_path.chmod(0o700)
    first = certificates.certificates_for("192.168.1.7", lambda: TODAY, tmp_path)
    again = certificates.certificates_for("192.168.1.7", lambda: TODAY, tmp_path)
    moved = certificates.certificates_for("192.168.1.8", lambda: TODAY, tmp_path)
    assert first.authority == again.authority == moved.authority
    assert len(first.fingerprint().split()) == 8
    for file in tmp_path.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
    later = certificates.certificates_for(
        "192.168.1.7", lambda: TODAY + datetime.timedelta(days=5 * 365), tmp_path
    )
    assert later.authority != first.authority


@pytest.mark.parametrize("address", ["8.8.8.8", "2001:4860:4860::8888"])
def test_no_public_address_is_certified(tmp_path, address):
    with pytest.raises(UsageFault, match="private addresses"):
        certificates.certificates_for(address, lambda: TODAY, tmp_path)


def test_a_stolen_authority_poses_as_no_public_site(tmp_path):
    """OpenSSL takes the station's leaf, and none that the same key made for a public name."""
    tmp_path.chmod(0o700)
    now = datetime.datetime.now(datetime.timezone.utc)
    made = certificates.certificates_for("127.0.0.1", lambda: now, tmp_path)
    key, authority = certificates._authority(tmp_path / "authority.json", now)
    assert shake(made, made.leaf_file, "127.0.0.1") == ""
    certificates._write_leaf(
        tmp_path / "forged.pem", key, authority, ipaddress.ip_address("8.8.8.8"), now
    )
    assert "permitted subtree" in shake(made, tmp_path / "forged.pem", "8.8.8.8")
    stranger = ec.generate_private_key(ec.SECP256R1())
    certificates._write_leaf(
        tmp_path / "other.pem", stranger, authority, ipaddress.ip_address("127.0.0.1"), now
    )
    assert shake(made, tmp_path / "other.pem", "127.0.0.1") != ""


def shake(made, leaf_file, name):
    """What a client that trusts the authority says to a leaf; "" if nothing."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(leaf_file)
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.load_verify_locations(cadata=made.authority)
    up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
    near = client.wrap_bio(down, up, server_hostname=name)
    far = server.wrap_bio(up, down, server_side=True)
    for _ in range(4):
        for end in (near, far):
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue
            except ssl.SSLCertVerificationError as error:
                return error.verify_message
    return ""
