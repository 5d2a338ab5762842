"""The host's vocabulary in SI units: codes, reports, commands, inputs, vehicles.

Imports nothing of ours outside this folder, but for the numbers that the firmware defines.
"""

import sys

TYPE_CHECKING = False  # a stop must not wait for typing, nor for all that is named here
if TYPE_CHECKING:
    from host_bridge.core.codes import (
        NOBODY,
        Action,
        Actuator,
        ArbitrationLoss,
        BatteryStage,
        BindResult,
        Cause,
        ClaimVerdict,
        Deadman,
        Device,
        EventCode,
        Fault,
        Profile,
        RcMode,
        Refusal,
        ResetCause,
        Sender,
        State,
    )
    from host_bridge.core.commands import Claim, OperatorAction, arm_action, cap_action
    from host_bridge.core.inputs import (
        NEUTRAL_US,
        DriveCommand,
        Input,
        InputContext,
        InputLimits,
        Observed,
        OperatorRequest,
        Screen,
        SeenCar,
        VirtualSensors,
        brake_for,
    )
    from host_bridge.core.reports import (
        ActionReply,
        CarEvent,
        CarIdentity,
        CarMotion,
        CarStatus,
        ClockReport,
        Committed,
        EventsLost,
        Inputs,
        LinkCounters,
        Outputs,
        OwnClaim,
        ParameterReply,
        Power,
        Report,
        Second,
        SessionBound,
        StopSeen,
        VescState,
    )
    from host_bridge.core.same_car import (
        CarMatch,
        KnownCar,
        another_car_remedy,
        another_car_text,
        compare_cars,
    )
    from host_bridge.core.texts.events import event_text
    from host_bridge.core.texts.stops import (
        duration_text,
        stand_left_s,
        stop_age_s,
        stop_remedy,
        stop_source_name,
        why_nobody_drives,
        why_stopped,
    )
    from host_bridge.core.texts.unaided import unaided_text
    from host_bridge.core.unaided import UNAIDED_MOST_M, AcceptedCoast, UnaidedFacts, UnaidedStop
    from host_bridge.core.vehicle import (
        LONGEST_STEP_S,
        DivergenceLimits,
        FileValue,
        SourceFacts,
        StopSourceFacts,
        Vehicle,
    )
    from host_bridge.core.wiring import BudgetRow, WiringReport

__all__ = [
    "LONGEST_STEP_S",
    "NEUTRAL_US",
    "NOBODY",
    "UNAIDED_MOST_M",
    "AcceptedCoast",
    "Action",
    "ActionReply",
    "Actuator",
    "ArbitrationLoss",
    "BatteryStage",
    "BindResult",
    "BudgetRow",
    "CarEvent",
    "CarIdentity",
    "CarMatch",
    "CarMotion",
    "CarStatus",
    "Cause",
    "Claim",
    "ClaimVerdict",
    "ClockReport",
    "Committed",
    "Deadman",
    "Device",
    "DivergenceLimits",
    "DriveCommand",
    "EventCode",
    "EventsLost",
    "Fault",
    "FileValue",
    "Input",
    "InputContext",
    "InputLimits",
    "Inputs",
    "KnownCar",
    "LinkCounters",
    "Observed",
    "OperatorAction",
    "OperatorRequest",
    "Outputs",
    "OwnClaim",
    "ParameterReply",
    "Power",
    "Profile",
    "RcMode",
    "Refusal",
    "Report",
    "ResetCause",
    "Screen",
    "Second",
    "SeenCar",
    "Sender",
    "SessionBound",
    "SourceFacts",
    "State",
    "StopSeen",
    "StopSourceFacts",
    "UnaidedFacts",
    "UnaidedStop",
    "Vehicle",
    "VescState",
    "VirtualSensors",
    "WiringReport",
    "another_car_remedy",
    "another_car_text",
    "arm_action",
    "brake_for",
    "cap_action",
    "compare_cars",
    "duration_text",
    "event_text",
    "stand_left_s",
    "stop_age_s",
    "stop_remedy",
    "stop_source_name",
    "unaided_text",
    "why_nobody_drives",
    "why_stopped",
]
_MODULES = (
    "codes",
    "commands",
    "texts.events",
    "inputs",
    "texts.stops",
    "reports",
    "same_car",
    "unaided",
    "texts.unaided",
    "vehicle",
    "wiring",
)


def __getattr__(name: str) -> object:
    """Import all of the vocabulary when one of its names is first asked for."""
    if name in __all__:
        for module in _MODULES:
            path = f"{__name__}.{module}"
            __import__(path)
            values = vars(sys.modules[path])
            globals().update({it: values[it] for it in __all__ if it in values})
        return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
