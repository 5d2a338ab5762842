"""Maps as map_server writes them: real images, read whole."""

import os
from math import pi

import numpy as np
import pytest
import yaml
from PIL import Image

from sim_mock.files.text import FileFault
from sim_mock.sensors.ray_casting import RayCaster
from sim_mock.tracks.map_file import read_map_file
from sim_mock.tracks.map_image import occupancy_of
from sim_mock.tracks.ros_map import load_grid, load_map
from tests.support.evidence import some

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
    darker = load_map(written(tmp_path, shades, occupied_thresh=0.19, free_thresh=0.1))
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
        ({"mode": "scaled"}, r"mode: .* one of trinary, scale, raw"),
        ({"resolution": 0.0}, r"resolution: .* a number from 0\.001 to 10"),
        ({"resolution": float("inf")}, "resolution: "),
        ({"resolution": "0,1"}, r"resolution: .* got \"0,1\""),
        ({"origin": [0, 0]}, r"origin: is no pose; expected \[x, y, yaw\]"),
        ({"origin": [0.0, 0.0, float("nan")]}, r"origin: is no pose; .* got \[0\.0, 0\.0, nan\]"),
        ({"origin": [0.0, 0.0, 90.0]}, "origin: is no pose"),
        ({"origin": "0"}, "origin: "),
        ({"negate": "no"}, "negate: "),
        ({"negate": 2}, "negate: .* one of 0, 1"),
        ({"occupied_thresh": 65}, r"occupied_thresh: is a share; .* are these percent\?"),
        ({"origin": [0.0, 0.0, "-nan"]}, r"origin: is no pose; .*'-nan'\]; map_saver writes nan"),
        ({"origin": [0, 0, 90]}, "origin: is no pose; .*; is its yaw in degrees"),
        ({"origin": [0, 0]}, r"origin: is no pose; .* got \[0, 0\]$"),
        ({"free_thresh": 19.6}, r"free_thresh: is a share; .* are these percent\?"),
        (
            {"occupied_thresh": 0.196, "free_thresh": 0.65},
            "free_thresh: the thresholds are swapped",
        ),
        ({"free_thresh": None}, "free_thresh: "),
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
    with pytest.raises(ValueError, match="is not YAML"):
        load_map(path)
    path = written(tmp_path, room())
    (tmp_path / "map.pgm").write_text("no image")
    with pytest.raises(ValueError, match="not an image"):
        load_map(path)


# --- from the definition of map_server: occupancy by pixel, mode, thresholds and negate


def occupancies(tmp_path, picture, **changes):
    """The occupancies of the cells of an image's only row."""
    path = written(tmp_path, [[0]], **{"image": "map.png", **changes})
    picture.save(tmp_path / yaml.safe_load(path.read_text())["image"])
    return occupancy_of(read_map_file(path))[0][-1].tolist()


def grey(*values, mode="L"):
    return Image.fromarray(np.array([values], dtype=np.uint8), "L").convert(mode)


GREYS = (0, 89, 90, 128, 204, 205, 206, 255)  # 1 - 89/255 = 0.651, 1 - 205/255 = 0.196


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({}, [100, 100, -1, -1, -1, -1, 0, 0]),
        ({"negate": 1}, [0, -1, -1, -1, 100, 100, 100, 100]),
        ({"negate": "1"}, [0, -1, -1, -1, 100, 100, 100, 100]),
        ({"negate": "0"}, [100, 100, -1, -1, -1, -1, 0, 0]),
        ({"negate": True}, [0, -1, -1, -1, 100, 100, 100, 100]),
        ({"negate": False}, [100, 100, -1, -1, -1, -1, 0, 0]),
        ({"mode": "trinary"}, [100, 100, -1, -1, -1, -1, 0, 0]),
        ({"free_thresh": 0.25}, [100, 100, -1, -1, 0, 0, 0, 0]),  # not only a saver's greys
        ({"mode": "scale"}, [100, 100, 99, 67, 1, 0, 0, 0]),
        ({"mode": "scale", "negate": 1}, [0, 34, 35, 67, 100, 100, 100, 100]),
        ({"mode": "raw"}, [0, 89, 90, -1, -1, -1, -1, -1]),
        ({"mode": "raw", "negate": 1}, [0, 89, 90, -1, -1, -1, -1, -1]),
        ({"occupied_thresh": "0.65", "resolution": "0.1"}, [100, 100, -1, -1, -1, -1, 0, 0]),
    ],
)
def test_occupancies_are_those_of_map_server(tmp_path, changes, wanted):
    assert occupancies(tmp_path, grey(*GREYS), **changes) == wanted


