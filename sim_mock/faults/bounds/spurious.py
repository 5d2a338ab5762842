"""Spurious stops: the expected time until a lossy line loses a whole lease of claims.

The loss is a chain of two states (Gilbert 1960, Elliott 1963): in the good one every frame arrives,
in the bad one none. Bursts have a mean length in time, so that claims at another rate meet the same
line. Independent losses are the case without memory. The expected time to the first run of ``k``
losses follows from one linear equation per length of run. ``k`` follows from the lease, the
program's step and the bound of its clock, by which a claim's lease is shortened (core/arbiter).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, exp, inf
from random import Random

from firmware.protocol import codes
from sim_mock.board.stored_image import VehicleSpec
from sim_mock.faults.cases import starts
from sim_mock.faults.trial.fault_trial import FaultTrial
from sim_mock.faults.trial.faulty_runner import IN_PROCESS, runner_factory
from sim_mock.faults.trial.target import TICK_US
from sim_mock.faults.trial.vehicles import LEASE_MS, lease_ms
from sim_mock.faults.trial.wire import Line

# Of frames: from a poor radio to a broken one; and how often hosts claim
LOSSES = (0.01, 0.05, 0.10, 0.20)
RATES_HZ = (20, 50, 100)
BURSTS_MS = (0.0, 5.0, 20.0)  # 0: independent losses
_GRAIN_US = 100  # core/clock adds this to half of the round trip
# of virtual time for one stop: what is rarer is computed and not waited for
_PATIENCE_MS = 1_000_000
_SIGMAS = 4.0  # one check in 16 000 fails by chance

# The checks of the program: rate of claims, share of loss, mean burst in ms, number of stops.
CHECKS = ((20, 0.4, 0.0, 60), (50, 0.5, 0.0, 25), (100, 0.6, 0.0, 12), (100, 0.4, 20.0, 15))


@dataclass(frozen=True)
class LossChain:
    """A loss chain: the chance of loss is ``first`` after a frame that arrived, else ``again``."""

    first: float
    again: float

    @classmethod
    def of(cls, share: float, burst_ms: float, every_ms: float) -> "LossChain":
        """Return the chain sampled every ``every_ms``, which is bad for this ``share`` of time."""
        if not burst_ms:
            return cls(share, share)
        memory = exp(-every_ms / burst_ms / (1.0 - share))
        return cls(share * (1.0 - memory), share + (1.0 - share) * memory)

    def claims_until(self, run: int) -> float:
        """Return the expected number of claims until ``run`` in a row are lost, after one arrived.

        With E0 unknown, the expectation after i losses is a + b*E0; from E_run = 0 backward.
        """
        a, not_b = 0.0, 1.0  # not_b is 1 - b: for a rare run b itself would round to 1
        for _ in range(1, run):
            a, not_b = 1.0 + self.again * a, self.again * not_b
        chance = self.first * not_b
        return (1.0 + self.first * a) / chance if chance > 0.0 else inf


def losses_that_stop(
    rate_hz: int,
    phase_ms: int,
    step_ms: int = 10,  # the usual control period
    lease_ms: int = LEASE_MS,
) -> int:
    """Return how many claims in a row have to be lost, if they leave ``phase_ms`` after a beat.

    A claim that leaves at p arrives with the next beat. Its lease ends ``lease - bound`` after p,
    where the bound is half of the round trip (a Sync leaves with a claim, so step - p) plus the
    grain. Silence is noticed at the first beat from then on, after what that beat received.
    """
    bound_us = (step_ms - phase_ms) * 1000 // 2 + _GRAIN_US
    ends_us = (phase_ms + lease_ms) * 1000 - bound_us
    seen_ms = ceil(ends_us / (step_ms * 1000)) * step_ms
    every_ms = 1000 // rate_hz
    later = range(1, 2 * lease_ms // every_ms + 2)
    return sum(((phase_ms + i * every_ms) // step_ms + 1) * step_ms <= seen_ms for i in later)


@dataclass(frozen=True)
class SpuriousStopTime:
    """One entry of the table, for the phase with the shortest time."""

    rate_hz: int
    share: float
    burst_ms: float
    losses: int
    seconds: float


def expected(
    rate_hz: int,
    share: float,
    burst_ms: float,
    phase_ms: int | None = None,
    lease_ms: int = LEASE_MS,
) -> SpuriousStopTime:
    """Return the mean time between spurious stops while claims are due all the time."""
    phases = range(10) if phase_ms is None else (phase_ms,)
    lost = min(losses_that_stop(rate_hz, phase, lease_ms=lease_ms) for phase in phases)
    loss = LossChain.of(share, burst_ms, 1000.0 / rate_hz)
    return SpuriousStopTime(rate_hz, share, burst_ms, lost, loss.claims_until(lost) / rate_hz)


def table() -> Iterator[SpuriousStopTime]:
    """Yield every loss at every rate, without and with bursts."""
    for burst_ms in BURSTS_MS:
        for share in LOSSES:
            for rate_hz in RATES_HZ:
                yield expected(rate_hz, share, burst_ms)


def checks() -> range:
    """Return the indices of the rows of ``CHECKS``."""
    return range(len(CHECKS))


@dataclass(frozen=True)
class SpuriousCheck:
    """The program's measured mean time and the computed one, for a vehicle and its lease.

    ``error_s`` is one standard deviation of the mean.
    """

    vehicle: str
    lease_ms: int
    rate_hz: int
    share: float
    burst_ms: float
    stops: int
    measured_s: float
    computed_s: float
    error_s: float

    @property
    def held(self) -> bool:
        return abs(self.measured_s - self.computed_s) < _SIGMAS * self.error_s


def check(
    row: int, vehicle: VehicleSpec, seed: int = 0, runtime: str = IN_PROCESS, rounds: int = 1
) -> SpuriousCheck:
    """Check row ``row`` of ``CHECKS`` on the complete program; return the result.

    The car is armed, held, and stopped as often as the row says, ``rounds`` times. Each stop's time
    is nearly exponential, so that its deviation is its mean.
    """
    rate_hz, share, burst_ms, of_a_round = CHECKS[row]
    stops = of_a_round * rounds
    claimed_ms = lease_ms(vehicle)
    measured_s = computed_s = variance = 0.0
    for stop in range(stops):
        random = Random(f"{row} {seed} {stop}")
        took_s, phase_ms = _one_stop(random, vehicle, rate_hz, share, burst_ms, runtime)
        mean_s = expected(rate_hz, share, burst_ms, phase_ms, claimed_ms).seconds
        measured_s += took_s
        computed_s += mean_s
        variance += mean_s**2
    n = stops
    error_s = variance**0.5 / n
    means_s = measured_s / n, computed_s / n
    return SpuriousCheck(vehicle.name, claimed_ms, rate_hz, share, burst_ms, n, *means_s, error_s)


def _one_stop(
    random: Random,
    vehicle: VehicleSpec,
    rate_hz: int,
    share: float,
    burst_ms: float,
    runtime: str,
) -> tuple[float, int]:
    """Return the seconds until the stop, and the phase of the claims in ms."""
    trial = FaultTrial(vehicle, runner_factory(runtime), random)
    try:
        _stand_active(trial)
        trial.driver.claim_every_us = 1_000_000 // rate_hz
        trial.run(1000 // rate_hz + 50)  # ms: the first claim, and its answer
        trial.driver.line = _bad_line(trial, share, burst_ms)
        began_us = trial.world.now_us
        if not trial.until(lambda: trial.driver.state != codes.ACTIVE, _PATIENCE_MS):
            raise RuntimeError("the car never stopped; the loss is too small for a check")
        return (trial.world.now_us - began_us) * 1e-6, trial.phase_us // TICK_US
    finally:
        trial.close()


def _stand_active(trial: FaultTrial) -> None:
    starts.armed(trial)
    trial.driver.deadman = codes.HELD
    trial.until(lambda: trial.driver.state == codes.ACTIVE, 100)


def _bad_line(trial: FaultTrial, share: float, burst_ms: float) -> Line:
    """Return a line with the chain of ``LossChain``, sampled whenever a frame passes."""
    state = {"bad": False, "us": trial.world.now_us}

    def line(frame: bytes) -> list[tuple[int, bytes]]:
        now_us = trial.world.now_us
        if not burst_ms or now_us > state["us"]:
            loss = LossChain.of(share, burst_ms, (now_us - state["us"]) / 1000.0)
            state["bad"] = trial.random.random() < (loss.again if state["bad"] else loss.first)
            state["us"] = now_us
        return [] if state["bad"] else [(0, frame)]

    return line
