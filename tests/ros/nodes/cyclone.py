"""Another DDS, without rclpy: SPEED STEERING HZ. Publishes /drive and hears /sensors/core.

The types are written here, from the fields that the messages have, and Cyclone DDS makes the wire
of them. Topics with arrays, as /odom, are not heard so: this Cyclone and Fast DDS do not match
there. For each second that something was heard it prints a line of JSON.
"""

import json
import os
import sys
import time
from dataclasses import dataclass

# Before the library is imported: this machine alone, without multicast, as many as there are
os.environ["CYCLONEDDS_URI"] = (
    '<CycloneDDS><Domain Id="any"><General><Interfaces><NetworkInterface name="lo"/></Interfaces>'
    "<AllowMulticast>false</AllowMulticast></General><Discovery>"
    "<ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>30</MaxAutoParticipantIndex>"
    '<Peers><Peer address="127.0.0.1"/></Peers></Discovery></Domain></CycloneDDS>'
)

from cyclonedds.core import Policy, Qos
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import float32, float64, int32, uint32
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration


@dataclass
class Time(IdlStruct, typename="builtin_interfaces::msg::dds_::Time_"):
    sec: int32
    nanosec: uint32


@dataclass
class Header(IdlStruct, typename="std_msgs::msg::dds_::Header_"):
    stamp: Time
    frame_id: str


@dataclass
class Drive(IdlStruct, typename="ackermann_msgs::msg::dds_::AckermannDrive_"):
    steering_angle: float32
    steering_angle_velocity: float32
    speed: float32
    acceleration: float32
    jerk: float32


@dataclass
class DriveStamped(IdlStruct, typename="ackermann_msgs::msg::dds_::AckermannDriveStamped_"):
    header: Header
    drive: Drive


@dataclass
class State(IdlStruct, typename="vesc_msgs::msg::dds_::VescState_"):
    temp_fet: float64
    temp_motor: float64
    current_motor: float64
    current_input: float64
    avg_id: float64
    avg_iq: float64
    duty_cycle: float64
    speed: float64
    voltage_input: float64
    charge_drawn: float64
    charge_regen: float64
    energy_drawn: float64
    energy_regen: float64
    displacement: int32
    distance_traveled: int32
    fault_code: int32
    pid_pos_now: float64
    controller_id: int32
    ntc_temp_mos1: float64
    ntc_temp_mos2: float64
    ntc_temp_mos3: float64
    avg_vd: float64
    avg_vq: float64


@dataclass
class StateStamped(IdlStruct, typename="vesc_msgs::msg::dds_::VescStateStamped_"):
    header: Header
    state: State


speed, steering, hz = map(float, sys.argv[1:])
participant = DomainParticipant(int(os.environ["ROS_DOMAIN_ID"]))
reliable = Qos(Policy.Reliability.Reliable(duration(seconds=1)), Policy.History.KeepLast(10))
drive = DataWriter(participant, Topic(participant, "rt/drive", DriveStamped), qos=reliable)
core = DataReader(participant, Topic(participant, "rt/sensors/core", StateStamped), qos=reliable)
print("talking", flush=True)
count, told_s, next_s = 0, time.monotonic(), time.monotonic()
while True:
    stamp = Time(*divmod(time.time_ns(), 1_000_000_000))
    drive.write(DriveStamped(Header(stamp, ""), Drive(steering, 0.0, speed, 0.0, 0.0)))
    for heard in core.take(100):
        count += 1
        newest = heard
    if count and time.monotonic() - told_s > 1.0:
        told_s = time.monotonic()
        row = {
            "count": count,
            "age_s": time.time() - newest.header.stamp.sec - newest.header.stamp.nanosec * 1e-9,
            "erpm": newest.state.speed,
            "battery_v": newest.state.voltage_input,
            "counts": newest.state.displacement,
        }
        print(json.dumps(row), flush=True)
        count = 0
    next_s = max(next_s + 1.0 / hz, time.monotonic())
    time.sleep(max(next_s - time.monotonic(), 0.0))
