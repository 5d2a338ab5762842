"""Motion control: turns the winners' claims into commands, as far as the car's state allows."""

from firmware.compat import TYPE_CHECKING, micropython
from firmware.core.deadlines import elapsed_us
from firmware.core.motion.battery import GOOD
from firmware.core.motion.limits import clamped
from firmware.core.settings.params import (
    POLICY_BRAKE,
    POLICY_CUT,
    SOURCES,
    STEERING_CENTRED,
    STEERS_ON,
)
from firmware.protocol.codes import (
    ACTIVE,
    ACTUATOR_COUNT,
    BRAKE,
    CAUSE_CLOCK_STEP,
    CAUSE_CLOCK_UNSURE,
    CAUSE_FROZEN_INPUT,
    DRIVE,
    DRIVE_BIT,
    HOLD,
    NOBODY,
    SPEED_IN_DOUBT,
    STARTING,
    STEERING,
    STEERING_BIT,
    STOPPING,
)

if TYPE_CHECKING:
    from firmware.core.arbitration.actions import Actions
    from firmware.core.arbitration.arbiter import Arbiter
    from firmware.core.motion.battery import Battery
    from firmware.core.motion.drive import Drive
    from firmware.core.motion.odometry import Odometry
    from firmware.core.motion.outputs import OutputStage
    from firmware.core.motion.steering import Steering
    from firmware.core.settings.params import Params
    from firmware.core.stops.latch import Latch
    from firmware.core.stops.stopping import StopSequence
    from firmware.core.supervisor import Supervisor

const = micropython.const

# After a stop by one of these causes the winner steers no longer; a silent source is no winner
_OF_THE_WINNER = 1 << CAUSE_FROZEN_INPUT | 1 << CAUSE_CLOCK_STEP | 1 << CAUSE_CLOCK_UNSURE
_FULL_BRAKE = const(255)
_ALL = const(0xFF)  # actuators
_AUXILIARY = const(0xF8)  # neither steering nor drive nor brake
# A brake channel helps a car to slow down that is faster than its target by more than the first;
# the second is how much faster still it is when the brake is fully on
_ROLLS_MM_S = const(300)
_FULL_BRAKE_MM_S = const(1_500)


