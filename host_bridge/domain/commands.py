"""What people and programs want of a car."""

from __future__ import annotations

from dataclasses import dataclass

from host_bridge.domain.codes import Action, Profile, Sender

_CAP_MAX_MM_S = 65_535


@dataclass(frozen=True, slots=True)
class Claim:
    """One source's wish for some actuators, for a lease's time. Angles to the left."""

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
class Deed:
    """An action, whose it is, and with what: to arm has its profile, to cap the speed in mm/s."""

    action: Action
    sender: Sender
    value: int = 0


def arming(profile: Profile, sender: Sender) -> Deed:
    """To arm in a profile."""
    return Deed(Action.ARM, sender, int(profile))


def capping(speed_mps: float, sender: Sender) -> Deed:
    """To limit the speed, in m/s; ValueError beyond what the wire can say."""
    value = round(speed_mps * 1e3)
    if not 0 <= value <= _CAP_MAX_MM_S:
        raise ValueError(f"a speed cap is 0 to {_CAP_MAX_MM_S / 1e3:g} m/s, got {speed_mps:g}")
    return Deed(Action.CAP, sender, value)
