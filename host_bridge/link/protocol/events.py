"""The events of a link, besides the car's reports. Their names are in the past tense."""

from __future__ import annotations

from dataclasses import dataclass

from host_bridge.core.codes import BindResult
from host_bridge.core.reports import CarIdentity, Report


@dataclass(frozen=True, slots=True)
class LinkIdentified:
    """The car reported its identity, and speaks our protocol."""

    identity: CarIdentity


@dataclass(frozen=True, slots=True)
class LinkMismatched:
    """The car speaks another version of the protocol. It can be stopped, and nothing else."""

    own_hash: bytes
    car_hash: bytes

    def __str__(self) -> str:
        return (
            f"The car's protocol is {self.car_hash.hex()}, this host's is {self.own_hash.hex()}: "
            "it can be stopped but not driven. Reflash the car with this version of Tandem."
        )


@dataclass(frozen=True, slots=True)
class LinkStranger:
    """Another board answered than the one that this link is to; reported once for each that comes.

    It can be stopped, and nothing else.
    """

    identity: CarIdentity


@dataclass(frozen=True, slots=True)
class LinkBound:
    """The car accepted our session."""

    slot: int


@dataclass(frozen=True, slots=True)
class LinkRefused:
    """The car did not accept our session, mostly for lack of a slot; asked again every second."""

    result: BindResult

    def __str__(self) -> str:
        return f"The car {self.result.advice}."


@dataclass(frozen=True, slots=True)
class LinkLost:
    """The car was silent for ``silent_us``, or its transport closed."""

    silent_us: int


@dataclass(frozen=True, slots=True)
class LinkNoisy:
    """Bytes came, but no frame."""

    size: int

    def __str__(self) -> str:
        return (
            f"This does not speak Tandem: {self.size} bytes in a second and no good frame. "
            "Is it the right port? Wrong baud rate? Is the firmware on it?"
        )


@dataclass(frozen=True, slots=True)
class CarRestarted:
    """The board's clock began anew: it forgot our session, and is not armed."""


LinkEvent = (
    LinkIdentified
    | LinkMismatched
    | LinkStranger
    | LinkBound
    | LinkRefused
    | LinkLost
    | LinkNoisy
    | CarRestarted
    | Report
)
