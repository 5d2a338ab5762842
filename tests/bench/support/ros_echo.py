"""A bare rclpy echo of echo/asked to echo/answered."""

import rclpy
from ackermann_msgs.msg import AckermannDriveStamped

rclpy.init()
node = rclpy.create_node("echo")
publisher = node.create_publisher(AckermannDriveStamped, "echo/answered", 10)
node.create_subscription(AckermannDriveStamped, "echo/asked", publisher.publish, 10)
rclpy.spin(node)
