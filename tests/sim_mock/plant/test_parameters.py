"""A vehicle file's [plant] table is read strictly: what is wrong is refused by its name."""

import pytest

from sim_mock.plant.parameters import Patch, PlantParameters
from tests.sim_mock.plant.cars import f1tenth, f1tenth_mapping, nigel, nigel_mapping

CURVE = [[-0.4, 1_000_000], [0.4, 2_000_000]]
SERVO = {"kind": "servo_steering", "axle": "front", "curve": CURVE}
PATCH = {"x_m": 1, "y_m": 2, "radius_m": 1.5, "mu_scale": 0.4}

REFUSED = {
    "plant.body.mas_kg: mas_kg is not a key of this table": lambda m: m["body"].update(mas_kg=1.0),
    "plant.tires: tires is not a key of this table": lambda m: m.update(tires={}),
    "plant.tyre: missing": lambda m: m.pop("tyre"),
    "plant.tyre.mu: mu is missing": lambda m: m["tyre"].pop("mu"),
    "plant.tyre.mu: mu cannot be that; expected a number from 0.01 to 3, got 0": lambda m: m[
        "tyre"
    ].update(mu=0),
    'plant.tyre.mu: mu cannot be that; expected a number from 0.01 to 3, got "0.8"': lambda m: m[
        "tyre"
    ].update(mu="0.8"),
    "plant.body.mass_kg: mass_kg cannot be that; expected a number from 0.01": lambda m: m[
        "body"
    ].update(mass_kg=True),
    "plant.body.lf_m: lf_m cannot be that; expected a number from 0.005 to 10 metres": lambda m: m[
        "body"
    ].update(lf_m=float("nan")),
    "plant.tyre.law: law cannot be that; expected one of linear, fiala": lambda m: m["tyre"].update(
        law="magic"
    ),
    "plant.body.integrator: integrator cannot be that; expected one of euler": lambda m: m[
        "body"
    ].update(integrator="x"),
    "plant.esc.rearms: rearms cannot be that; expected true or false": lambda m: m["esc"].update(
        rearms=1
    ),
    "plant.esc: expected reverse_ns <": lambda m: m["esc"].update(forward_ns=1_400_000),
    "plant.motor.count: count cannot be that; expected a whole number from 1": lambda m: m[
        "motor"
    ].update(count=1.5),
    "plant.imu: imu cannot be that; expected a table": lambda m: m.update(imu=3),
    "plant.channels: channels cannot be that; expected a list": lambda m: m.pop("channels"),
    "plant.channels: expected at most 8": lambda m: m.update(channels=[{"kind": "none"}] * 9),
    'plant.channels: expected one "esc"': lambda m: m.update(channels=[SERVO]),
    "plant.channels[1].kind: expected": lambda m: m["channels"].__setitem__(1, {"kind": "motor"}),
    "plant.channels[1].pin: pin is not a key of this table": lambda m: m["channels"][1].update(
        pin=4
    ),
    "plant.channels[0].axle: axle is missing": lambda m: m["channels"][0].pop("axle"),
    "plant.channels[0].curve: curve cannot be that; expected a list": lambda m: m["channels"][
        0
    ].pop("curve"),
    "plant.channels[0].curve: expected 2 or more": lambda m: m["channels"][0].update(
        curve=[[0.4, 1_000_000], [-0.4, 2_000_000]]
    ),
    "plant.channels[0]: expected wheels that turn": lambda m: m["channels"][0].update(
        wheel_ratio=3.0
    ),
    "plant.channels[0].curve[1]: expected [steer_rad": lambda m: m["channels"][0].update(
        curve=[[-0.4, 1_000_000], [0.4]]
    ),
    "plant.patches[0].mu_scale: mu_scale cannot be that; expected a number": lambda m: m.update(
        patches=[{**PATCH, "mu_scale": 0}]
    ),
    "plant.patches[0].radius_m: radius_m is missing": lambda m: m.update(
        patches=[{key: PATCH[key] for key in PATCH if key != "radius_m"}]
    ),
    "plant.payload_kg: payload_kg cannot be that; expected a number": lambda m: m.update(
        payload_kg=-1
    ),
    "plant.payload_x_m: expected a centre of gravity": lambda m: m.update(
        payload_kg=9, payload_x_m=0.5
    ),
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_is_wrong_is_refused_by_name(message):
    mapping = f1tenth_mapping()
    mapping["channels"] = [dict(channel) for channel in mapping["channels"]]
    REFUSED[message](mapping)
    with pytest.raises(ValueError) as refusal:  # noqa: PT011 - the text is compared below
        PlantParameters.from_mapping(mapping)
    assert str(refusal.value).startswith(message)


def test_an_esc_table_without_an_esc_is_refused():
    mapping = {**nigel_mapping(), "esc": f1tenth_mapping()["esc"]}
    with pytest.raises(ValueError, match=r"plant\.esc"):
        PlantParameters.from_mapping(mapping)


def test_both_cars_are_read_whole():
    assert f1tenth().drive_channels == (1,)
    assert nigel().drive_channels == (4, 5, 6, 7)
    assert [s.wheel_ratio for s in nigel().steering] == [1.0, 1.0, -1.0, -1.0]
    assert nigel().esc is None
    assert f1tenth().body.mass_kg == 3.47


def test_payload_and_patches_can_stand_in_the_file():
    mapping = f1tenth_mapping()
    mapping.update(payload_kg=1.0, payload_x_m=-0.1, patches=[PATCH])
    in_file = PlantParameters.from_mapping(mapping)
    assert in_file == f1tenth().with_payload(1.0, -0.1).with_patches((Patch(1, 2, 1.5, 0.4),))
    assert in_file.body.mass_kg == pytest.approx(4.47)


def test_left_out_options_have_their_defaults():
    p = f1tenth()
    assert (p.servo.lag_s, p.patches) == (0.0, ())
    assert nigel().steering[0].wheel_ratio == 1.0
