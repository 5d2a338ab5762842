"""``ros2 run tandem_ros car``: a ROS 2 lifecycle node that starts and stops the program of one car.

The node does not hold the car itself. While it is active it runs ``tandem ros`` as a child process,
in the same namespace, with its parameters as options; while it is inactive, the car is free for
others. Activating arms nothing: ``~/arm`` of the car's node does that, or the person at a real
car's terminal. Deactivating sends a stop, waits until the car itself reports that it stops, brings
it to rest and releases it; without that report it fails, and the node stays active.
"""

# mypy: ignore-errors
from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import Bool
from std_srvs.srv import Trigger

from sim_mock.programs import children
from tandem_ros.command import missing
from tandem_ros.options import PARAMETERS, WrongParameter, options_of, remaps_of

CAR_NODE = "tandem"
UP_WITHIN_S = 60.0  # for a busy machine; if the car is missing, the program ends sooner
STOPPED_WITHIN_S = 5.0  # the car's node answers within 1.5 s, whatever the car does
RESTS_WITHIN_S = 12.0  # a car's longest stop, and its program's end
HEARD_IT_S = 3.0  # for the car's program to end by itself: a Ctrl-C in the terminal reaches it too
_WATCH_S = 0.2  # between two looks at the program: a person notices no delay

OK, FAILED, ERROR = (
    TransitionCallbackReturn.SUCCESS,
    TransitionCallbackReturn.FAILURE,
    TransitionCallbackReturn.ERROR,
)


class CarNodeClient:
    """A second node, which reaches the car's node while the lifecycle node is blocked."""

    def __init__(self, namespace: str) -> None:
        self._context = rclpy.Context()
        rclpy.init(context=self._context)
        self._node = rclpy.create_node(
            "tandem_lifecycle_ears", namespace=namespace, context=self._context
        )
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._heard: bool | None = None
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._node.create_subscription(Bool, f"{CAR_NODE}/is_stopped", self._hear, latched)
        self._stop = self._node.create_client(Trigger, f"{CAR_NODE}/stop")

    def is_up(self) -> bool:
        """Return whether the car's node has published, and its stop service is available."""
        self._executor.spin_once(timeout_sec=_WATCH_S)
        return self._heard is not None and self._stop.service_is_ready()

    def stopped(self) -> tuple[bool, str]:
        """Call the stop service; return whether the car reports a stop, and the answer's words."""
        if not self._stop.service_is_ready():
            return False, "its node is not there."
        answer = self._stop.call_async(Trigger.Request())
        self._executor.spin_until_future_complete(answer, timeout_sec=STOPPED_WITHIN_S)
        if answer.done():
            return answer.result().success, answer.result().message
        return False, f"no answer within {STOPPED_WITHIN_S:g} s."

    def close(self) -> None:
        """Shut the node down."""
        self._executor.shutdown()
        self._node.destroy_node()
        rclpy.try_shutdown(context=self._context)

    def _hear(self, message: Bool) -> None:
        self._heard = message.data


