"""A map's cells, by what the rays of all scans went through and where they ended."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from host_bridge.logs.new_file import open_new, write_new
from host_bridge.mapping.planar import Floats, moved
from host_bridge.mapping.scan_points import KeyScan, LidarMount

_MARGIN_M = 0.5  # around the outermost returns
_WALL_PART, _WALL_SCANS = 0.3, 2  # a wall's cell ended rays in so many scans of those that saw it
_CELLS_MAX = 64_000_000  # 400 m by 400 m at 0.05 m; 64 MB a count
# As ROS's map_saver writes them
OCCUPIED, FREE, UNKNOWN = 0, 254, 205
_YAML = """\
image: {image}
mode: trinary
resolution: {resolution_m:g}
origin: [{x_m:.4f}, {y_m:.4f}, 0]
negate: 0
occupied_thresh: 0.65
free_thresh: 0.196
"""


@dataclass(frozen=True)
class OccupancyMap:
    """Greys of cells as ROS's map_saver has them, the lowest row first; ``corner_m`` is its outer
    corner, x and y."""

    cells: npt.NDArray[np.uint8]
    resolution_m: float
    corner_m: Floats


def occupancy_map(
    scans: list[KeyScan], poses: Floats, mount: LidarMount, resolution_m: float
) -> OccupancyMap:
    """Return the map of scans that were taken at these poses of the point that the car turns about.

    Raises ValueError for more cells than fit in memory, with the size.
    """
    ends = [moved(scan.points_m, pose) for scan, pose in zip(scans, poses, strict=True)]
    everything = np.concatenate((*ends, poses[:, :2]))
    corner = np.floor((everything.min(axis=0) - _MARGIN_M) / resolution_m) * resolution_m
    size = np.ceil((everything.max(axis=0) + _MARGIN_M - corner) / resolution_m).astype(int)
    columns, rows = int(size[0]), int(size[1])
    if rows * columns > _CELLS_MAX:
        raise ValueError(f"{columns} by {rows} cells of {resolution_m:g} m are too many")
    grid = _EvidenceGrid(rows, columns, resolution_m, corner)
    hits, looks = (np.zeros(rows * columns, dtype=np.uint16) for _ in range(2))
    for scan_ends, pose in zip(ends, poses, strict=True):
        lidar = moved(np.array([[mount.ahead_m, 0.0]]), pose)[0]
        ended = np.unique(grid.index_of(scan_ends))
        passed = np.unique(grid.index_of(_along(lidar, scan_ends, resolution_m)))
        hits[ended] += 1
        looks[np.union1d(ended, passed)] += 1
    is_wall = (hits >= _WALL_SCANS) & (hits >= _WALL_PART * looks)
    cells = np.full(rows * columns, UNKNOWN, dtype=np.uint8)
    cells[looks > 0] = FREE
    cells[is_wall] = OCCUPIED
    return OccupancyMap(cells.reshape(rows, columns), resolution_m, corner)


def image_of(path: Path) -> Path:
    """Return the path of the image that goes with a map's .yaml."""
    return path.with_suffix(".pgm")


def write_map(path: Path, occupancy: OccupancyMap) -> Path:
    """Write ``path``, a map's .yaml, and its image beside it; return the image's path.

    Raises errors.DataFileFault, also if one of them exists.
    """
    image = image_of(path)
    x_m, y_m = occupancy.corner_m
    with open_new(image, "the map's image") as stream:
        Image.fromarray(occupancy.cells[::-1]).save(stream, format="PPM")  # writes greys as PGM
    text = _YAML.format(image=image.name, resolution_m=occupancy.resolution_m, x_m=x_m, y_m=y_m)
    write_new(path, "the map", text)
    return image


@dataclass(frozen=True)
class _EvidenceGrid:
    rows: int
    columns: int
    resolution_m: float
    corner_m: Floats

    def index_of(self, points_m: Floats) -> npt.NDArray[np.int64]:
        cell = np.floor((points_m - self.corner_m) / self.resolution_m).astype(np.int64)
        return cell[:, 1] * self.columns + cell[:, 0]


def _along(start_m: Floats, ends_m: Floats, resolution_m: float) -> Floats:
    """Return points on the rays, half a cell apart, up to a cell before their ends."""
    rays = ends_m - start_m
    lengths = np.hypot(rays[:, 0], rays[:, 1])
    counts = np.maximum(np.ceil((lengths - resolution_m) / (resolution_m / 2)).astype(int), 1)
    ray = np.repeat(np.arange(len(rays)), counts)
    step = np.arange(len(ray)) - np.repeat(np.cumsum(counts) - counts, counts)
    share = step * (resolution_m / 2) / np.maximum(lengths, resolution_m)[ray]
    return np.asarray(start_m + np.minimum(share, 1.0)[:, None] * rays[ray])
