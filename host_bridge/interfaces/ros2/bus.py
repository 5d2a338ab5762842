"""A ROS 2 node, made with whatever rclpy is there; the only file that knows it.

Nothing here runs by itself: ``Bus.step`` is called on each tick, takes what has come and returns.
A bus that was told to ``listen`` waits meanwhile, and says when something has come.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from host_bridge.errors import DeviceFault, UsageFault
from host_bridge.interfaces.ros2.own_topics import OwnTopics
from host_bridge.interfaces.ros2.waiting import Waiter

_CALLS_MAX = 12  # of one step: what is more waits for the next, and of each topic the newest stays
_DEPTH = 10  # of what is published, as users' nodes subscribe
_HUMBLE = "humble"
_NAMESPACE = re.compile(r"(/[A-Za-z_][A-Za-z0-9_]*)*")
# Of topics and services; the node's own name and namespace are not ROS 2's to change here
_NAME = r"(~/|/)?[A-Za-z]\w*(/[A-Za-z]\w*)*"
_REMAP = re.compile(f"{_NAME}:={_NAME}", re.ASCII)
_NS_PER_US = 1000
# Whoever set one of these has decided how far their ROS 2 reaches
REACH_SETTINGS = (
    "ROS_AUTOMATIC_DISCOVERY_RANGE",
    "ROS_LOCALHOST_ONLY",
    "ROS_STATIC_PEERS",
    "ROS_DISCOVERY_SERVER",
    "FASTRTPS_DEFAULT_PROFILES_FILE",
    "FASTDDS_DEFAULT_PROFILES_FILE",
    "CYCLONEDDS_URI",
    "ZENOH_SESSION_CONFIG_URI",
)


def stay_on_this_machine(environment: MutableMapping[str, str]) -> bool:
    """Keep this node's topics on this machine, unless the environment says how far they go.

    Returns whether they stay: then nobody else's clock is behind a stamp.
    """
    if not any(environment.get(name) for name in REACH_SETTINGS):
        if environment.get("ROS_DISTRO") == _HUMBLE:
            environment["ROS_LOCALHOST_ONLY"] = "1"
        else:
            environment["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    others = [name for name in REACH_SETTINGS[2:] if environment.get(name)]
    reach = environment.get("ROS_AUTOMATIC_DISCOVERY_RANGE", "").upper()
    return not others and (
        environment.get("ROS_LOCALHOST_ONLY") == "1" or reach in ("LOCALHOST", "OFF")
    )


def is_secured(environment: MutableMapping[str, str]) -> bool:
    """Whether ROS 2's own security refuses whoever holds no key."""
    return (
        environment.get("ROS_SECURITY_ENABLE", "").lower() == "true"
        and environment.get("ROS_SECURITY_STRATEGY", "") == "Enforce"
    )


def open_to_a_network() -> UsageFault:
    """The refusal of a real car where strangers could move it."""
    return UsageFault(
        "whoever is on this network could move the car: ROS 2 asks nobody who they are",
        expected="topics that stay on this machine, or ROS 2's security enforced",
        got="a setting of ROS 2 that reaches farther",
        remedy="set ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST and nothing else; or set up SROS 2 "
        "with ROS_SECURITY_ENABLE=true and ROS_SECURITY_STRATEGY=Enforce",
    )


@cache
def message_class(name: str) -> Any:
    """The class of ``package/msg/Type``. Raises errors.DeviceFault if its package is missing."""
    package, kind, type_name = name.split("/")
    try:
        return getattr(import_module(f"{package}.{kind}"), type_name)
    except ImportError as error:
        raise _missing(package, error) from None


def has_message(name: str) -> bool:
    """Say whether this Python has the package of ``package/msg/Type``."""
    return find_spec(name.split("/")[0]) is not None


def _missing(package: str, error: ImportError) -> DeviceFault:
    distribution = os.environ.get("ROS_DISTRO", "DISTRIBUTION")
    dashed = package.replace("_", "-")
    return DeviceFault(
        f"this Python has no {package}",
        expected="ROS 2 and its messages, in the environment of this command",
        got=str(error),
        remedy=f"source /opt/ros/{distribution}/setup.bash; if it stays missing: "
        f"sudo apt install ros-{distribution.lower()}-{dashed}; tandem doctor says which Python",
    )


def _filled(response: Any, is_done: bool, words: str) -> Any:
    """An answer, in the fields that std_srvs, Autoware's and TIER IV's services have for it."""
    if hasattr(response, "status"):
        response.status.code = response.status.SUCCESS if is_done else response.status.ERROR
        response.status.message = words
        return response
    response.success = is_done
    if hasattr(response, "message"):
        response.message = words
    return response


