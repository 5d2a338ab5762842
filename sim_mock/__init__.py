"""The virtual car. It is compiled where that was asked for (sim_mock/compiled.py)."""

import os

if os.environ.get("TANDEM_FAST"):
    from sim_mock.compiled import use

    use()
