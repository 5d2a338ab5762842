"""The virtual car; it is imported as compiled code if ``TANDEM_FAST`` is set (compiled.py)."""

import os

if os.environ.get("TANDEM_FAST"):
    from sim_mock.runtime.compiled import use

    use()
