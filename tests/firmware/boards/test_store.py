"""The stored configuration survives a cut at every byte that is written."""

import binascii
import tracemalloc

import pytest

from firmware.boards.store import Store
from tests.firmware.core.settings.failing_files import FailingFiles

FIRST, SECOND, THIRD = b"first" * 20, b"second" * 17, b"third" * 20


@pytest.fixture
def paths(tmp_path):
    return str(tmp_path / "config_a.bin"), str(tmp_path / "config_b.bin")


def save(store, image):
    """In two pieces, of which the store knows nothing afterwards."""
    return store.save([bytearray(image[:7]), bytearray(image[7:])])


def loaded(store, capacity=200):
    image = bytearray(capacity)
    size = store.load_into(image)
    return bytes(image[:size])


def test_nothing_is_stored_at_first(paths):
    assert loaded(Store(paths)) == b""


def test_the_newest_is_loaded_and_the_one_before_is_kept(paths, tmp_path):
    for image in (FIRST, SECOND, THIRD, FIRST):
        assert save(Store(paths), image)
        assert loaded(Store(paths)) == image
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("saved", [(FIRST,), (FIRST, SECOND), (FIRST, SECOND, FIRST)])
def test_a_write_that_is_cut_anywhere_leaves_what_was_there(paths, saved):
    store = Store(paths)
    for image in saved:
        save(store, image)
    kept = [_bytes_of(path) for path in paths]
    save(store, THIRD)
    at = next(i for i in range(2) if _bytes_of(paths[i]) != kept[i])
    whole = _bytes_of(paths[at])
    for cut in range(len(whole)):
        _put(paths[at], whole[:cut])
        assert loaded(Store(paths)) == saved[-1]
        _put(paths[at], whole[:cut] + bytes(len(whole) - cut))  # blocks that were erased
        assert loaded(Store(paths)) in (saved[-1], THIRD)
    assert save(Store(paths), SECOND)
    assert loaded(Store(paths)) == SECOND


def test_every_flipped_bit_is_seen(paths):
    save(Store(paths), FIRST)
    whole = _bytes_of(paths[0])
    for bit in range(8 * len(whole)):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        _put(paths[0], damaged)
        assert loaded(Store(paths)) == b""


def test_an_image_of_another_program_that_is_too_long_is_none(paths):
    save(Store(paths), FIRST)
    assert loaded(Store(paths), capacity=len(FIRST) - 1) == b""


def test_no_copy_of_an_image_is_made(paths):
    """A heap that is nearly full has no hole for one, and a car that cannot save starts anew."""
    store, image, back = Store(paths), bytearray(range(256)) * 2000, bytearray(512_000)
    save(store, FIRST)
    save(store, image)
    tracemalloc.start()
    try:
        assert store.save([image])
        assert store.load_into(back) == len(image)
        assert tracemalloc.get_traced_memory()[1] < len(image) // 4
    finally:
        tracemalloc.stop()
    assert back == image


def test_the_counter_goes_on_across_its_wrap(paths):
    store = Store(paths)
    save(store, FIRST)
    whole = _bytes_of(paths[0])
    data = ((1 << 30) - 1).to_bytes(4, "little") + whole[4:-4]
    _put(paths[0], data + binascii.crc32(data).to_bytes(4, "little"))
    for image in (SECOND, THIRD):
        save(store, image)
        assert loaded(Store(paths)) == image


def test_a_folder_that_is_not_there_is_told(tmp_path):
    paths = (str(tmp_path / "no" / "a"), str(tmp_path / "no" / "b"))
    assert not save(Store(paths), FIRST)


def _bytes_of(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""


def _put(path, data):
    with open(path, "wb") as file:
        file.write(data)


FAILURES = [(error, lasts) for error in (MemoryError, OSError) for lasts in (False, True)]


def _two_saved(folder):
    return _saved(folder, (FIRST, SECOND), damaged=-1)


def _saved(folder, images, damaged):
    """Paths of a store in which ``images`` were saved, and then one of the files was damaged."""
    folder.mkdir()
    paths = str(folder / "a"), str(folder / "b")
    for image in images:
        assert save(Store(paths), image)
    if damaged >= 0:
        _put(paths[damaged], _bytes_of(paths[damaged])[:-1])
    return paths


# What was saved, and which file was damaged then
STORES = {
    "nothing": ((), -1),
    "the first file": ((SECOND,), -1),
    "both, the second one newer": ((FIRST, SECOND), -1),
    "both, the first one newer": ((SECOND, FIRST, SECOND), -1),
    "the second file alone, the first one damaged": ((FIRST, SECOND), 0),
    "the first file alone, the second one damaged": ((SECOND, FIRST), 1),
}


@pytest.mark.parametrize("saved", STORES.values(), ids=STORES)
@pytest.mark.parametrize(("error", "lasts"), FAILURES)
def test_what_a_save_says_is_what_is_there_wherever_it_fails(tmp_path, error, lasts, saved):
    said, at, calls = [], 0, 1
    while at <= calls:
        paths = _saved(tmp_path / str(at), *saved)
        before = loaded(Store(paths))
        with pytest.MonkeyPatch.context() as planted:
            files = FailingFiles(planted, error, at, lasts)
            said.append(save(Store(paths), THIRD))
        calls = calls if at else files.calls
        assert loaded(Store(paths)) == (THIRD if said[-1] else before), at
        assert save(Store(paths), FIRST), at
        assert loaded(Store(paths)) == FIRST, at
        at += 1
    assert said[0], "nothing failed"
    assert False in said[1:]
    assert len(said) > 15, "each call was tried"


def test_without_memory_for_a_file_the_older_one_stays_too(tmp_path):
    paths = _two_saved(tmp_path / "folder")
    before = [_bytes_of(path) for path in paths]
    with pytest.MonkeyPatch.context() as planted:
        planted.setattr(Store, "_put", _without_memory)
        assert not save(Store(paths), THIRD)
    assert [_bytes_of(path) for path in paths] == before


def _without_memory(*_):
    raise MemoryError("planted")
