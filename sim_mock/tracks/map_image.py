"""The image of a map: each cell's occupancy, as ROS's map_server defines it.

Occupancy is 0 (free) to 100 (occupied) per cent, or -1 (unknown). ``p`` is how dark a pixel is,
from 0 to 1, or how bright if ``negate``.

* ``trinary``: occupied above ``occupied_thresh``, free below ``free_thresh``, else unknown. Alpha
  is averaged with the colours.
* ``scale``: the same, but what is between the thresholds is 0 to 100 between them. A pixel that is
  not opaque is unknown.
* ``raw``: the pixel's value is the occupancy; above 100 it is unknown.

Savers of trinary maps write 205 for unknown, whatever the thresholds. Nav2's own ``free_thresh`` of
0.25 would make that free when the map is read again, and with it all that is outside the walls. So
an image that has no other greys than the savers' keeps its unknown cells, and a note says so.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import NamedTuple
from warnings import catch_warnings, simplefilter

import numpy as np
import numpy.typing as npt
from PIL import Image, UnidentifiedImageError

from sim_mock.files.text import MIB, FileFault, read_bytes
from sim_mock.tracks.map_file import RAW, SCALE, TRINARY, MapFacts

Occupancy = npt.NDArray[np.int8]
Shades = npt.NDArray[np.float32]

OCCUPIED, FREE, UNKNOWN = 100, 0, -1  # as nav_msgs/OccupancyGrid has them
CELLS_MAX = 20_000_000  # a square of 220 m in cells of 5 cm
_BYTES_MAX = 128 * MIB  # of such an image with 16 bits and alpha
_FORMATS = ("PPM", "PNG", "BMP")  # those that map_server recommends; others may run programs
_SAVED_UNKNOWN = 205  # the grey that map_saver writes for it
_SAVED = {0, _SAVED_UNKNOWN, 254, 255}  # the greys that map_saver and its kin write
_WIDE = 65_535.0  # of 16 bits


class Pixels(NamedTuple):
    """Brightness and opacity of each pixel from 0 to 1, the top row first."""

    shade: Shades
    alpha: Shades | None


def occupancy_of(facts: MapFacts) -> tuple[Occupancy, tuple[str, ...]]:
    """Return each cell's occupancy, the lowest row first, and notes. Raises FileFault."""
    pixels = _read(facts.image)
    if facts.mode == RAW:
        values = np.rint(pixels.shade * np.float32(255.0))
        cells = np.where(values <= OCCUPIED, values, UNKNOWN)
        return _grid(cells), ()
    shade = pixels.shade
    if facts.mode == TRINARY and pixels.alpha is not None:
        shade = (3.0 * shade + pixels.alpha) / 4.0  # three colours and alpha, as map_server has it
    dark = shade if facts.negate else 1.0 - shade
    between = np.full(dark.shape, float(UNKNOWN))
    if facts.mode == SCALE:
        span = facts.occupied_thresh - facts.free_thresh
        between = np.rint((dark - facts.free_thresh) / span * OCCUPIED)
    cells = np.where(dark < facts.free_thresh, FREE, between)
    cells = np.where(dark > facts.occupied_thresh, OCCUPIED, cells)
    if facts.mode == SCALE and pixels.alpha is not None:
        cells = np.where(pixels.alpha < 1.0, UNKNOWN, cells)
    notes: tuple[str, ...] = ()
    if facts.mode == TRINARY:
        cells, notes = _saved_unknown(facts, pixels, cells)
    return _grid(cells), notes


def _grid(cells: npt.NDArray[np.floating]) -> Occupancy:
    return np.flipud(cells).astype(np.int8)  # an image begins at the top


def _saved_unknown(
    facts: MapFacts, pixels: Pixels, cells: npt.NDArray[np.floating]
) -> tuple[npt.NDArray[np.floating], tuple[str, ...]]:
    """Keep the cells unknown that a saver of maps wrote as such; say so if they would be free."""
    if facts.negate or pixels.alpha is not None:
        return cells, ()
    greys = np.rint(pixels.shade * np.float32(255.0)).astype(np.uint8)
    is_unknown = greys == _SAVED_UNKNOWN
    lost = is_unknown & (cells == FREE)
    if not lost.any() or not set(np.unique(greys).tolist()) <= _SAVED:
        return cells, ()
    note = (
        f"{facts.path.name}: by free_thresh {facts.free_thresh:g} the grey {_SAVED_UNKNOWN}, which "
        f"map savers write for unknown, would be free; its {int(lost.sum())} cells stay unknown"
    )
    return np.where(is_unknown, UNKNOWN, cells), (note,)


def _read(path: Path) -> Pixels:
    """Read an image of 1, 8 or 16 bits, grey or colours, with or without alpha."""
    data = read_bytes(path, _BYTES_MAX)
    try:
        with catch_warnings():
            simplefilter("ignore")  # of a large image: it is refused below, in our words
            image = Image.open(io.BytesIO(data), formats=_FORMATS)
        columns, rows = image.size
        if columns * rows > CELLS_MAX:
            raise _fault(path, f"at most {CELLS_MAX} cells", f"{columns} x {rows}")
        return _pixels(path, image)
    except FileFault:
        raise
    except UnidentifiedImageError:
        raise _fault(path, ".pgm, .png or .bmp", "something else") from None
    except (OSError, SyntaxError, EOFError, ValueError, Image.DecompressionBombError) as error:
        raise _fault(path, "a whole image", str(error)) from None
    except (MemoryError, OverflowError, IndexError, TypeError, KeyError):
        raise _fault(path, "a whole image", "one that cannot be decoded") from None


def _pixels(path: Path, image: Image.Image) -> Pixels:
    if image.mode.startswith("I"):  # of 16 bits; Pillow scales those of a .pgm to 16 bits
        wide = np.asarray(image).astype(np.float32)
        if wide.min(initial=0.0) < 0.0 or wide.max(initial=0.0) > _WIDE:
            raise _fault(path, "at most 16 bits a pixel", f"{wide.max():g}")
        return Pixels(wide / np.float32(_WIDE), None)
    has_alpha = image.mode in ("LA", "PA", "RGBA") or "transparency" in image.info
    if image.mode in ("1", "L") and not has_alpha:
        return Pixels(np.asarray(image.convert("L")).astype(np.float32) / np.float32(255.0), None)
    if image.mode not in ("1", "L", "LA", "P", "PA", "RGB", "RGBA"):
        raise _fault(path, "grey or colours", f"an image of mode {image.mode}")
    shades = np.asarray(image.convert("RGBA")).astype(np.float32) / np.float32(255.0)
    alpha: Shades | None = shades[:, :, 3] if has_alpha else None
    return Pixels(shades[:, :, :3].mean(axis=2), alpha)


def _fault(path: Path, expected: str, got: str) -> FileFault:
    return FileFault("is not an image of a map", where=str(path), expected=expected, got=got)
