"""The installation by `colcon build`: the lifecycle node, the `tandem` command, launch files.

Parameter files and a view for RViz are installed as well.
"""

from glob import glob

from setuptools import setup

NAME = "tandem_ros"

setup(
    name=NAME,
    version="0.2.0",
    description="A scaled car, real or virtual, as a lifecycle node",
    license="BSD-2-Clause",
    maintainer="Tandem contributors",
    maintainer_email="tandem@example.com",
    packages=[NAME],
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
        (f"share/{NAME}/launch", glob("launch/*.launch.py")),
        (f"share/{NAME}/config", glob("config/*.yaml")),
        (f"share/{NAME}/rviz", glob("rviz/*.rviz")),
    ],
    install_requires=["setuptools"],
    zip_safe=True,
    entry_points={
        "console_scripts": [
            f"car = {NAME}.car:main",
            f"tandem = {NAME}.command:main",
        ]
    },
)
