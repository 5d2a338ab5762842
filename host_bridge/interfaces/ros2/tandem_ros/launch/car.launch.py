"""One car as a lifecycle node, configured and activated; nothing is armed by that.

ros2 launch tandem_ros car.launch.py car:=sim://f1tenth?track=corridor namespace:=car1
"""

# mypy: ignore-errors
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, EmitEvent, RegisterEventHandler
from launch.conditions import IfCondition
from launch.events import matches_action
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import LifecycleNode
from launch_ros.event_handlers import OnStateTransition
from launch_ros.events.lifecycle import ChangeState
from launch_ros.substitutions import FindPackageShare
from lifecycle_msgs.msg import Transition

ARGUMENTS = (
    ("car", "sim://f1tenth?track=corridor", "its URI, port or name"),
    ("vocabulary", "f1tenth", "whose topics"),
    ("namespace", "", "of all its topics"),
    ("autostart", "true", "configure and activate it; nothing is armed by that"),
)


def generate_launch_description() -> LaunchDescription:
    """What `ros2 launch` runs."""
    params = PathJoinSubstitution([FindPackageShare("tandem_ros"), "config", "car.yaml"])
    car = LifecycleNode(
        package="tandem_ros",
        executable="car",
        name="tandem_lifecycle",
        namespace=LaunchConfiguration("namespace"),
        parameters=[
            LaunchConfiguration("params"),
            {name: LaunchConfiguration(name) for name in ("car", "vocabulary")},
        ],
        output="screen",
    )
    is_to_start = IfCondition(LaunchConfiguration("autostart"))
    activate = OnStateTransition(
        target_lifecycle_node=car,
        start_state="configuring",
        goal_state="inactive",
        entities=[_to(car, Transition.TRANSITION_ACTIVATE)],
    )
    return LaunchDescription(
        [
            DeclareLaunchArgument("params", default_value=params, description="a file of them"),
            *(DeclareLaunchArgument(n, default_value=d, description=t) for n, d, t in ARGUMENTS),
            RegisterEventHandler(activate, condition=is_to_start),
            car,
            _to(car, Transition.TRANSITION_CONFIGURE, condition=is_to_start),
        ]
    )


def _to(car: LifecycleNode, transition: int, **options: IfCondition) -> EmitEvent:
    event = ChangeState(lifecycle_node_matcher=matches_action(car), transition_id=transition)
    return EmitEvent(event=event, **options)
