"""Two virtual cars under the names car1 and car2, each with its own lifecycle.

ros2 launch tandem_ros two_cars.launch.py
"""

# mypy: ignore-errors
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import PathJoinSubstitution
from launch_ros.substitutions import FindPackageShare

CARS = {
    "car1": "sim://f1tenth?track=corridor&name=car1",
    "car2": "sim://f1tenth?track=corridor&name=car2&start=3,0,0",
}


def generate_launch_description() -> LaunchDescription:
    """Return the description that `ros2 launch` runs."""
    file = PathJoinSubstitution([FindPackageShare("tandem_ros"), "launch", "car.launch.py"])
    return LaunchDescription(
        [
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(file),
                launch_arguments={"namespace": name, "car": uri}.items(),
            )
            for name, uri in CARS.items()
        ]
    )