class MotionControl:
    """The commands to steering, drive and the other actuators, made of the winners' claims."""

    def __init__(
        self,
        supervisor: "Supervisor",
        actions: "Actions",
        battery: "Battery",
        runstop: "Latch",
        faults: "Latch",
        arbiter: "Arbiter",
        stop_sequence: "StopSequence",
        steering: "Steering",
        drive: "Drive",
        odometry: "Odometry",
        output_stage: "OutputStage",
    ) -> None:
        self.brake = 0  # 0 to 255
        self.clamped = 0  # bits of the actuators whose claim was beyond the car's limits
        self._supervisor = supervisor
        self._actions = actions
        self._battery = battery
        self._runstop = runstop
        self._faults = faults
        self._arbiter = arbiter
        self._stop_sequence = stop_sequence
        self._steering = steering
        self._drive = drive
        self._odometry = odometry
        self._output_stage = output_stage
        self._dt_ms = self._beat_ms = 10
        self._stepped_us = 0
        self._speed_max = 0
        self._reverse_max = 0
        self._steer_max = 0
        self._steer_centres = False
        self._steer_in_stop = STEERS_ON
        self._aux_in_stop = 0
        self._limp_mm_s = 0
        self._has_brake = False
        self._has_stood = False  # since the board began anew
        self._profile_caps: "list[int]" = []

    def configure(self, params: "Params") -> None:
        self._beat_ms = params.get("step_us") // 1000
        self._speed_max = params.get("speed_max_mm_s")
        self._reverse_max = params.get("reverse_max_mm_s")
        self._steer_max = params.get("steer_max_urad")
        self._steer_centres = params.get("steer_centres") == 1
        self._steer_in_stop = params.get("steer_in_stop")
        self._aux_in_stop = params.get("aux_in_stop") & _AUXILIARY
        self._limp_mm_s = params.get("limp_mm_s")
        self._has_brake = self._output_stage.has_brake()
        self._profile_caps = params.get_all("profile_cap_mm_s")

    def step(self, now_us: int) -> None:
        self.clamped = 0
        self._take_time(now_us)
        self._steer()
        self._move(now_us)
        self._set_levels()

    def _take_time(self, now_us: int) -> None:
        """Set the time step that the rate limiters use.

        A step may come early, for a Stop or after a late one, or come late. The time since the
        previous step is clamped to 1 ms to one beat, so that a late step allows no larger jump.
        """
        # to the nearest millisecond
        since_ms = (elapsed_us(now_us, self._stepped_us) + 500) // 1000
        self._dt_ms = clamped(since_ms, 1, self._beat_ms)
        self._stepped_us = now_us

    def cap_mm_s(self) -> int:
        """Return the lowest cap for all sources: the operator's, the profile's, the battery's."""
        actions = self._actions
        cap = min(actions.cap_mm_s, self._profile_caps[actions.profile])
        return cap if self._battery.stage == GOOD else min(cap, self._limp_mm_s)

    def is_braking(self) -> bool:
        state = self._supervisor.state
        return state == HOLD or (state == STOPPING and self._stop_sequence.policy == POLICY_BRAKE)

    def _steer(self) -> None:
        """Step the steering towards the winner's angle, with the limits of slew and envelope.

        In STOPPING it does what the vehicle file says. While the car is not armed it is still,
        because hands may be at its wheels.
        """
        state, in_stop = self._supervisor.state, self._steer_in_stop
        target_urad = self._steering.steer_urad
        if state == STOPPING and in_stop == STEERING_CENTRED:
            target_urad = 0
        elif self._supervisor.is_armed() or (state == STOPPING and in_stop == STEERS_ON):
            target_urad = self._wished_urad(target_urad)
        self._steering.step(target_urad, self._odometry.speed_mm_s, self._dt_ms)

    def _wished_urad(self, held_urad: int) -> int:
        """Return the winner's angle; without a winner the held angle or 0, as configured."""
        winner = self._arbiter.winners[STEERING]
        if winner == NOBODY or self._runstop.bits & _OF_THE_WINNER:
            return 0 if self._steer_centres else held_urad
        wished_urad = self._arbiter.sources[winner].steer_urad
        if abs(wished_urad) > self._steer_max:
            self.clamped |= STEERING_BIT
        return wished_urad

    def _move(self, now_us: int) -> None:
        self.brake = 0
        if self._supervisor.state == ACTIVE:
            self._follow(now_us)
        elif self.is_braking():
            self._brake(_FULL_BRAKE, now_us)
        else:
            if self._is_braked_without_drive():
                self.brake = _FULL_BRAKE
            self._drive.neutral(now_us)

    def _is_braked_without_drive(self) -> bool:
        """Return whether the brake channel, which needs no drive, is to be fully on.

        It is in a cut, and after the board began anew until the wheels have stood once.
        """
        state = self._supervisor.state
        if self._has_brake and not self._has_stood:
            is_standing = self._stop_sequence.is_standing(self._odometry.speed_mm_s)
            self._has_stood = is_standing and state != STARTING
            return not self._has_stood
        return state == STOPPING and self._stop_sequence.policy == POLICY_CUT

    @micropython.native
    def _follow(self, now_us: int) -> None:
        arbiter = self._arbiter
        sources = arbiter.sources
        source = sources[arbiter.winners[DRIVE]]
        braker = arbiter.winners[BRAKE]
        if braker < SOURCES and sources[braker].levels[BRAKE]:
            self._brake(sources[braker].levels[BRAKE], now_us)
            return
        cap = min(self.cap_mm_s(), source.cap_mm_s)
        low = max(-self._reverse_max, -cap)
        high = min(self._speed_max, cap)
        target = clamped(source.speed_mm_s, low, high)
        if target != source.speed_mm_s:
            self.clamped |= DRIVE_BIT
        self._drive.follow(target, self._odometry.speed_mm_s, now_us, self._dt_ms)
        if self._has_brake:
            beyond = abs(self._odometry.speed_mm_s) - abs(self._drive.target_mm_s) - _ROLLS_MM_S
            self.brake = clamped(beyond * _FULL_BRAKE // _FULL_BRAKE_MM_S, 0, _FULL_BRAKE)

    def _brake(self, level: int, now_us: int) -> None:
        self.brake = level
        is_trusted = not self._faults.bits & SPEED_IN_DOUBT
        self._drive.brake(self._odometry.speed_mm_s, is_trusted, now_us, self._dt_ms)

    @micropython.native
    def _set_levels(self) -> None:
        """Set lights and auxiliary levels to their winners' values, or to 0 without one.

        While the car is not armed only those that the vehicle file names are obeyed.
        """
        levels, arbiter = self._output_stage.levels, self._arbiter
        winners, sources, nobody = arbiter.winners, arbiter.sources, NOBODY
        obeyed = _ALL if self._supervisor.is_armed() else self._aux_in_stop
        for actuator in range(ACTUATOR_COUNT):
            winner = winners[actuator]
            level = 0
            if winner != nobody and obeyed >> actuator & 1:
                level = sources[winner].levels[actuator]
            levels[actuator] = level
