"""Commands that people and programs send to a car: claims and actions."""

from __future__ import annotations

from dataclasses import dataclass

from host_bridge.core.codes import Action, Profile, Sender
from host_bridge.core.system.quickly_made import quickly_made

_CAP_MAX_MM_S = 65_535


@quickly_made
@dataclass(frozen=True, slots=True)
class Claim:
    """The command of one source for some actuators, valid for its lease.

    Angles are positive to the left.
    """

    source_id: int
    sequence: int  # modulo 2**16, one writer per epoch and source
    mask: int  # actuator bits
    steer_rad: float
    speed_mps: float
    brake: float  # 0 to 1
    is_held: bool
    lease_s: float
    stamp_us: int  # when it was decided, the host's clock
    permits_autonomy: bool = False
    input_count: int = 0  # of the input device's own reports, modulo 2**16
    lights: int = 0
    aux: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0)  # each 0 to 1


@dataclass(frozen=True, slots=True)
class OperatorAction:
    """A request for an operator action: the action, who asks, and its argument.

    ``value`` is the profile's number for ARM, the cap in mm/s for CAP, else 0.
    """

    kind: Action
    sender: Sender
    value: int = 0


def arm_action(profile: Profile, sender: Sender) -> OperatorAction:
    """Return the request to arm in this profile."""
    return OperatorAction(Action.ARM, sender, int(profile))


def cap_action(speed_mps: float, sender: Sender) -> OperatorAction:
    """Return the request to cap the speed, in m/s.

    Raises ValueError beyond the range of the wire.
    """
    value = round(speed_mps * 1e3)
    if not 0 <= value <= _CAP_MAX_MM_S:
        raise ValueError(f"a speed cap is 0 to {_CAP_MAX_MM_S / 1e3:g} m/s, got {speed_mps:g}")
    return OperatorAction(Action.CAP, sender, value)