def _call(handler: Any) -> None:
    """Do what rclpy has made ready, as its own executor of one thread does."""
    handler()
    if handler.exception() is not None:
        raise handler.exception()


class _Later:
    """An answer that is sent when it is known, at once or later."""

    def __init__(self, response: Any) -> None:
        self._response = response
        self._send: Callable[..., None] | None = None
        self._is_filled = False

    def begin(self, send: Callable[..., None]) -> None:
        """``send`` is how it gets to whoever called."""
        self._send = send
        self._send_if_whole()

    def fill(self, is_done: bool, words: str) -> None:
        self._response = _filled(self._response, is_done, words)
        self._is_filled = True
        self._send_if_whole()

    def _send_if_whole(self) -> None:
        if self._send is not None and self._is_filled:
            self._send(self._response)


class Bus:
    """One node. Raises errors.DeviceFault if there is no rclpy, UsageFault for the namespace."""

    def __init__(
        self,
        name: str,
        namespace: str,
        now_us: Callable[[], int],
        parameters: Mapping[str, Any] | None = None,
        *,
        is_the_clock: bool = False,
        remaps: Sequence[str] = (),
    ) -> None:
        """``parameters`` are declared, read-only; ``use_sim_time`` among them is heeded.
        ``remaps`` are other names of topics and services, each FROM:=TO.

        ``is_the_clock``: ROS time is that of ``now_us``, which somebody says on /clock.
        """
        if not _NAMESPACE.fullmatch(namespace):
            raise UsageFault(
                "this is no namespace of ROS 2",
                expected="letters, digits and _ after each /, as /car1",
                got=namespace,
            )
        for rule in remaps:
            if not _REMAP.fullmatch(rule):
                raise UsageFault(
                    "this gives no topic and no service another name",
                    expected="FROM:=TO, as drive:=/planner/drive",
                    got=rule,
                )
        try:
            self._rclpy = import_module("rclpy")
            self._qos: Any = import_module("rclpy.qos")
            executors = import_module("rclpy.executors")
            node = import_module("rclpy.node")
            parameter: Any = import_module("rclpy.parameter")
            descriptors: Any = import_module("rcl_interfaces.msg")
        except ImportError as error:
            raise _missing("rclpy", error) from None
        self._now_us = now_us
        self._is_the_clock = is_the_clock
        self._context = self._rclpy.Context()
        # Ctrl-C is the session's, which brings the cars to rest first
        self._rclpy.init(args=[], context=self._context)
        given = dict(parameters or {})
        uses_sim_time = parameter.Parameter("use_sim_time", value=given.pop("use_sim_time", False))
        self._node = node.Node(
            name,
            context=self._context,
            namespace=namespace,
            parameter_overrides=[uses_sim_time],
            cli_args=["--ros-args", *(word for rule in remaps for word in ("-r", rule))],
        )
        self._topics = OwnTopics()
        fixed = descriptors.ParameterDescriptor(read_only=True)
        for name_of, value in given.items():
            self._node.declare_parameter(name_of, value, fixed)
        self._executor = executors.SingleThreadedExecutor(context=self._context)
        self._nothing_comes = executors.TimeoutException, executors.ShutdownException
        self._executor.add_node(self._node)
        self._is_idle = False
        self._waiter: Waiter[Any] | None = None
        self._later: Callable[[Callable[[], None]], object]

    def listen(
        self, tell: Callable[[], object], later: Callable[[Callable[[], None]], object]
    ) -> None:
        """From now on wait for what comes, in a thread; ``tell`` is called there.

        ``later`` calls when whoever took the last step has done with it: to begin to wait takes
        the interpreter for as long as that.
        """
        self._later = later
        self._waiter = Waiter(lambda: self._executor.wait_for_ready_callbacks()[0], tell)

    @property
    def has_news(self) -> bool:
        """Something has come that no step has taken; known of one that listens."""
        return self._waiter is not None and self._waiter.has_found

    def step(self, *, is_woken: bool = False) -> None:
        """Take what has come, up to a number; never waits. ``is_woken``: what was told of alone,
        for to ask what else has come takes as long as all the rest of it.
        """
        if self._waiter is None:
            self._take(_CALLS_MAX)
            return
        first = self._waiter.take()
        if first is not None:
            try:
                _call(first)
                if not is_woken:
                    self._take(_CALLS_MAX - 1)
            finally:
                self._later(self._waiter.go_on)

    def _take(self, calls: int) -> None:
        for _ in range(calls):
            self._is_idle = True
            self._executor.spin_once(timeout_sec=0)
            if self._is_idle:
                return

    def wait(self, seconds: float) -> None:
        """Wait so long for anything to come, then take all that has come, up to a number.

        In which order rclpy finds what has come is not in which it came: a tick of /clock may be
        taken before the commands that were sent ahead of it.
        """
        for _ in range(_CALLS_MAX):
            try:
                handler, *_rest = self._executor.wait_for_ready_callbacks(timeout_sec=seconds)
            except self._nothing_comes:
                return
            _call(handler)
            seconds = 0.0

    def stamp_ns(self) -> int:
        """What stamps of this moment say; use_sim_time of this node changes nothing in it."""
        return self._now_us() * _NS_PER_US if self._is_the_clock else time.time_ns()

    def ros_ns(self) -> int:
        """ROS time in ns: that of /clock with use_sim_time (0 before it says one)."""
        return int(self._node.get_clock().now().nanoseconds)

    def close(self) -> None:
        """End the node; nothing where that is done, for an input that is refused is closed twice:
        by itself, and by whoever opened it."""
        if not self._context.ok():
            return
        if self._waiter:
            left = self._waiter.close(self._executor.shutdown)
            if left is not None:
                left()  # what was made ready has to be done, or Python complains of it
        else:
            self._executor.shutdown()
        self._node.destroy_node()
        self._rclpy.shutdown(context=self._context)

    def stamp(self, age_us: int = 0) -> Any:
        """So long ago, as messages have it."""
        nanoseconds = self.stamp_ns() - age_us * _NS_PER_US
        made = message_class("builtin_interfaces/msg/Time")()
        made.sec, made.nanosec = divmod(nanoseconds, 1_000_000_000)
        return made

    # --- topics and services

    def publisher(
        self, topic: str, type_name: str, *, is_latched: bool = False, depth: int = _DEPTH
    ) -> Any:
        """Reliable: a subscriber that asks for that gets nothing of one that is not.

        Raises errors.UsageFault for a topic that this node hears.
        """
        self._topics.say(self._node.resolve_topic_name(topic), topic)
        qos = self._qos.QoSProfile(depth=depth)
        if is_latched:
            durability = self._qos.DurabilityPolicy.TRANSIENT_LOCAL
            qos = self._qos.QoSProfile(depth=1, durability=durability)
        return self._node.create_publisher(message_class(type_name), topic, qos)

    def subscribe(
        self, topic: str, type_name: str, tell: Callable[[Any, int], None], *, depth: int = 1
    ) -> None:
        """``tell`` gets the message and when it was received, in the session's time.

        Best effort and of depth 1: that takes reliable publishers too, and keeps no queue of old
        commands; volatile: what was kept for late comers does not come. ``depth`` is of all
        publishers of a topic together, of which the newest puts out the others. Raises
        errors.UsageFault for a topic that this node publishes.
        """
        self._topics.hear(self._node.resolve_topic_name(topic), topic)
        qos = self._qos.QoSProfile(
            depth=depth,
            reliability=self._qos.ReliabilityPolicy.BEST_EFFORT,
            durability=self._qos.DurabilityPolicy.VOLATILE,
        )

        # The annotation is rclpy's way to know that the second argument is wanted
        def hear(message: Any, info: Any) -> None:
            self._is_idle = False
            tell(message, self._received_us(info))

        self._node.create_subscription(message_class(type_name), topic, hear, qos)

    def serve(
        self, name: str, type_name: str, answer: Callable[[Any, Callable[[bool, str], None]], None]
    ) -> None:
        """Offer a service; ``answer`` gets the request and what to call, once, with the outcome: at
        once or at a later step. The words are said where the answer has a place for them."""

        def handle(request: Any, response: Any) -> _Later:
            self._is_idle = False
            later = _Later(response)
            answer(request, later.fill)
            return later

        service = self._node.create_service(message_class(type_name), name, handle)
        send = service.send_response
        # Of a coroutine that waits, the executor would be full: it hears nothing else meanwhile
        service.send_response = lambda later, header: later.begin(partial(send, header=header))

    def _received_us(self, info: Any) -> int:
        """When the middleware got it: a process that stood still finds old messages waiting."""
        if self._is_the_clock:  # which stood still while it waited
            return self._now_us()
        found = info["received_timestamp"] if isinstance(info, dict) else info.received_timestamp
        waited_us = (time.time_ns() - int(found)) // _NS_PER_US if found else 0
        return self._now_us() - max(waited_us, 0)
