"""The work of ``tandem calibrate`` and ``tandem replay``, which find it by entry points."""
