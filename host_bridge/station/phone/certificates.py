"""The certificates of a station for phones: an authority of this login, and a leaf for its server.

The authority's key never leaves the login's data folder. What it may certify is limited by name
constraints to private addresses and this machine's names, so that a phone which trusts it trusts
nobody's public site by it.
"""

from __future__ import annotations

import datetime
import hashlib
import ipaddress
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from host_bridge.core.errors import DataFileFault, UsageFault
from host_bridge.core.system.atomic_file import write_atomically
from host_bridge.sharing.network.private_files import data_folder, read_private, write_private

_YEAR_D = 365  # days
_AUTHORITY_D, _LEAF_D = 5 * _YEAR_D, 90  # days; browsers take no leaf of more than 398
_AGAIN_D = 30  # days before its end, at which an authority or a leaf is made anew
_EARLY_D = 30  # days: a phone's clock may be behind
# RFC 1918, RFC 3927, RFC 6598 (VPNs), loopback; RFC 4193, RFC 4291
_PRIVATE = (
    "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "100.64.0.0/10",
    "127.0.0.0/8", "fc00::/7", "fe80::/10", "::1/128",
)  # fmt: skip
_Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True)
class Certificates:
    """The authority's certificate, to be installed on a phone, and where the leaf's file is."""

    authority: bytes  # DER
    leaf_file: Path  # PEM, the key first; 0600
    names: tuple[str, ...]  # by which a phone may call the server

    def fingerprint(self) -> str:
        """Return the authority's SHA-256 in eight groups, to compare with a phone's screen."""
        digits = hashlib.sha256(self.authority).hexdigest().upper()
        # Eight letters each: what one reads aloud in one go
        return " ".join(digits[at : at + 8] for at in range(0, len(digits), 8))

    def server_context(self) -> ssl.SSLContext:
        """Return the context of the server's sockets, TLS 1.2 and newer."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.load_cert_chain(self.leaf_file)
        return context


def certificates_for(
    address: str, now: Callable[[], datetime.datetime], folder: Path | None = None
) -> Certificates:
    """Return the certificates of a server at an address of this machine; made where they lack.

    ``now`` returns the date with its time zone. Raises errors.UsageFault for a public address,
    errors.DataFileFault.
    """
    host = ipaddress.ip_address(address.partition("%")[0])
    if not any(host in network for network in _networks() if network.version == host.version):
        raise UsageFault(
            "a phone is let in at private addresses only",
            expected=", ".join(_PRIVATE[:3]),
            got=address,
            remedy="over foreign networks use a VPN, and its address",
        )
    folder = folder or data_folder("phone")
    key, authority = _authority(folder / "authority.json", now())
    names = (address, f"{_machine()}.local", _machine())
    leaf_file = folder / "leaf.pem"
    if not _is_good(leaf_file, authority, host, now()):
        _write_leaf(leaf_file, key, authority, host, now())
    return Certificates(authority.public_bytes(serialization.Encoding.DER), leaf_file, names)


def _authority(
    path: Path, now: datetime.datetime
) -> tuple[ec.EllipticCurvePrivateKey, x509.Certificate]:
    kept = read_private(path)
    if kept:
        try:
            key = serialization.load_pem_private_key(str(kept["key"]).encode(), None)
            certificate = x509.load_pem_x509_certificate(str(kept["certificate"]).encode())
        except (KeyError, ValueError):
            raise DataFileFault(
                "the certificate authority for phones cannot be read",
                where=str(path),
                remedy="remove it; phones need the new certificate then",
            ) from None
        if isinstance(key, ec.EllipticCurvePrivateKey) and _lasts(certificate, now):
            return key, certificate
    key = ec.generate_private_key(ec.SECP256R1())
    certificate = _new_authority(key, now)
    pem: dict[str, Any] = {
        "key": _key_pem(key).decode(),
        "certificate": certificate.public_bytes(serialization.Encoding.PEM).decode(),
    }
    write_private(path, pem)
    return key, certificate


def _new_authority(key: ec.EllipticCurvePrivateKey, now: datetime.datetime) -> x509.Certificate:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"Tandem on {_machine()}")])
    permitted: list[x509.GeneralName] = [x509.IPAddress(it) for it in _networks()]
    permitted += [x509.DNSName(_machine()), x509.DNSName(f"{_machine()}.local")]
    signs = x509.KeyUsage(
        digital_signature=False, content_commitment=False, key_encipherment=False,
        data_encipherment=False, key_agreement=False, key_cert_sign=True, crl_sign=True,
        encipher_only=False, decipher_only=False,
    )  # fmt: skip
    return (
        _builder(key, name, name, now, _AUTHORITY_D)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(signs, critical=True)
        .add_extension(x509.NameConstraints(permitted, None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )


def _write_leaf(
    path: Path,
    key: ec.EllipticCurvePrivateKey,
    authority: x509.Certificate,
    host: ipaddress.IPv4Address | ipaddress.IPv6Address,
    now: datetime.datetime,
) -> None:
    own = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Tandem station")])
    called: list[x509.GeneralName] = [x509.IPAddress(host), x509.DNSName(f"{_machine()}.local")]
    certificate = (
        _builder(own, name, authority.subject, now, _LEAF_D)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName(called), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key()), False)
        .sign(key, hashes.SHA256())
    )
    try:
        pem = certificate.public_bytes(serialization.Encoding.PEM)
        write_atomically(path, _key_pem(own) + pem)
    except OSError as error:
        raise DataFileFault.unwritable("the station's certificate", path, error) from None


def _builder(
    key: ec.EllipticCurvePrivateKey,
    subject: x509.Name,
    issuer: x509.Name,
    now: datetime.datetime,
    days: int,
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=_EARLY_D))
        .not_valid_after(now + datetime.timedelta(days=days))
    )


def _is_good(
    path: Path,
    authority: x509.Certificate,
    host: ipaddress.IPv4Address | ipaddress.IPv6Address,
    now: datetime.datetime,
) -> bool:
    try:
        certificate = x509.load_pem_x509_certificate(path.read_bytes())
        certificate.verify_directly_issued_by(authority)
        called = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except (OSError, ValueError, TypeError, x509.ExtensionNotFound):
        return False
    except InvalidSignature:
        return False
    return host in called.value.get_values_for_type(x509.IPAddress) and _lasts(certificate, now)


def _lasts(certificate: x509.Certificate, now: datetime.datetime) -> bool:
    left = certificate.not_valid_after_utc - now
    return left > datetime.timedelta(days=_AGAIN_D)


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def _networks() -> list[_Network]:
    return [ipaddress.ip_network(it) for it in _PRIVATE]


def _machine() -> str:
    return socket.gethostname().partition(".")[0].lower() or "tandem"
