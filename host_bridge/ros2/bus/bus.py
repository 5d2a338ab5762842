"""A ROS 2 node on whatever rclpy is installed; the only file that imports rclpy.

Nothing here runs by itself: ``Bus.step`` is called on each tick, takes the messages that have come
and returns. After ``Bus.listen`` a thread waits for messages, and reports when there is one.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any

from host_bridge.core.errors import UsageFault
from host_bridge.ros2.bus.car_topics import CarTopics, NodeTopics, register
from host_bridge.ros2.bus.executor_thread import ExecutorThread
from host_bridge.ros2.bus.message_types import message_class, missing_package
from host_bridge.ros2.bus.own_topics import OwnTopics
from host_bridge.ros2.bus.responses import DeferredResponse

_CALLS_MAX = 12  # callbacks per step; the rest waits for the next, and each topic keeps its newest
_DEPTH = 10  # queue depth of publishers, as users' nodes subscribe with
_NAMESPACE = re.compile(r"(/[A-Za-z_][A-Za-z0-9_]*)*")
# A topic's or service's name; the node's own name and namespace cannot be remapped here
_NAME = r"(~/|/)?[A-Za-z]\w*(/[A-Za-z]\w*)*"
_REMAP = re.compile(f"{_NAME}:={_NAME}", re.ASCII)
_NS_PER_US = 1000


def _call(handler: Any) -> None:
    """Run a callback that rclpy made ready, as its single-threaded executor does.

    Raises what the callback raised.
    """
    handler()
    if handler.exception() is not None:
        raise handler.exception()


class Bus:
    """A ROS 2 node with its executor, context, publishers, subscriptions and services.

    Raises errors.DeviceFault if there is no rclpy, errors.UsageFault for a wrong namespace or
    remap.
    """

    _car_topics: CarTopics | None = None

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
        """Create the node.

        ``parameters`` are declared read-only; ``use_sim_time`` among them has its effect.
        ``remaps`` are other names of topics and services, each FROM:=TO. With ``is_the_clock`` this
        program publishes /clock, and ROS time is that of ``now_us``.
        """
        _check_names(namespace, remaps)
        try:
            self._rclpy = import_module("rclpy")
            self._qos: Any = import_module("rclpy.qos")
            executors = import_module("rclpy.executors")
            node = import_module("rclpy.node")
            parameter: Any = import_module("rclpy.parameter")
            descriptors: Any = import_module("rcl_interfaces.msg")
        except ImportError as error:
            raise missing_package("rclpy", error) from None
        self._now_us = now_us
        self._is_the_clock = is_the_clock
        self._context = self._rclpy.Context()
        # rclpy installs no signal handler: Ctrl-C is the session's, which first stops the cars
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
        self._executor_thread: ExecutorThread[Any] | None = None
        self._later: Callable[[Callable[[], None]], object]

    def register_for(self, car: str) -> None:
        """Register all topics so far for the car that is served by this name, until ``close``.

        Raises errors.UsageFault for a topic that another node of the car has.
        """
        self._car_topics = register(
            car,
            NodeTopics(
                self._node.get_fully_qualified_name(),
                os.environ.get("ROS_DOMAIN_ID", "0"),
                os.getpid(),
                self._topics.published,
                self._topics.subscribed,
            ),
        )

    def listen(
        self, tell: Callable[[], object], later: Callable[[Callable[[], None]], object]
    ) -> None:
        """Start a thread that waits for messages; ``tell`` is called in it when one has come.

        ``later`` schedules a call for when the code that ran the last step has finished. Waiting is
        resumed only then, because to begin to wait occupies the interpreter.
        """
        self._later = later
        self._executor_thread = ExecutorThread(
            lambda: self._executor.wait_for_ready_callbacks()[0], tell
        )

    @property
    def has_news(self) -> bool:
        """True if a message has come that no step has taken; only known of a bus that listens."""
        return self._executor_thread is not None and self._executor_thread.has_found

    def step(self, *, is_between_ticks: bool = False) -> None:
        """Handle the messages that have come, up to a limit; never wait.

        With ``is_between_ticks`` handle only the one that was reported: asking for more takes as
        long as all the rest of the step.
        """
        if self._executor_thread is None:
            self._take(_CALLS_MAX)
            return
        first = self._executor_thread.take()
        if first is not None:
            try:
                _call(first)
                if not is_between_ticks:
                    self._take(_CALLS_MAX - 1)
            finally:
                self._later(self._executor_thread.resume)

    def _take(self, calls: int) -> None:
        for _ in range(calls):
            self._is_idle = True
            self._executor.spin_once(timeout_sec=0)
            if self._is_idle:
                return

    def wait(self, seconds: float) -> None:
        """Wait up to ``seconds`` for a first message, then handle all that came, up to a limit.

        rclpy does not hand messages over in the order of arrival: a tick of /clock may be taken
        before the commands that were sent ahead of it.
        """
        for _ in range(_CALLS_MAX):
            try:
                handler, *_rest = self._executor.wait_for_ready_callbacks(timeout_sec=seconds)
            except self._nothing_comes:
                return
            _call(handler)
            seconds = 0.0

    def stamp_ns(self) -> int:
        """Return the time for a stamp made now, in ns; this node's use_sim_time does not matter."""
        return self._now_us() * _NS_PER_US if self._is_the_clock else time.time_ns()

    def ros_ns(self) -> int:
        """Return ROS time in ns; with use_sim_time it is /clock's, 0 before its first message."""
        return int(self._node.get_clock().now().nanoseconds)

    def close(self) -> None:
        """Destroy the node; do nothing if that was done already.

        An input whose opening fails is closed twice: by itself, and by the code that opened it.
        """
        if self._car_topics:
            self._car_topics.close()
        if not self._context.ok():
            return
        if self._executor_thread:
            left = self._executor_thread.close(self._executor.shutdown)
            if left is not None:
                left()  # Python warns of a callback that was made ready and never run
        else:
            self._executor.shutdown()
        self._node.destroy_node()
        self._rclpy.shutdown(context=self._context)

    def stamp(self, age_us: int = 0) -> Any:
        """Return the time ``age_us`` ago as a builtin_interfaces/msg/Time."""
        nanoseconds = self.stamp_ns() - age_us * _NS_PER_US
        made = message_class("builtin_interfaces/msg/Time")()
        made.sec, made.nanosec = divmod(nanoseconds, 1_000_000_000)
        return made

    # --- topics and services

    def types_of(self, topic: str) -> list[str]:
        """Return the types under which others publish a topic, as far as they were found."""
        full = self._node.resolve_topic_name(topic)
        known: dict[str, list[str]] = dict(self._node.get_topic_names_and_types())
        return known.get(full, [])

    def publisher(
        self, topic: str, type_name: str, *, is_latched: bool = False, depth: int = _DEPTH
    ) -> Any:
        """Create a reliable publisher: reliable subscribers get nothing from a best-effort one.

        A latched one has depth 1 and is transient local. Raises errors.UsageFault for a topic that
        this node subscribes to.
        """
        self._topics.add_publication(self._node.resolve_topic_name(topic), topic)
        qos = self._qos.QoSProfile(depth=depth)
        if is_latched:
            durability = self._qos.DurabilityPolicy.TRANSIENT_LOCAL
            qos = self._qos.QoSProfile(depth=1, durability=durability)
        return self._node.create_publisher(message_class(type_name), topic, qos)

    def subscribe(
        self,
        topic: str,
        type_name: str,
        tell: Callable[[Any, int], None],
        *,
        depth: int = 1,
        is_latched: bool = False,
    ) -> None:
        """Subscribe; ``tell`` gets each message and its arrival in the session's time, in us.

        Best effort and depth 1: that matches reliable publishers too, and keeps no queue of old
        commands. Volatile: messages kept for late subscribers are not delivered, unless the
        topic ``is_latched`` and reliable, as /tf_static. ``depth`` is
        shared by all publishers of a topic, whose newer messages displace older ones of others.
        Raises errors.UsageFault for a topic that this node publishes.
        """
        self._topics.add_subscription(self._node.resolve_topic_name(topic), topic)
        qos = self._qos.QoSProfile(
            depth=depth,
            reliability=(
                self._qos.ReliabilityPolicy.RELIABLE
                if is_latched
                else self._qos.ReliabilityPolicy.BEST_EFFORT
            ),
            durability=(
                self._qos.DurabilityPolicy.TRANSIENT_LOCAL
                if is_latched
                else self._qos.DurabilityPolicy.VOLATILE
            ),
        )

        # rclpy finds by the signature that the callback wants the message info as well
        def hear(message: Any, info: Any) -> None:
            self._is_idle = False
            tell(message, self._received_us(info))

        self._node.create_subscription(message_class(type_name), topic, hear, qos)

    def serve(
        self, name: str, type_name: str, answer: Callable[[Any, Callable[[bool, str], None]], None]
    ) -> None:
        """Offer a service; ``answer`` gets the request, and a callable for the outcome.

        It calls that once, immediately or at a later step. The words are sent if the response has a
        field for them.
        """

        def handle(request: Any, response: Any) -> DeferredResponse:
            self._is_idle = False
            later = DeferredResponse(response)
            answer(request, later.fill)
            return later

        service = self._node.create_service(message_class(type_name), name, handle)
        send = service.send_response
        # A handler that is a waiting coroutine would block the executor: it would take no messages
        service.send_response = lambda later, header: later.begin(partial(send, header=header))

    def _received_us(self, info: Any) -> int:
        """Return when the middleware received a message, in the session's time.

        After a process was suspended, old messages wait in its queues: those must not count as new.
        """
        if self._is_the_clock:  # virtual time did not pass while the message waited
            return self._now_us()
        found = info["received_timestamp"] if isinstance(info, dict) else info.received_timestamp
        waited_us = (time.time_ns() - int(found)) // _NS_PER_US if found else 0
        return self._now_us() - max(waited_us, 0)


def _check_names(namespace: str, remaps: Sequence[str]) -> None:
    """Raise errors.UsageFault for what is no namespace, or no other name."""
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
