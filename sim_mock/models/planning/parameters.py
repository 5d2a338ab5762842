"""The parameters of simple_planning_simulator's models: names, units, defaults, and model types.

Source: its documentation, Vehicle Model Parameters. A parameter that a model type does not use is
accepted and ignored, as one file serves all types there; an unknown name is refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any, NamedTuple

D_ST_V, D_ST_A, D_ST_A_G, D_ST_A_G_WO_FG, D_ST_M_ACC_G, L_S_V = (
    "DELAY_STEER_VEL",
    "DELAY_STEER_ACC",
    "DELAY_STEER_ACC_GEARED",
    "DELAY_STEER_ACC_GEARED_WO_FALL_GUARD",
    "DELAY_STEER_MAP_ACC_GEARED",
    "LEARNED_STEER_VEL",
)
SCALED = (D_ST_A, D_ST_A_G, D_ST_A_G_WO_FG)
DELAYED_ACC = (*SCALED, D_ST_M_ACC_G)
DELAYED = (D_ST_V, *DELAYED_ACC)


class ParameterRow(NamedTuple):
    """One parameter: its default, its unit, the model types that use it, and its least value."""

    default: float
    unit: str
    users: tuple[str, ...]
    low: float = 0.0


NUMBERS: dict[str, ParameterRow] = {
    "acc_time_delay": ParameterRow(0.1, "s", DELAYED_ACC),
    "steer_time_delay": ParameterRow(0.24, "s", DELAYED),
    "vel_time_delay": ParameterRow(0.25, "s", (D_ST_V,)),
    "acc_time_constant": ParameterRow(0.1, "s", DELAYED_ACC),
    "steer_time_constant": ParameterRow(0.27, "s", DELAYED),
    "steer_dead_band": ParameterRow(0.0, "rad", (D_ST_V, *SCALED)),
    "vel_time_constant": ParameterRow(0.5, "s", (D_ST_V,)),
    "vel_lim": ParameterRow(50.0, "mps", DELAYED),
    "vel_rate_lim": ParameterRow(7.0, "mps2", DELAYED),
    "steer_lim": ParameterRow(1.0, "rad", DELAYED),
    "steer_rate_lim": ParameterRow(5.0, "radps", DELAYED),
    "steer_bias": ParameterRow(0.0, "rad", DELAYED, -inf),
    "debug_acc_scaling_factor": ParameterRow(1.0, "", SCALED),
    "debug_steer_scaling_factor": ParameterRow(1.0, "", SCALED),
}
# The model types that use each text, and whether it is a list.
TEXTS: dict[str, tuple[tuple[str, ...], bool]] = {
    "acceleration_map_path": ((D_ST_M_ACC_G,), False),
    "model_module_paths": ((L_S_V,), True),
    "model_param_paths": ((L_S_V,), True),
    "model_class_names": ((L_S_V,), True),
}


@dataclass(frozen=True, slots=True)
class DelayParameters:
    """The parameters of the delayed models; table ``NUMBERS`` describes each."""

    acc_time_delay_s: float
    steer_time_delay_s: float
    vel_time_delay_s: float
    acc_time_constant_s: float
    steer_time_constant_s: float
    steer_dead_band_rad: float
    vel_time_constant_s: float
    vel_lim_mps: float
    vel_rate_lim_mps2: float
    steer_lim_rad: float
    steer_rate_lim_radps: float
    steer_bias_rad: float
    debug_acc_scaling_factor: float
    debug_steer_scaling_factor: float

    @classmethod
    def from_mapping(cls, model_type: str, given: Mapping[str, Any]) -> "DelayParameters":
        """Make them from Autoware's names.

        A missing one has its default, and so has one that this type ignores. Raises ValueError
        naming a parameter that is unknown, no number, or below its least value.
        """
        for name in given:
            if name not in NUMBERS and name not in TEXTS:
                raise ValueError(f"{name}: unknown parameter; there is {', '.join(NUMBERS)}")
        return cls(
            **{
                f"{name}_{row.unit}" if row.unit else name: (
                    _number(name, row, given.get(name, row.default))
                    if model_type in row.users
                    else row.default
                )
                for name, row in NUMBERS.items()
            }
        )


def _number(name: str, row: ParameterRow, value: Any) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and isfinite(number := float(value)) and number >= row.low:
        return number
    raise ValueError(f"{name}: expected a number from {row.low:g} in {row.unit}, got {value!r}")


def text(name: str, given: Mapping[str, Any]) -> str:
    """Return the parameter that is one string. Raises ValueError if it is missing or not one."""
    value = given.get(name)
    if isinstance(value, str) and value:
        return value
    raise ValueError(f"{name}: expected a text for {', '.join(TEXTS[name][0])}, got {value!r}")


def texts(name: str, given: Mapping[str, Any]) -> list[str]:
    """Return the parameter that is a list of strings. Raises ValueError otherwise."""
    value = given.get(name)
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return value
    raise ValueError(f"{name}: expected a list of texts for {TEXTS[name][0][0]}, got {value!r}")