class CarNode(LifecycleNode):
    """The lifecycle node of one car's program."""

    def __init__(self) -> None:
        super().__init__("tandem_lifecycle")
        for name, (default, _) in PARAMETERS.items():
            self.declare_parameter(name, default)
        self._words: list[str] = []
        self._program: subprocess.Popen[bytes] | None = None
        self._ours = -1  # our end of a pipe; when it closes, the child knows that this node ended
        self._car_client: CarNodeClient | None = None
        self._watch = self.create_timer(_WATCH_S, self._look)

    # --- transitions

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Read the parameters; nothing is opened."""
        values = {name: self.get_parameter(name).value for name in PARAMETERS}
        try:
            self._words = options_of(values, self.get_namespace(), remaps_of(sys.argv))
        except ImportError as error:
            self.get_logger().error(missing(error))
            return FAILED
        except WrongParameter as error:
            self.get_logger().error(str(error))
            return FAILED
        return super().on_configure(state)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Start the car's program, and wait up to 60 s until its node is up."""
        self._car_client = CarNodeClient(self.get_namespace())
        theirs, self._ours = os.pipe()
        self._program = subprocess.Popen(
            children.module("tandem_ros.program", str(theirs), *self._words),
            pass_fds=[theirs],
        )
        os.close(theirs)
        ends_s = time.monotonic() + UP_WITHIN_S
        while time.monotonic() < ends_s and self._program.poll() is None:
            if self._car_client.is_up():
                return super().on_activate(state)
        code = self._program.poll()
        why = "it is not heard" if code is None else f"it ended with {code}, and says why above"
        self.get_logger().error(f"the car's program does not come up: {why}")
        self._end()
        return FAILED

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop the car, wait until it reports that, and release it; fail without that report."""
        if not self._is_stopped():
            return FAILED
        self._end()
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Forget the parameters that were read."""
        self._words = []
        return super().on_cleanup(state)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop and release the car, from whatever state."""
        if self._program and not self._is_stopped():
            self.get_logger().error("it is let go of all the same: a car that hears nothing stops")
        self._end()
        return super().on_shutdown(state)

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """End the car's program, which brings its car to rest."""
        self._end()
        return super().on_error(state)

    # --- the car's program

    def _is_stopped(self) -> bool:
        """Stop the car; return whether it reports that.

        If its program has ended, the car is stopped directly.
        """
        if self._program is None or self._program.poll() is not None:
            return self._is_stopped_directly()
        is_so, why = self._car_client.stopped() if self._car_client else (False, "")
        if is_so:
            self.get_logger().info(f"the car says that it stops: {why}")
        else:
            self.get_logger().error(f"no word of the car that it stops: {why} Use its runstop.")
        return is_so

    def _is_stopped_directly(self) -> bool:
        """Run ``tandem stop``; return whether the car acknowledged it.

        A virtual car of the program that ended is gone with it: that counts as stopped.
        """
        car = self._words[self._words.index("--car") + 1]
        if car.startswith("sim://"):
            return True
        stop = children.module("host_bridge.cli.main", "stop", car)
        done = subprocess.run(stop, check=False, timeout=STOPPED_WITHIN_S * 2)
        if done.returncode:
            self.get_logger().error(f"{car} did not acknowledge a stop. Use its runstop")
        return done.returncode == 0

    def _end(self) -> None:
        """End the program by SIGINT, and kill it after 12 s.

        At SIGINT it brings its car to rest and disarms it.
        """
        program, self._program = self._program, None
        if program and program.poll() is None:
            program.send_signal(signal.SIGINT)
            try:
                program.wait(RESTS_WITHIN_S)
            except subprocess.TimeoutExpired:
                self.get_logger().error("the car's program does not end, and is killed")
                program.kill()
                program.wait()
        if self._ours >= 0:
            os.close(self._ours)
            self._ours = -1
        if self._car_client:
            self._car_client.close()
            self._car_client = None

    def _look(self) -> None:
        """Deactivate the node if the program has ended by itself."""
        if self._program and self._program.poll() is not None:
            code = self._program.returncode
            self.get_logger().error(f"the car's program ended with {code}, and says why above")
            self.trigger_deactivate()

    def leave(self) -> None:
        """End after Ctrl-C.

        In a terminal the car's program got it as well, and has 3 s to end by itself. ros2 launch
        sends the signal a second time, which is ignored.
        """
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if self._program and os.isatty(sys.stdin.fileno()):
            with suppress(subprocess.TimeoutExpired):
                self._program.wait(HEARD_IT_S)
        self._end()


def main() -> int:
    """Run the node until Ctrl-C."""
    rclpy.init()
    node = CarNode()
    try:
        with suppress(KeyboardInterrupt, ExternalShutdownException):
            rclpy.spin(node)
    finally:
        node.leave()
        node.destroy_node()
        rclpy.try_shutdown()
    return 0
