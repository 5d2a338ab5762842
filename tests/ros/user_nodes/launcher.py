"""Runs a launch file with the real launch and launch_ros: FILE [NAME:=VALUE...]."""

import sys

from launch import LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource

file, *words = sys.argv[1:]
service = LaunchService()
given = [tuple(word.split(":=", 1)) for word in words]
source = PythonLaunchDescriptionSource(file)
service.include_launch_description(IncludeLaunchDescription(source, launch_arguments=given))
print("talking", flush=True)
sys.exit(service.run())
