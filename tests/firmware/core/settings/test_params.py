"""The parameters of a car as a board stores them: what is taken, and what is refused."""

import zlib

import pytest

from firmware.core.settings.checked_params import CheckedParams
from firmware.core.settings.configuration import Configuration, draft, drafted
from firmware.core.settings.params import CHANNELS, SOURCES, TABLE
from firmware.protocol.frame import crc_table
from tests.firmware.core.desk import params_with

CRC_TABLE = crc_table()
NAME = b"car number one\0\0"
FIRST_AND_LAST = [
    (name, which, low, high) for name, _, many, low, high, _ in TABLE for which in {0, many - 1}
]


def crc_of(data: bytes) -> bytes:
    return zlib.crc32(data).to_bytes(4, "little")


def written_by(params: CheckedParams) -> bytearray:
    image = bytearray(params.image_size())
    assert params.write_image(image) == len(image)
    return image


@pytest.fixture
def car():
    """Of each number it has another one; two are negative."""
    params = params_with(speed_max_mm_s=2500, channel_low=[-5, -10_000], channel_high=[1])
    params.car_name[:] = NAME
    return params


# --- by name


def test_at_first_each_value_is_its_default():
    defaults = [value for *_, many, _low, _high, value in TABLE for _ in range(many)]
    assert CheckedParams(CRC_TABLE).values == defaults
    assert CheckedParams(CRC_TABLE).size == len(defaults)


def test_at_first_it_has_neither_name_nor_hash():
    params = CheckedParams(CRC_TABLE)
    assert (params.car_name, params.config_hash) == (bytes(16), bytes(4))
    assert written_by(params)[-20:-4] == bytes(16)


def test_each_is_found_by_its_name_where_the_table_has_it():
    params = CheckedParams(CRC_TABLE)
    params.values[:] = range(params.size)
    at = 0
    for name, _unit, many, *_ in TABLE:
        assert (params.index(name), params.get(name)) == (at, at)
        assert params.get_all(name) == list(range(at, at + many))
        at += many


# --- what may be


@pytest.mark.parametrize(("name", "which", "low", "high"), FIRST_AND_LAST)
def test_each_may_be_from_its_lowest_to_its_highest_and_no_other_is_asked(name, which, low, high):
    params = CheckedParams(CRC_TABLE)
    at = params.index(name) + which
    may = [params.is_in_range(at, value) for value in (low - 1, low, high, high + 1)]
    assert may == [False, True, True, False]
    for wrong in (low - 1, high + 1):
        params.values[at] = wrong
        assert params.first_wrong() == at


def test_of_two_that_are_wrong_the_first_is_named():
    params = params_with(rc_dead_band=301, step_us=0)
    assert params.first_wrong() == params.index("step_us")


@pytest.mark.parametrize("source", [0, 2, SOURCES - 1])
def test_no_source_drives_blind_for_longer_than_its_distance(source):
    others = [0] * source
    for lease_ms, cap_mm_s, is_too_far in ((20, 2500, False), (21, 2381, True)):  # by 1 um
        params = params_with(
            blind_mm=50,
            source_lease_ms=[*others, lease_ms],
            source_cap_mm_s=[*others, cap_mm_s],
        )
        wrong = params.index("source_cap_mm_s") + source
        assert params.first_wrong() == (wrong if is_too_far else -1)


def test_a_source_without_a_lease_drives_nothing_blind():
    assert params_with(blind_mm=10, source_cap_mm_s=30_000, source_flags=3).first_wrong() == -1


@pytest.mark.parametrize("channel", [0, 3, CHANNELS - 1])
@pytest.mark.parametrize(
    ("range_", "is_one"),
    [((5, 5, 5), True), ((-2, 0, 1), True), ((1, 0, 2), False), ((0, 2, 1), False)],
)
def test_a_channels_neutral_is_inside_its_range(channel, range_, is_one):
    names = ("channel_low", "channel_neutral", "channel_high")
    others = [0] * channel
    params = params_with(**{n: [*others, v] for n, v in zip(names, range_, strict=True)})
    wrong = params.index("channel_low") + channel
    assert params.first_wrong() == (-1 if is_one else wrong)


# --- the image


def test_the_tables_hash_is_that_of_its_text():
    text = "".join("{} {} {} {} {} {},".format(*row) for row in TABLE)
    assert bytes(CheckedParams(CRC_TABLE).table_hash) == crc_of(text.encode())


def test_an_image_is_the_tables_hash_the_values_the_name_and_a_crc_over_all(car):
    values = b"".join(value.to_bytes(4, "little", signed=True) for value in car.values)
    body = bytes(car.table_hash) + values + NAME
    for _ in range(2):  # nothing of a hash before goes into the next
        assert bytes(written_by(car)) == body + crc_of(body)
        assert bytes(car.config_hash) == crc_of(body)


def test_an_image_reads_back(car):
    read = CheckedParams(CRC_TABLE)
    assert read.read_image(written_by(car))
    assert (read.values, read.car_name) == (car.values, car.car_name)
    assert read.config_hash == car.config_hash


def refused(image: bytes) -> bool:
    """And nothing of it is kept."""
    params, as_it_was = CheckedParams(CRC_TABLE), CheckedParams(CRC_TABLE)
    is_taken = params.read_image(bytearray(image))
    assert (params.values, params.car_name) == (as_it_was.values, as_it_was.car_name)
    assert params.config_hash == as_it_was.config_hash
    return is_taken is False


def test_an_image_with_a_flipped_bit_leaves_the_defaults(car):
    image = written_by(car)
    for at in range(0, len(image), 7):
        image[at] ^= 1
        assert refused(image)
        image[at] ^= 1


def test_an_image_of_another_table_is_refused_though_it_is_whole(car):
    body = b"else" + bytes(written_by(car)[4:-4])
    assert refused(body + crc_of(body))


@pytest.mark.parametrize("wrong", [b"", b"\0"])
def test_an_image_of_another_size_is_refused_though_it_is_whole(car, wrong):
    body = bytes(written_by(car)[:-4])
    body = body + wrong if wrong else body[:-1]
    assert refused(body + crc_of(body))


def test_a_draft_has_an_images_values_in_small_pieces(car):
    held = Configuration()
    held.values = car.values
    pieces = held.open_draft()
    assert held.draft is pieces
    assert max(map(len, pieces)) <= 128, "bytes for which every heap has a place"
    whole = written_by(car)
    assert b"".join(car.image_of(pieces)) == whole
    draft(pieces, car.index("channel_low") + 1, -9_000)
    assert drafted(pieces, car.index("channel_low")) == -5
    assert car.get_all("channel_low")[:3] == [-5, -10_000, 0]
    car.swap_draft(pieces)
    assert car.get_all("channel_low")[:3] == [-5, -9_000, 0]
    car.swap_draft(pieces)
    assert written_by(car) == whole
