"""Formats whether the cars of a drive took the same claims, and at the same time."""

from __future__ import annotations

from host_bridge.cars.acceptance import newest_common
from host_bridge.drive import FleetDrive


def agreement_text(drive: FleetDrive) -> tuple[str, bool]:
    """Return the skew and agreement of all cars, and whether they took the same bytes."""
    agreement = drive.fleet.agreement()
    skew = "skew not known yet"
    if drive.skew_us is not None:
        skew = f"skew {drive.skew_us * 1e-3:.1f} ms"
    if not agreement.is_equal():
        return f"{skew}   DIFFERENT claims, at or before number {agreement.differs_at}", False
    lost = f", {agreement.missed} lost on the way" if agreement.missed else ""
    return f"{skew}   {agreement.agreed} claims the same{_common_crc(drive)}{lost}", True


def _common_crc(drive: FleetDrive) -> str:
    """Return the running CRC after the newest claim that all report.

    After a lost claim the cars' CRCs differ, and it is "".
    """
    common = newest_common([car.acceptance for car in drive.fleet.cars]) or []
    crcs = {report.crc for report in common}
    return f", crc {crcs.pop():08x}" if len(crcs) == 1 else ""
