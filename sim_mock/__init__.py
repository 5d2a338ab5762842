"""The virtual car; with ``TANDEM_FAST=1`` it is imported as compiled code (compiled.py)."""

import os

if os.environ.get("TANDEM_FAST", "0") not in ("", "0"):
    from sim_mock.runtime.compiled import use

    use()
