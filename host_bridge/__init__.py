"""The host's side of a car; with ``TANDEM_FAST=1`` some of it is imported as compiled code."""

import os

if os.environ.get("TANDEM_FAST", "0") not in ("", "0"):
    from contextlib import suppress
    from importlib import import_module

    with suppress(ImportError):  # nothing is compiled: whoever imports it next says so
        import_module("sim_mock")  # whose import asks for the compiled code, of both
