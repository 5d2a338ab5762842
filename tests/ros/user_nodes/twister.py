"""A publisher of Twist, or with ``_stamped`` of TwistStamped: TOPIC SPEED YAW_RATE HZ."""

import sys
import time

import rclpy
from geometry_msgs.msg import Twist, TwistStamped

topic, speed, yaw_rate, hz, *how = sys.argv[1:]
rclpy.init()
node = rclpy.create_node("twister")
publisher = node.create_publisher(TwistStamped if how else Twist, topic, 10)
print("talking", flush=True)
while True:
    message = TwistStamped() if how else Twist()
    if how:
        message.header.stamp = node.get_clock().now().to_msg()
    twist = message.twist if how else message
    twist.linear.x, twist.angular.z = float(speed), float(yaw_rate)
    publisher.publish(message)
    time.sleep(1 / float(hz))