@pytest.mark.parametrize("image", ["map.pgm", "map.png", "map.bmp"])
def test_one_bit_and_eight_bits(tmp_path, image):
    bits = Image.fromarray(np.array([[0, 255, 255]], dtype=np.uint8), "L").convert("1")
    name = "map.pbm" if image == "map.pgm" else image
    assert occupancies(tmp_path, bits, image=name) == [100, 0, 0]
    assert occupancies(tmp_path, grey(0, 205, 254), image=image) == [100, -1, 0]


def test_sixteen_bits_are_not_clipped_to_eight(tmp_path):
    values = np.array([[0, 300, 22_900, 23_200, 40_000, 52_800, 65_535]], dtype=np.uint16)
    wanted = [100, 100, 100, -1, -1, 0, 0]
    for name in some(["map.png", "map.pgm"]):
        wide = Image.fromarray(values)
        assert occupancies(tmp_path, wide, image=name) == wanted


def test_plain_text_pgm_with_comments_and_another_maximum(tmp_path):
    path = written(tmp_path, [[0]], image="map.pgm")
    (tmp_path / "map.pgm").write_text("P2\n# made by hand\n3 1\n# of 100\n100\n0 80 100\n")
    assert occupancy_of(read_map_file(path))[0].tolist() == [[100, -1, 0]]


def test_colours_are_averaged(tmp_path):
    colours = Image.fromarray(
        np.array([[[255, 255, 255], [255, 0, 0], [255, 255, 0], [0, 0, 0]]], dtype=np.uint8), "RGB"
    )
    assert occupancies(tmp_path, colours) == [0, 100, -1, 100]
    assert occupancies(tmp_path, colours.quantize(4)) == [0, 100, -1, 100]


def test_alpha_is_averaged_in_trinary_and_unknown_in_scale(tmp_path):
    pixels = [[255, 255], [255, 254], [255, 0], [0, 255], [0, 128], [150, 255]]
    clear = Image.fromarray(np.array([pixels], dtype=np.uint8), "LA")
    assert occupancies(tmp_path, clear) == [0, 0, -1, 100, 100, -1]
    assert occupancies(tmp_path, clear, mode="scale") == [0, -1, -1, 100, -1, 48]


def test_what_a_saver_wrote_as_unknown_stays_unknown_and_is_said(tmp_path):
    """Nav2 writes free_thresh 0.25 and 205 for unknown, which is 0.196: free, when read again."""
    shades = room()
    shades[10:30, 40:50] = UNKNOWN
    area = load_map(written(tmp_path, shades, free_thresh=0.25))
    assert not area.is_free(3.5, 0.0)
    assert area.is_free(0.0, 0.0)
    assert "the grey 205" in area.notes[0]
    assert "its 200 cells stay unknown" in area.notes[0]
    assert load_map(written(tmp_path, shades)).notes == ()


def test_keys_that_map_server_does_not_read_are_said(tmp_path):
    assert "cost_scale: not read" in load_map(written(tmp_path, room(), cost_scale=1.0)).notes[0]


def test_an_image_that_is_missing_or_cut_is_named_itself(tmp_path):
    path = written(tmp_path, room())
    image = tmp_path / "map.pgm"
    image.write_bytes(image.read_bytes()[:1000])
    with pytest.raises(FileFault, match=r"map\.pgm: is not an image of a map; .*a whole image"):
        load_map(path)
    image.unlink()
    with pytest.raises(FileFault, match=r"map\.pgm: cannot be read; got No such file"):
        load_map(path)
    os.mkfifo(image)
    with pytest.raises(FileFault, match="got a named pipe"):
        load_map(path)


def test_cells_are_bounded_before_they_are_unpacked(tmp_path):
    path = written(tmp_path, [[0]], image="map.png")
    Image.new("1", (9_000, 10_000)).save(tmp_path / "map.png")  # 11 kB
    with pytest.raises(FileFault, match="at most 20000000 cells; got 9000 x 10000"):
        load_map(path)


def test_a_name_with_an_umlaut_is_read_whatever_the_locale(tmp_path, monkeypatch):
    monkeypatch.setenv("LC_ALL", "C")
    path = written(tmp_path, room())
    path.write_bytes(path.read_bytes() + "# Übungsraum\n".encode())
    assert load_map(path).is_free(0.0, 0.0)


def test_a_raw_map_is_told_apart_by_its_thresholds(tmp_path):
    path = written(tmp_path, [[0, 10, 50, 80, 100, 255]], mode="raw", image="map.png")
    grid = load_grid(path)
    assert grid.is_free.tolist() == [[True, True, False, False, False, False]]
    assert grid.is_wall.tolist() == [[False, False, False, True, True, False]]
