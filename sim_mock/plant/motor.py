"""DC or brushless motors on a battery, seen at the rim of the wheels.

Torque-speed line with back EMF: I = (u V - k w) / R, torque = k I, per motor; source: any text on
DC machines, e.g. Isermann, Mechatronic Systems, section 5.2. The battery is an EMF behind a
resistance, and a bridge at duty u draws u I from it, so that n motors have I = (u EMF - k w) / (R +
n u^2 R_battery).
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MotorParameters:
    """``count`` equal motors in parallel; resistance with bridge and leads, EMF in V s/rad."""

    count: int
    resistance_ohm: float
    emf_vs_per_rad: float
    current_limit_a: float


@dataclass(frozen=True, slots=True)
class BatteryParameters:
    """The numbers of a battery; ``idle_a`` is drawn by computer and servos while nothing moves."""

    emf_v: float
    resistance_ohm: float
    idle_a: float = 0.0


class Motor:
    """The present action of all motors: rim force = ``push_n`` - ``damping_n_per_mps`` * rim speed.

    ``duty`` is what they are driven with, 0 while they coast or brake. The force is given as a
    line, not a number, so that the driveline can take the step implicitly: geared motors are stiff
    (Nigel: 650 N per m/s on 2.7 kg).
    """

    __slots__ = ("_battery", "_emf_v", "_emf_vs_per_m", "_p", "battery_v", "damping_n_per_mps",
                 "duty", "push_n")  # fmt: skip

    def __init__(
        self, p: MotorParameters, battery: BatteryParameters, turns_rad_per_m: float
    ) -> None:
        self._p = p
        self._battery = battery
        self._emf_v = battery.emf_v - battery.resistance_ohm * battery.idle_a
        self._emf_vs_per_m = p.emf_vs_per_rad * turns_rad_per_m
        self.coast()

    def coast(self) -> None:
        self.push_n = self.damping_n_per_mps = self.duty = 0.0
        self.battery_v = self._emf_v

    def drive(self, duty: float, rim_mps: float, is_one_way: bool) -> None:
        """Drive with a duty from -1 to 1; a one-way ESC lets no current flow against its duty."""
        p, ohm = self._p, self._battery.resistance_ohm
        total_ohm = p.resistance_ohm + p.count * duty * duty * ohm
        current_a = (duty * self._emf_v - self._emf_vs_per_m * rim_mps) / total_ohm
        if is_one_way and current_a * duty <= 0.0:
            self.coast()
            self.duty = duty
            return
        self.duty = duty
        current_a = self._line(duty * self._emf_v / total_ohm, total_ohm, current_a)
        self.battery_v = self._emf_v - ohm * p.count * duty * current_a

    def brake(self, share: float, rim_mps: float) -> None:
        """Short the windings for this share of the time; the battery gives no current."""
        current_a = -share * self._emf_vs_per_m * rim_mps / self._p.resistance_ohm
        if share <= 0.0:
            self.coast()
            return
        self.duty = 0.0
        self._line(0.0, self._p.resistance_ohm / share, current_a)
        self.battery_v = self._emf_v

    def brake_with_current(self, current_a: float, rim_mps: float) -> None:
        """Brake with a current in each motor; near standstill its own EMF limits the current."""
        shorted_a = self._emf_vs_per_m * abs(rim_mps) / self._p.resistance_ohm
        if shorted_a <= current_a:
            self.brake(1.0 if current_a > 0.0 else 0.0, rim_mps)
            return
        limited_a = min(current_a, self._p.current_limit_a)
        force_n = self._p.count * self._emf_vs_per_m * limited_a
        self.coast()
        self.push_n = -force_n if rim_mps > 0.0 else force_n

    def _line(self, still_a: float, total_ohm: float, current_a: float) -> float:
        """Set the force line, constant where the current limit cuts it; return the current."""
        per_a = self._p.count * self._emf_vs_per_m  # V s/m is N/A
        limit_a = self._p.current_limit_a
        if abs(current_a) <= limit_a:
            self.push_n = per_a * still_a
            self.damping_n_per_mps = per_a * self._emf_vs_per_m / total_ohm
            return current_a
        current_a = limit_a if current_a > 0.0 else -limit_a
        self.push_n = per_a * current_a
        self.damping_n_per_mps = 0.0
        return current_a
