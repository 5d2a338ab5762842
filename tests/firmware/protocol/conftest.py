import pytest

from firmware import c_library
from firmware.protocol import codec, frame


@pytest.fixture(params=["their own text", "counterparts in C"])
def text(request, monkeypatch):
    """Boards run the own text, CPython its library's counterparts: all is asked of both."""
    if request.param == "their own text":
        for _, counterparts in c_library.SOONER:
            for one in counterparts:
                for module in (codec, frame):
                    monkeypatch.setattr(module, one.__name__, one.__wrapped__, raising=False)
