"""Another DDS, without rclpy: SPEED STEERING HZ. Says /drive; hears /sensors/core, /odom, /scan.

The types are written here, from the fields that the messages have, and Cyclone DDS makes the wire
of them. For each second that something was heard it prints a line of JSON.

What Fast DDS (vendor 1.15) says of its types is not compared: of the elements of arrays and of
sequences, as in /odom and /scan, it says nothing of what happens to one that does not fit (0). For
DDS-XTypes that has no meaning, Cyclone takes such a description for none, and would never match.
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
    '<Peers><Peer address="127.0.0.1"/></Peers></Discovery>'
    "<Compatibility><IgnoreTypeInformation>1.15</IgnoreTypeInformation></Compatibility>"
    "</Domain></CycloneDDS>"
)

from cyclonedds.core import Policy, Qos
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import array, float32, float64, int32, sequence, uint32
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


@dataclass
class Point(IdlStruct, typename="geometry_msgs::msg::dds_::Point_"):
    x: float64
    y: float64
    z: float64


@dataclass
class Quaternion(IdlStruct, typename="geometry_msgs::msg::dds_::Quaternion_"):
    x: float64
    y: float64
    z: float64
    w: float64


@dataclass
class Pose(IdlStruct, typename="geometry_msgs::msg::dds_::Pose_"):
    position: Point
    orientation: Quaternion


@dataclass
class PoseWithCovariance(IdlStruct, typename="geometry_msgs::msg::dds_::PoseWithCovariance_"):
    pose: Pose
    covariance: array[float64, 36]


@dataclass
class Vector3(IdlStruct, typename="geometry_msgs::msg::dds_::Vector3_"):
    x: float64
    y: float64
    z: float64


@dataclass
class Twist(IdlStruct, typename="geometry_msgs::msg::dds_::Twist_"):
    linear: Vector3
    angular: Vector3


@dataclass
class TwistWithCovariance(IdlStruct, typename="geometry_msgs::msg::dds_::TwistWithCovariance_"):
    twist: Twist
    covariance: array[float64, 36]


@dataclass
class Odometry(IdlStruct, typename="nav_msgs::msg::dds_::Odometry_"):
    header: Header
    child_frame_id: str
    pose: PoseWithCovariance
    twist: TwistWithCovariance


@dataclass
class LaserScan(IdlStruct, typename="sensor_msgs::msg::dds_::LaserScan_"):
    header: Header
    angle_min: float32
    angle_max: float32
    angle_increment: float32
    time_increment: float32
    scan_time: float32
    range_min: float32
    range_max: float32
    ranges: sequence[float32]
    intensities: sequence[float32]


speed, steering, hz = map(float, sys.argv[1:])
participant = DomainParticipant(int(os.environ["ROS_DOMAIN_ID"]))
reliable = Qos(Policy.Reliability.Reliable(duration(seconds=1)), Policy.History.KeepLast(10))
drive = DataWriter(participant, Topic(participant, "rt/drive", DriveStamped), qos=reliable)
heard = {
    name: DataReader(participant, Topic(participant, f"rt/{name}", kind), qos=reliable)
    for name, kind in (("sensors/core", StateStamped), ("odom", Odometry), ("scan", LaserScan))
}
print("talking", flush=True)
counts, newest = dict.fromkeys(heard, 0), {}
told_s = next_s = time.monotonic()
while True:
    stamp = Time(*divmod(time.time_ns(), 1_000_000_000))
    drive.write(DriveStamped(Header(stamp, ""), Drive(steering, 0.0, speed, 0.0, 0.0)))
    for name, reader in heard.items():
        for message in reader.take(100):
            counts[name] += 1
            newest[name] = message
    if len(newest) == len(heard) and time.monotonic() - told_s > 1.0:
        told_s = time.monotonic()
        core, odom, scan = (newest[name] for name in heard)
        row = {
            "heard": counts,
            "age_s": time.time() - core.header.stamp.sec - core.header.stamp.nanosec * 1e-9,
            "erpm": core.state.speed,
            "battery_v": core.state.voltage_input,
            "counts": core.state.displacement,
            "frames": [odom.header.frame_id, odom.child_frame_id, scan.header.frame_id],
            "odom_mps": odom.twist.twist.linear.x,
            "covariance": list(odom.pose.covariance),
            "ranges_m": list(scan.ranges),
        }
        print(json.dumps(row), flush=True)
        counts = dict.fromkeys(heard, 0)
    next_s = max(next_s + 1.0 / hz, time.monotonic())
    time.sleep(max(next_s - time.monotonic(), 0.0))
