"""A car and its twin on two hosts: ``python -m tests.host_bridge.sharing.network.air.twin``.

The car is the driver's own, the twin another host's. Both get the same claims, and what reaches the
twin goes through air.
"""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.host_bridge.sharing.network.air.field import invite, served
from tests.host_bridge.sharing.network.air.hub import Hub, both_ways
from tests.host_bridge.sharing.network.air.playing import Field
from tests.ros.reaction.impairment import LineSettings
from tests.ros.reaction.line import why_not
from tests.support import patience

AIR = LineSettings(loss=0.05, delay_s=0.003)
SECONDS, SEED, LONGEST_S = 4.0, 35, 600.0


def mirrored(field: Field, seconds: float = SECONDS) -> dict[str, Any]:
    """Drive a car and its twin on another host; return the summary of the drive."""
    owner, guest = field.owner, field.guest
    both_ways(field.hub, 0, AIR)
    with (
        served(guest, "sim://nigel", "red", field.hub.hosts[1].ipv4),
        served(owner, "sim://nigel?name=blue", "blue", field.hub.hosts[0].ipv4),
    ):
        invite(owner, guest, "blue")
        drive = guest.start(
            "drive", "--car", "red", "--twin", f"tandem://{field.hub.hosts[0].ipv4}/blue",
            "--input", "script:slalom", "--seconds", str(seconds), "--json",
        )  # fmt: skip
        try:
            deadline = patience.Deadline(60.0)
            while not any("Nothing is armed yet" in line for line in drive.lines):
                assert drive.process.poll() is None, drive.told()
                deadline.check(drive.told)
                time.sleep(0.05)
            arms = [guest.start("arm", "red"), owner.start("arm", "blue")]  # within 3 s of another
            assert [it.wait() for it in arms] == [0, 0], [it.told() for it in arms]
            drive.wait()
        finally:
            drive.end()
    found: dict[str, Any] = json.loads(drive.lines[-1])["summary"]
    return found


def main() -> None:
    missing = why_not()
    if missing:
        raise SystemExit(f"not measured: {missing}")
    with tempfile.TemporaryDirectory(prefix="air-") as folder, Hub(SEED, 2, LONGEST_S) as hub:
        found = mirrored(Field(hub, Path(folder)))
    same, skew_ms = found["agreement"], found["worst_skew_us"] / 1000
    red, blue = (it["distance_m"] for it in found["cars"])
    print(
        f"{found['seconds']} s driven, 5 % lost and 3 ms each way to the twin: of {same['agreed']} "
        f"claims the sums agree, {same['missed']} were missed by one of them, "
        f"{'none' if same['is_equal'] else 'some'} differ; skew {skew_ms:.1f} ms at most; "
        f"{red:.2f} and {blue:.2f} m"
    )


if __name__ == "__main__":
    main()
