"""Which files of the car's program go on which board.

``boards/contract.py`` is for the type checker; ``boards/virtual.py`` and ``unix.py`` are the
process car's. Everything else is every board's.
"""

NOT_DEPLOYED = ("manifest.py", "boards/contract.py")

# board: the files of boards/ and drivers/ that it needs besides __init__.py
BOARDS = (("unix", ("boards/virtual.py", "boards/unix.py")),)
