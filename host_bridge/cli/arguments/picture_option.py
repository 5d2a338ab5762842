"""The option of commands that draw a picture, and the check before their work begins."""

from __future__ import annotations

from pathlib import Path

from host_bridge.core.errors import DataFileFault, UsageFault

_ENDINGS = (".png", ".svg", ".pdf")


def prepare_picture(path: Path | None, option: str) -> None:
    """Make the folder of a picture, so that no long work ends without it.

    Raises errors.UsageFault for a kind of file that is not drawn, errors.DataFileFault where it
    cannot be written.
    """
    if path is None:
        return
    if path.suffix.lower() not in _ENDINGS:
        raise UsageFault(
            f"{option}: this is no kind of picture that can be drawn",
            expected=f"a file that ends in {', '.join(_ENDINGS)}",
            got=str(path),
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        is_new = not path.exists()
        path.open("ab").close()
        if is_new:
            path.unlink()
    except OSError as error:
        raise DataFileFault.unwritable("the picture", path, error) from None
