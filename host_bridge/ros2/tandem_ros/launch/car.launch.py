"""One car as a lifecycle node, configured and activated; nothing is armed by that.

ros2 launch tandem_ros car.launch.py car:=sim://f1tenth?track=corridor namespace:=car1
ros2 launch tandem_ros car.launch.py params:=my_car.yaml
ros2 launch tandem_ros car.launch.py rviz:=true
"""

# mypy: ignore-errors
from launch import LaunchContext, LaunchDescription
from launch.action import Action
from launch.actions import (
    DeclareLaunchArgument,
    EmitEvent,
    OpaqueFunction,
    RegisterEventHandler,
)
from launch.conditions import IfCondition
from launch.events import matches_action
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import LifecycleNode, Node
from launch_ros.event_handlers import OnStateTransition
from launch_ros.events.lifecycle import ChangeState
from launch_ros.substitutions import FindPackageShare
from lifecycle_msgs.msg import Transition

PARAMS = PathJoinSubstitution([FindPackageShare("tandem_ros"), "config", "car.yaml"])
VIEW = PathJoinSubstitution([FindPackageShare("tandem_ros"), "rviz", "car.rviz"])
PARAMETERS = {
    "car": "its URI, port or name; without it the file's",
    "vocabulary": "whose topics; without it the file's",
}


def generate_launch_description() -> LaunchDescription:
    """Return the description that `ros2 launch` runs."""
    return LaunchDescription(
        [
            DeclareLaunchArgument("params", default_value=PARAMS, description="a file of them"),
            *(
                DeclareLaunchArgument(n, default_value="", description=t)
                for n, t in PARAMETERS.items()
            ),
            DeclareLaunchArgument("namespace", default_value="", description="of all its topics"),
            DeclareLaunchArgument(
                "autostart", default_value="true", description="configure and activate it"
            ),
            DeclareLaunchArgument("rviz", default_value="false", description="show it in RViz"),
            OpaqueFunction(function=_car),
            Node(
                package="rviz2",
                executable="rviz2",
                namespace=LaunchConfiguration("namespace"),
                arguments=["-d", VIEW],
                condition=IfCondition(LaunchConfiguration("rviz")),
            ),
        ]
    )


def _car(context: LaunchContext) -> list[Action]:
    given = {name: LaunchConfiguration(name).perform(context) for name in PARAMETERS}
    car = LifecycleNode(
        package="tandem_ros",
        executable="car",
        name="tandem_lifecycle",
        namespace=LaunchConfiguration("namespace"),
        parameters=[
            LaunchConfiguration("params"),
            {name: value for name, value in given.items() if value},
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
    return [
        RegisterEventHandler(activate, condition=is_to_start),
        car,
        _to(car, Transition.TRANSITION_CONFIGURE, condition=is_to_start),
    ]


def _to(car: LifecycleNode, transition: int, **options: IfCondition) -> EmitEvent:
    event = ChangeState(lifecycle_node_matcher=matches_action(car), transition_id=transition)
    return EmitEvent(event=event, **options)
