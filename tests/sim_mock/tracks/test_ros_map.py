"""Maps as map_server writes them: real images, read whole."""

from math import pi

import numpy as np
import pytest
import yaml
from PIL import Image

from sim_mock.sensors.ray_casting import RayCaster
from sim_mock.tracks.ros_map import load_map

FREE, UNKNOWN, WALL = 254, 205, 0
FACTS = {
    "image": "map.pgm",
    "resolution": 0.1,
    "origin": [-1.0, -2.0, 0.0],
    "negate": 0,
    "occupied_thresh": 0.65,
    "free_thresh": 0.196,
}


def written(tmp_path, shades, **changes):
    """A map's .yaml beside its image; ``shades`` has the top row first, as an image."""
    facts = {**FACTS, **changes}
    Image.fromarray(np.asarray(shades, dtype=np.uint8)).save(tmp_path / facts["image"])
    path = tmp_path / "map.yaml"
    path.write_text(yaml.safe_dump(facts))
    return path


def room(rows=40, columns=60):
    """Walls all round, one cell thick."""
    shades = np.full((rows, columns), FREE)
    shades[[0, -1], :] = shades[:, [0, -1]] = WALL
    return shades


@pytest.mark.parametrize("image", ["map.pgm", "map.png"])
def test_a_room_has_its_walls_where_its_cells_begin(tmp_path, image):
    area = load_map(written(tmp_path, room(), image=image))
    ahead, left, behind, right = RayCaster(area.walls).cast(0.0, 0.0, 0.0, pi / 2, 4, 50.0)
    # 60 x 40 cells of 0.1 m from (-1, -2); the inner sides are a cell further in
    assert (ahead, left, behind, right) == pytest.approx((4.9, 1.9, 0.9, 1.9))
    assert area.is_free(0.0, 0.0)
    assert not area.is_free(4.95, 0.0)
    assert not area.is_free(9.0, 0.0)


def test_edges_in_a_row_are_one_wall(tmp_path):
    assert len(load_map(written(tmp_path, room())).walls) == 8  # four sides, in and out


def test_the_top_row_of_the_image_is_the_farthest_to_the_left(tmp_path):
    shades = room()
    shades[3, 30] = WALL  # the fourth row from above: y from 1.6 to 1.7
    area = load_map(written(tmp_path, shades))
    assert not area.is_free(2.05, 1.65)
    assert area.is_free(2.05, -1.65)


def test_an_origin_with_yaw_turns_the_map_about_it(tmp_path):
    area = load_map(written(tmp_path, room(), origin=[1.0, 2.0, pi / 2]))
    # the map's x is the world's y: 6 m along y, 4 m against x
    assert area.walls[:, [0, 2]].min() == pytest.approx(-3.0)
    assert area.walls[:, [1, 3]].max() == pytest.approx(8.0)
    assert area.is_free(-1.0, 5.0)
    assert not area.is_free(-2.95, 5.0)


def test_shades_between_the_thresholds_are_unknown_neither_wall_nor_free(tmp_path):
    shades = room()
    shades[10:30, 40:50] = UNKNOWN
    area = load_map(written(tmp_path, shades))
    assert len(area.walls) == 8
    assert not area.is_free(3.5, 0.0)
    darker = load_map(written(tmp_path, shades, occupied_thresh=0.19))
    assert len(darker.walls) == 12


def test_negate_takes_white_for_walls(tmp_path):
    area = load_map(written(tmp_path, 255 - room(), negate=1))
    assert area.is_free(0.0, 0.0)
    assert len(area.walls) == 8


def test_rays_meet_random_cells_exactly(tmp_path):
    """Against each cell's own four sides, not joined: the same distance for every ray."""
    random = np.random.RandomState(5)
    is_wall = random.random_sample((30, 30)) < 0.1
    is_wall[15, 15] = False
    shades = np.where(is_wall, WALL, FREE)
    area = load_map(written(tmp_path, np.flipud(shades), origin=[0.0, 0.0, 0.0]))
    row, column = np.nonzero(is_wall)
    x, y = column * 0.1, row * 0.1
    sides = [(x, y, x + 0.1, y), (x, y + 0.1, x + 0.1, y + 0.1), (x, y, x, y + 0.1)]
    sides.append((x + 0.1, y, x + 0.1, y + 0.1))
    each = np.concatenate([np.stack(side, axis=1) for side in sides])
    scan = (1.553, 1.547, 0.1, 2 * pi / 700, 700, 100.0)
    assert RayCaster(area.walls).cast(*scan) == pytest.approx(RayCaster(each).cast(*scan))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mode": "scale"}, "only trinary"),
        ({"resolution": 0.0}, "a resolution above 0"),
        ({"origin": [0, 0]}, "expected origin"),
    ],
)
def test_what_cannot_be_a_map_is_refused(tmp_path, changes, message):
    with pytest.raises(ValueError, match=message):
        load_map(written(tmp_path, room(), **changes))


def test_a_file_that_is_no_map_is_refused_with_what_is_missing(tmp_path):
    path = tmp_path / "map.yaml"
    path.write_text("resolution: 0.05\n")
    with pytest.raises(ValueError, match=r"map\.yaml: .*missing: image, origin, negate"):
        load_map(path)
    path.write_text("{")
    with pytest.raises(ValueError, match="no YAML"):
        load_map(path)
    path = written(tmp_path, room())
    (tmp_path / "map.pgm").write_text("no image")
    with pytest.raises(ValueError, match="not an image"):
        load_map(path)
