"""Which files of the car's program go on which board.

A board gets all of ``firmware/`` but what is listed here: of ``boards/`` and ``drivers/`` only its
port's. ``boards/contract.py`` is for the type checker, ``c_library.py`` for CPython; ``main.py``
starts the process car, and ``board_main.py`` and ``launcher.py`` are a board's own, outside of the
programs that they start.
"""

NOT_DEPLOYED = (
    "manifest.py",
    "boards/contract.py",
    "c_library.py",
    "main.py",
    "board_main.py",
    "launcher.py",
)

# Any board of metal: everything that a row of its pins module may ask for
METAL = (
    "boards/between_steps.py",
    "boards/box_board.py",
    "boards/channels.py",
    "boards/hitl.py",
    "boards/hitl_door.py",
    "boards/link.py",
    "boards/metal.py",
    "boards/parts.py",
    "boards/receiver.py",
    "boards/ring_1.py",
    "boards/rp2040_clock.py",
    "boards/signals.py",
    "boards/start.py",
    "boards/store.py",
    "boards/vesc_drive.py",
    "boards/virtual.py",
    "boards/wheels.py",
    "drivers/battery_adc.py",
    "drivers/battery_ina.py",
    "drivers/bno055.py",
    "drivers/bno08x_rvc.py",
    "drivers/crsf.py",
    "drivers/frame_window.py",
    "drivers/h_bridge.py",
    "drivers/i2c_imu.py",
    "drivers/lights.py",
    "drivers/mounting.py",
    "drivers/mpu.py",
    "drivers/pps.py",
    "drivers/pwm_pulses.py",
    "drivers/rc_channels.py",
    "drivers/rc_pulse.py",
    "drivers/sbus.py",
    "drivers/signs.py",
    "drivers/stillness.py",
    "drivers/ticks.py",
    "drivers/timed_wheel.py",
    "drivers/vesc.py",
    "drivers/vesc_check.py",
    "drivers/vesc_frame.py",
    "drivers/wheel_sensor.py",
)

# Without state machines
_COUNTED = ("drivers/polled_counter.py", "drivers/toggled_life.py", "drivers/wide_count.py")

# port: the files of boards/ and drivers/ that it needs besides __init__.py
BOARDS = (
    ("unix", ("boards/virtual.py", "boards/unix.py")),
    (
        "rp2",
        METAL
        + (
            "boards/rp2.py",
            "boards/rp2_channel.py",
            "drivers/rp2_life_signal.py",
            "drivers/rp2_pulses.py",
            "drivers/rp2_quadrature.py",
            "drivers/wide_count.py",
        ),
    ),
    ("stm32", METAL + _COUNTED + ("boards/stm32.py",)),
    ("esp32", METAL + _COUNTED + ("boards/esp32.py",)),
)
