"""Lists the files of the car's program that go on each kind of board.

A board gets all of ``firmware/`` but what is listed here, and of ``boards/`` and ``drivers/`` only
its port's files. ``core/contract.py`` is for the type checker, ``c_library.py`` for CPython;
``main.py`` starts the process car, and ``board_main.py`` and ``launcher.py`` are a board's own,
outside of the programs that they start.
"""

NOT_DEPLOYED = (
    "manifest.py",
    "core/contract.py",
    "c_library.py",
    "main.py",
    "board_main.py",
    "launcher.py",
)

# Files of boards/ and drivers/ that only some ports get; all others there go on every real board
_COUNTED = ("stm32", "esp32")  # without state machines
SOME = (
    ("boards/simulated/virtual.py", ("unix", "rp2", "stm32", "esp32")),
    ("boards/keys.py", ("unix", "rp2", "stm32", "esp32")),
    ("boards/store.py", ("unix", "rp2", "stm32", "esp32")),
    ("boards/simulated/unix.py", ("unix",)),
    ("boards/ports/rp2.py", ("rp2",)),
    ("boards/ports/rp2_channel.py", ("rp2",)),
    ("boards/ports/stm32.py", ("stm32",)),
    ("boards/ports/esp32.py", ("esp32",)),
    ("drivers/outputs/rp2_life_signal.py", ("rp2",)),
    ("drivers/outputs/rp2_pulses.py", ("rp2",)),
    ("drivers/wheels/rp2_quadrature.py", ("rp2",)),
    ("drivers/wheels/polled_counter.py", _COUNTED),
    ("drivers/outputs/toggled_life.py", _COUNTED),
)
METAL = ("rp2", "stm32", "esp32")
PORTS = ("unix",) + METAL


def is_for(file: str, port: str) -> bool:
    """Return whether a board of ``port`` gets this file of boards/ or drivers/."""
    for name, ports in SOME:
        if name == file:
            return port in ports
    return port in METAL
