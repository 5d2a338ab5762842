"""ROS 2 as an input and an observer: topics become commands, and reports become topics."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from typing import Any

from host_bridge.core import (
    DriveCommand,
    Input,
    InputContext,
    InputLimits,
    Observed,
    OperatorRequest,
    SeenCar,
    Vehicle,
)
from host_bridge.core.errors import DataFileFault
from host_bridge.logs.sensor_lines import SensorPipe
from host_bridge.ros2.bus.bus import Bus
from host_bridge.ros2.bus.discovery_range import is_secured, network_refusal, stay_on_this_machine
from host_bridge.ros2.messages.frames import with_namespace
from host_bridge.ros2.node.command_topics import CommandTopics, with_direct
from host_bridge.ros2.node.diagnostics import DiagnosticsPublisher
from host_bridge.ros2.node.forgiveness import Forgiveness, real_car_refusal
from host_bridge.ros2.node.mux import Mux, StampedCommand
from host_bridge.ros2.node.node_services import NodeServices
from host_bridge.ros2.node.publishers import BOOL, StatePublisher
from host_bridge.ros2.node.robot_description import RobotDescriptionPublisher
from host_bridge.ros2.node.set_pose import PoseRequest
from host_bridge.ros2.node.sim_time import SimTimeServices, SteppableTime
from host_bridge.ros2.node.split_command import SplitCommand
from host_bridge.ros2.node.stops import STOP_QUEUE_DEPTH, RunstopTopic
from host_bridge.ros2.node.vesc_scale import VescScale
from host_bridge.ros2.vocabularies.topics import MuxRow
from host_bridge.ros2.vocabularies.vocabulary import Vocabulary, without_truth
from sim_mock.autodrive.cars import simulated_car

_BEGIN_US = 100_000  # the deadman is shown released so long: a few steps of a car and lost frames


class RosInput(Input):
    """The ROS 2 input, which claims as the source ``ros2`` of the vehicle file.

    That is a program's source: a real car it drives only while a person permits it. It outlives a
    stop, and goes on when the cars are armed again.
    """

    source = "ros2"
    outlives_stops = True
    _bus: Bus
    _command_topics: CommandTopics
    _mux: Mux
    _pipe: SensorPipe | None = None
    _sim_time_services: SimTimeServices | None = None

    def __init__(
        self,
        vocabulary: Vocabulary,
        namespace: str = "",
        *,
        sensors: str | None = None,
        poses: str | None = None,
        mux: tuple[MuxRow, ...] | None = None,
        scale: VescScale | None = None,
        notes: Sequence[str] = (),
        remaps: Sequence[str] = (),
        is_forgiving: bool = False,
    ) -> None:
        """Set up the input; nothing is opened yet.

        ``sensors`` is the pipe of a virtual car's sensors, ``poses`` the pipe that puts it
        elsewhere. ``notes`` are told at the start. ``remaps`` are other names of topics, each
        FROM:=TO. With ``is_forgiving`` silence yields, and what silence stopped is
        armed again: for virtual cars alone.
        """
        self._forgiveness = Forgiveness() if is_forgiving else None
        self.vocabulary = with_namespace(vocabulary, namespace)
        self.notes = list(notes)
        self._remaps = remaps
        self._namespace = namespace
        self._sensors_path = sensors
        self._poses_path = poses
        self._rows = with_direct(mux, vocabulary) if mux else vocabulary.mux
        self._scale = scale or VescScale()
        self._like = simulated_car(vocabulary.like)
        self._adapter = vocabulary.adapter()
        self._count = 0
        self._now_us = 0
        self._observed: Observed | None = None
        self._was_driving = False
        self._since_us: int | None = None
        self._last: StampedCommand | None = None
        self._is_resting = False
        self._split_command = SplitCommand(self._scale, self._like)
        self._runstop = RunstopTopic()
        self.services = NodeServices(
            self._adapter, self._runstop, lambda: self._now_us, self._is_driving
        )
        self._is_local = False
        self._limits: InputLimits
        self._state_publisher: StatePublisher
        self._robot_description: RobotDescriptionPublisher
        self._diagnostics: DiagnosticsPublisher
        self._steps: SteppableTime | None = None

    def use_time(self, steps: SteppableTime) -> None:
        """Use a time that ROS 2 may pause and step, and that is published on /clock."""
        self._steps = steps
        self.is_computed = True

    # --- the interface of an input

    async def open(self, context: InputContext) -> None:
        """Start the node.

        Raises errors.TandemError, also for a real car whose topics reach a network without SROS 2.
        """
        self._is_local = stay_on_this_machine(os.environ)
        self.services.is_virtual = context.is_virtual
        if not (context.is_virtual or self._is_local or is_secured(os.environ)):
            raise network_refusal()
        if self._forgiveness and not context.is_virtual:
            raise real_car_refusal(context.car_names)
        if not context.is_virtual:
            self.vocabulary = without_truth(self.vocabulary)
        self._limits = context.limits(self.source)
        self._mux = self._adapter.mux(self._rows, context.lease_s(self.source))
        if self._forgiveness:
            self._mux.forgive()
        is_the_clock = self._steps is not None
        self._bus = Bus(
            self.vocabulary.node,
            self._namespace,
            context.now_us,
            is_the_clock=is_the_clock,
            remaps=self._remaps,
        )
        try:
            if self._sensors_path:
                self._pipe = SensorPipe(self._sensors_path)
            self._begin(context.vehicles[0])
            for name in context.car_names[:1]:
                self._bus.register_for(name)
        except OSError as error:
            self._bus.close()
            raise DataFileFault.unreadable(self._sensors_path, error) from None
        except BaseException:
            self._bus.close()
            raise
        if not is_the_clock:
            self._listen(context.wake)

    def _listen(self, wake: Callable[[], None]) -> None:
        """Wake the session when a message comes, unless a step has taken it already."""
        loop = asyncio.get_running_loop()

        def hear() -> None:
            if self._bus.has_news:
                wake()

        self._bus.listen(lambda: loop.call_soon_threadsafe(hear), loop.call_soon)

    def step(self, now_us: int, observed: Observed) -> DriveCommand:
        self._now_us, self._observed = now_us, observed
        self._count = self._count + 1 & 0xFFFF
        if observed.is_driving and not self._was_driving:
            self._mux.begin()
            self._last = None
            self._is_resting = False
        self._was_driving = observed.is_driving
        if not observed.is_between_ticks:
            # Published before commands are taken: those that come meanwhile are in this claim
            self._tell(observed.cars[0], now_us)
        self._bus.step(is_between_ticks=observed.is_between_ticks)
        if self._runstop.step(now_us):
            self.services.stop()
        self._adapter.step(observed.cars[0], observed.is_driving, now_us)
        self.services.step(observed.cars[0], now_us)
        if self._forgiveness and self._forgiveness.must_arm(observed, now_us):
            self.services.arm(lambda is_done, words: None)
        return self._drive_command(now_us, observed.is_driving)

    def _tell(self, car: SeenCar, now_us: int) -> None:
        if self._sim_time_services:
            self._sim_time_services.step()
        self._state_publisher.step(car, now_us)
        self._robot_description.step(car)
        hits = self._pipe.hits if self._pipe else None
        self._diagnostics.step(car, self._mux, self._who(now_us), hits)

    def requests(self) -> Sequence[OperatorRequest]:
        return self.services.take_requests()

    def status_text(self, now_us: int) -> str:
        words = self._forgiveness.words() if self._forgiveness else ""
        return f"ROS 2: {words}{self._who(now_us)}"

    async def close(self) -> None:
        if hasattr(self, "_bus"):
            self._bus.close()
        if self._pipe:
            self._pipe.close()

    def _is_driving(self) -> bool:
        return self._observed is not None and self._observed.is_driving

    def _who(self, now_us: int) -> str:
        teleport = self.services.pose_request
        placed = teleport.words if teleport else ""
        return self._adapter.words() or placed or self._mux.words(now_us)

    # --- the command

    def _drive_command(self, now_us: int, is_driving: bool) -> DriveCommand:
        command = self._decided(now_us) if is_driving else None
        if command is not None:
            self._last = command
            if self._since_us is None:
                self._since_us = now_us
            is_ready = now_us - self._since_us >= _BEGIN_US
            return self._held(command, is_ready)
        self._since_us = None
        if is_driving and self._mux.timed_out is not None and self._last is not None:
            # The last command of the silent source: its time expires, and then nothing is claimed
            return self._held(self._last, is_held=True)
        # No command: keep claiming neutral once this source has claimed, as its silence would stop
        self._is_resting |= not self._adapter.may_drive or self._last is not None
        return DriveCommand(input_count=self._count, heard_us=now_us if self._is_resting else None)

    def _decided(self, now_us: int) -> StampedCommand | None:
        if not self._adapter.may_drive:
            self._mux.suspend()
            return None
        command = self._mux.decide(now_us)
        return None if command is None else self._adapter.limited(command)

    def _held(self, command: StampedCommand, is_held: bool) -> DriveCommand:
        limits = self._limits
        return DriveCommand(
            steer_rad=min(max(command.steer_rad, -limits.steer_rad), limits.steer_rad),
            speed_mps=min(max(command.speed_mps, -limits.reverse_mps), limits.speed_mps),
            brake=command.brake,
            is_held=is_held,
            input_count=self._count,
            lights=self._adapter.lights,
            heard_us=min(command.heard_us, self._now_us),
        )

    # --- subscriptions

    def _begin(self, vehicle: Vehicle) -> None:
        self._command_topics = CommandTopics(
            self._bus,
            self._mux,
            self._adapter,
            self._split_command,
            lambda: self._now_us,
            is_local=self._is_local,
        )
        self._command_topics.subscribe(self.vocabulary, self._rows)
        if not self._adapter.has_runstop:
            self._bus.subscribe("runstop", BOOL, self._hear_runstop, depth=STOP_QUEUE_DEPTH)
        services = self.services
        services.serve(self._bus)
        services.pipe = self._pipe
        self._adapter.begin(self._bus, services, vehicle)
        if self._poses_path and self._pipe and services.is_virtual:
            rear_m = vehicle.turns_behind_centre_m
            services.pose_request = PoseRequest(
                self._poses_path, self._pipe, rear_m, services.stop, services.arm
            )
        self._state_publisher = StatePublisher(
            self._bus,
            self.vocabulary,
            vehicle,
            self._scale,
            self._like,
            self._pipe,
            self._adapter.fillers(),
        )
        self._robot_description = RobotDescriptionPublisher(self._bus, self.vocabulary, vehicle)
        self._diagnostics = DiagnosticsPublisher(self._bus, self._namespace, self.vocabulary.node)
        if self._steps:
            self._sim_time_services = SimTimeServices(self._bus, self._steps, vehicle.step_s)

    # --- stops

    def _hear_runstop(self, message: Any, received_us: int) -> None:
        self._runstop.hear(bool(message.data), received_us)
