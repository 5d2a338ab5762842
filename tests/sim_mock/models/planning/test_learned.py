"""LEARNED_STEER_VEL: users' classes by module path, connected by names."""

import pytest

from sim_mock.models.planning.learned import STATES
from sim_mock.models.planning.model_types import LEARNED, make_car
from sim_mock.models.planning.motion import DriverCommand

# Three classes as a user would write them, each in the interface that Autoware's README asks for.
MODULE = """
from math import cos, sin, tan

class Part:
    def __init__(self): self.calls = []
    def load_params(self, path):
        self.calls.append(("load", path))
        self.gain = float(open(path).read())
    def reset(self): self.calls.append("reset")
    def dtSet(self, dt): self.dt = dt

class Kinematic(Part):
    def get_action_names(self): return ["VX", "STEER"]
    def get_state_names(self): return ["POS_X", "POS_Y", "YAW", "YAW_RATE"]
    def forward(self, action, state):
        (v, steer), (x, y, yaw, _) = action, state
        rate = v * tan(steer) / 2.79
        return [x + self.dt * v * cos(yaw), y + self.dt * v * sin(yaw), yaw + self.dt * rate, rate]

class Steer(Part):
    gain = 1.0
    def get_action_names(self): return ["STEER_DES"]
    def get_state_names(self): return ["STEER"]
    def forward(self, action, state): return (state[0] + self.gain * (action[0] - state[0]),)

class Drive(Part):
    def get_action_names(self): return ["VX_DES", "MOTOR"]
    def get_state_names(self): return ["VX", "MOTOR"]
    def forward(self, action, state): return [0.5 * action[1], action[0]]

class Short(Steer):
    def forward(self, action, state): return []

class Lacking:
    def forward(self, action, state): return []
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    name = f"user_parts_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


def made(module, classes, params=None, dt_s=0.1):
    given = {
        "model_module_paths": [module] * len(classes),
        "model_param_paths": params or [""] * len(classes),
        "model_class_names": list(classes),
    }
    return make_car(LEARNED, given, 2.79, dt_s)


def run(car, count, command):
    return [car.step(0.1, command) for _ in range(count)]


def test_parts_see_the_signals_of_the_step_before(module):
    steps = run(made(module, ["Kinematic", "Steer", "Drive"]), 4, DriverCommand(2.0, 0.0, 0.1))
    assert [s.steer_rad for s in steps] == pytest.approx([0.1] * 4)
    assert [s.vx_mps for s in steps] == [0.0, 1.0, 1.0, 1.0]  # through MOTOR, which it owns
    assert [s.x_m for s in steps] == pytest.approx([0.0, 0.0, 0.1, 0.2], abs=1e-3)
    assert steps[3].yaw_rad > steps[2].yaw_rad > 0.0


def test_their_order_does_not_matter(module):
    names = ["Kinematic", "Steer", "Drive"]
    command = DriverCommand(2.0, 0.0, 0.1)
    assert run(made(module, names), 9, command) == run(made(module, names[::-1]), 9, command)


def test_parameters_are_loaded_and_the_part_reset(module, tmp_path):
    path = tmp_path / "gain.txt"
    path.write_text("0.25")
    car = made(module, ["Steer"], [str(path)])
    assert run(car, 1, DriverCommand(steer_rad=0.4))[0].steer_rad == pytest.approx(0.1)
    assert car._parts[0][0].calls == [("load", str(path)), "reset"]


def test_signals_that_nobody_computes_stay(module):
    car = made(module, ["Steer"])
    car.place(1.0, 2.0, 0.3, 4.0)
    assert run(car, 5, DriverCommand(9.0))[-1][:6] == (1.0, 2.0, 0.3, 0.0, 4.0, 0.0)


def test_acceleration_is_the_change_of_the_commanded_speed(module):
    car = made(module, ["Drive"])
    run(car, 1, DriverCommand(2.0))
    assert car.report().ax_mps2 == pytest.approx(20.0)
    run(car, 1, DriverCommand(2.0))
    assert car.report().ax_mps2 == 0.0


def test_placing_it_forgets_inner_signals(module):
    car = made(module, ["Drive"])
    run(car, 3, DriverCommand(2.0))
    car.place(0.0, 0.0, 0.0)
    assert tuple(car.state) == (0.0,) * 7
    assert car.step(0.1, DriverCommand(0.0)).vx_mps == 0.0
    assert len(car.state) == len(STATES)


@pytest.mark.parametrize(
    ("classes", "words"),
    [(["Nobody"], "no class Nobody"), (["Lacking"], "lacks get_action_names"), ([], "as long as")],
)
def test_parts_that_cannot_be_are_refused(module, classes, words):
    with pytest.raises(ValueError, match=words):
        made(module, classes)


def test_a_module_that_is_not_there_is_named():
    with pytest.raises(ValueError, match="no_such_module_anywhere"):
        made("no_such_module_anywhere", ["Steer"])


def test_lists_of_different_lengths_are_refused(module):
    with pytest.raises(ValueError, match="as long as each other, got 2, 1 and 2"):
        made(module, ["Steer", "Drive"], [""])


def test_a_part_that_gives_too_few_states_is_named(module):
    with pytest.raises(ValueError, match=r"Short.forward: expected 1 states, got 0"):
        run(made(module, ["Short"]), 1, DriverCommand())
