"""The same measurement in a process of its own that uses machine code."""

import json
import os
import subprocess
import sys
from typing import Any

from sim_mock.runtime import compiled


def with_machine_code(module: str, *words: str) -> Any:
    """What ``python -m module words`` prints as JSON; None where nothing can be compiled."""
    build = subprocess.run([sys.executable, "-m", "sim_mock.runtime.compiled"], check=False)
    if build.returncode:
        return None
    environment = {**os.environ, compiled.ASKED: "1"}
    command = [sys.executable, "-m", module, *words]
    done = subprocess.run(command, check=True, capture_output=True, env=environment)
    return json.loads(done.stdout)
