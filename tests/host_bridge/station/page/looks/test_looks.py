"""How a tile and the notices look in a real Chromium: in their own room, and stale in time."""

from __future__ import annotations

import json
from contextlib import ExitStack
from itertools import pairwise

import pytest

from tests.host_bridge.cli.programs import serving
from tests.host_bridge.sharing.desk import runtime_folder
from tests.host_bridge.station.chromium import Chromium, Page
from tests.host_bridge.station.stage import PORTS, stage
from tests.support.evidence import every, some

pytestmark = [pytest.mark.browser(drives=True), pytest.mark.xdist_group("station")]
PORT = PORTS + 44
SIZES = {"laptop": (1280, 800), "short": (1024, 640), "zoomed to 200 %": (640, 400),
         "sideways": (844, 390), "wall": (1920, 1080)}  # fmt: skip
PHONES = {"upright": (390, 844), "narrow": (320, 640)}
CAR = {"name": "red", "driver": "nobody", "state": "STANDBY", "word": "PARKED", "is_locked": False}
# Where things are before and while all notices are there, in one go: the next status hides them
PLACES = """(() => {
  const places = () => ['#seat', '#focused article', '#stop', '#notices'].map((it) => {
    const box = document.querySelector(it).getBoundingClientRect();
    return [box.left, box.top, box.right, box.bottom]; });
  scrollTo(0, 0);
  const before = places();
  for (const it of document.querySelectorAll('#notices p')) {
    it.hidden = false;
    (it.firstElementChild || it).textContent = 'Red flag by Laptop: 1 of 1 car held. '.repeat(3);
  }
  return [before, places()]; })()"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("looks")
    with (
        pytest.MonkeyPatch.context() as patch,
        runtime_folder(patch),
        stage(folder, PORT, "--no-plots") as it,
    ):
        browser = Chromium()
        yield it.page(browser)
        browser.close()


def looks(page: Page, age_ms: int, **words: object) -> dict[str, object]:
    """What the page makes of a car whose newest report is so old."""
    car = json.dumps({**CAR, "age_ms": age_ms, **words})
    return page.js(f"import('/scripts/car/look.js').then((it) => it.look({car}, 0))")


@pytest.mark.parametrize("words", [{}, {"state": "NO_LINK", "last_state": "STANDBY"}])
def test_what_is_half_a_second_old_at_most_is_fresh_and_has_no_age(page, words):
    """Also of a car whose link has just ended: "0.0 s" in a stale tile says nothing."""
    for age_ms, is_, age in ((0, "fresh", ""), (500, "fresh", ""), (501, "stale", "0.5 s"),
                             (2999, "stale", "3.0 s"), (3000, "gone", "3.0 s")):  # fmt: skip
        found = looks(page, age_ms, **words)
        assert (found["is"], found["age"]) == (is_, age)
        assert found["band"] != "NO LINK"


@pytest.mark.parametrize("size", SIZES)
def test_the_age_of_a_state_is_beside_it_and_not_over_it(page, size):
    width, height = SIZES[size]
    page.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
              deviceScaleFactor=1, mobile=False)  # fmt: skip
    for word in ("PARKED", "STOPPING", "STARTING"):
        car = json.dumps({**CAR, "age_ms": 1250, "word": word, "speed_mps": 0.0, "steer_deg": 0.0})
        right, left = page.js(
            "Promise.all(['car/tile', 'car/look'].map((it) => import(`/scripts/${it}.js`)))"
            f".then(([tiles, looks]) => {{ const car = {car};"
            " const it = document.querySelector('#focused article');"
            " for (const silent of [0, -1000, 0]) tiles.fill(it, car, looks.look(car, silent),"
            " null, false, '');"
            " return [it.querySelector('.band .word text').getBoundingClientRect().right,"
            " it.querySelector('.band .age').getBoundingClientRect().left]; })"
        )
        assert 0 < right <= left, word


@pytest.mark.parametrize("view", ["drive", "wall", "marshal"])
@pytest.mark.parametrize("size", ["laptop", "sideways", "wall"])
def test_the_sign_of_a_state_lies_beside_its_word_in_every_view(page, size, view):
    width, height = SIZES[size]
    page.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
              deviceScaleFactor=1, mobile=False)  # fmt: skip
    page.js(f"document.getElementById('view-{view}').click()")
    found = page.js(
        "[...document.querySelectorAll('.band')].map((it) => [it.querySelector('.shape svg'),"
        " it.querySelector('.word text')].map((one) => one && one.getBoundingClientRect()))"
        ".filter(([sign, word]) => sign && word && sign.width && word.width)"
        ".map(([sign, word]) => [sign.right, word.left])"
    )
    page.js("document.getElementById('view-drive').click()")
    assert every(right < left for right, left in some(found)), found


@pytest.mark.parametrize("size", SIZES)
def test_notices_come_and_go_and_move_nothing_and_cover_neither_seat_nor_tile_nor_stop(page, size):
    width, height = SIZES[size]
    page.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
              deviceScaleFactor=1, mobile=False)  # fmt: skip
    (*before, _), (*after, notices) = page.js(PLACES)
    assert after == before
    left, top, right, bottom = notices
    assert 0 <= left < right <= width
    assert 0 <= top < bottom <= height
    for box in after:
        assert right <= box[0] or box[2] <= left or bottom <= box[1] or box[3] <= top


# Where the answers to a Stop begin and what is above their room, in one go: of three lines
ANSWERS = """(() => {
  const it = document.getElementById('answer'), before = [it.className, it.textContent];
  it.className = 'bad';
  it.textContent = 'NOT: 1 blue, 2 red, 3 violet, gone and 3 more' + String.fromCharCode(10)
    + '2 of 8 stopped';
  const range = document.createRange();
  range.selectNodeContents(it);
  const text = range.getBoundingClientRect(), room = it.getBoundingClientRect();
  [it.className, it.textContent] = before;
  return [text.top - room.top, room.height]; })()"""


@pytest.mark.parametrize("size", [*SIZES, *PHONES])
def test_who_does_not_stand_is_read_first_and_whole_above_stop(page, size):
    width, height = {**SIZES, **PHONES}[size]
    page.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
              deviceScaleFactor=1, mobile=False)  # fmt: skip
    above, room = page.js(ANSWERS)
    assert above >= 0
    assert room >= 36, "two lines"


# Of each car on the wall the parts that its tile does not show whole
CUT = """[...document.querySelectorAll('.others article')].map((it) => {
  const whole = it.getBoundingClientRect();
  return ['.one', '.digits', '.battery', '.link', '.profile', '.why'].filter((part) => {
    const box = it.querySelector(part).getBoundingClientRect();
    return !box.height || box.top < whole.top || box.bottom > whole.bottom
      || box.left < whole.left || box.right > whole.right + 0.5; }); })"""


@pytest.mark.parametrize("size", ["wall", "laptop"])
def test_of_six_cars_each_is_whole_on_the_wall(page, size):
    """Two rows: what is no longer below the speed stands beside it."""
    width, height = SIZES[size]
    page.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
              deviceScaleFactor=1, mobile=False)  # fmt: skip
    with ExitStack() as stack:
        for number in range(5):
            stack.enter_context(serving(f"sim://nigel?name=of{number}", f"of{number}"))
        page.until("document.querySelectorAll('article:not(.gone, .missing)').length === 6")
        page.click("#view-wall")
        page.until("document.querySelectorAll('.others article').length === 6")
        assert page.js(CUT) == [[]] * 6
        bottoms = "[...document.querySelectorAll('.others article')].map((it) => it.offsetTop)"
        assert len(set(page.js(bottoms))) == 2
        numbers = (
            "[...document.querySelectorAll('.others article')].map((it) => +it.dataset.number)"
        )
        assert page.js(numbers) == [1, 2, 3, 4, 5, 6]
    page.click("#view-drive")


# Cars that are hard to draw, on the wall, in one go: which parts of a tile lie over one another or
# are cut off by it, which names are shortened for nothing, and which tiles are under Stop
CROWD = """Promise.all(['car/tile', 'car/look'].map((it) => import(`/scripts/${it}.js`)))
  .then(([tiles, looks]) => {
  const cars = %s, others = document.getElementById('others'), before = [...others.children];
  const data = [document.body.dataset.cars, document.body.style.getPropertyValue('--count')];
  document.body.dataset.cars = String(cars.length);
  document.body.style.setProperty('--count', String(Math.min(4, cars.length)));
  others.replaceChildren(...cars.map((car, n) => tiles.tile(car, n + 1, () => {}, () => {})));
  cars.forEach((car, n) =>
    tiles.fill(others.children[n], car, looks.look(car, 0), null, false, ''));
  for (const it of others.children) tiles.fitWord(it);
  scrollTo(0, 0);
  const PARTS = ['.plate', '.what', '.one', '.dismiss', '.band .shape svg', '.band .word text',
    '.band .age', '.digits', '.unit', '.asked', '.driver', '.arc', '.steer', '.gauge .rail',
    '.scale text', '.picture', '.cell b', '.cell small', '.why'];
  const boxOf = (it) => it.getBoundingClientRect(), faults = [];
  const stop = boxOf(document.getElementById('stop'));
  const isOver = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
  cars.forEach((car, n) => {
    const tile = others.children[n], whole = boxOf(tile), name = tile.querySelector('.name');
    const isCut = (box) => box.right > whole.right + 0.5 || box.bottom > whole.bottom + 0.5
      || box.left < whole.left;
    const found = (part) => [...tile.querySelectorAll(part)].map((it) => [part, boxOf(it)]);
    const parts = PARTS.flatMap(found).filter(([, box]) => box.width && box.height);
    parts.forEach(([part, box], k) => {
      if (isCut(box)) faults.push(`${car.name}: ${part} is cut off`);
      for (const [other, its] of parts.slice(k + 1))
        if (isOver(box, its)) faults.push(`${car.name}: ${part} and ${other}`);
    });
    if (name.scrollWidth > name.clientWidth && boxOf(tile.querySelector('.what')).width > 1)
      faults.push(`${car.name}: its name is shortened`);
    if (isOver(whole, stop)) faults.push(`${car.name}: under Stop`);
  });
  others.replaceChildren(...before);
  document.body.dataset.cars = data[0];
  document.body.style.setProperty('--count', data[1]);
  return [cars.length, faults]; })"""
FRESH = {**CAR, "age_ms": 114, "speed_mps": 3.34, "steer_deg": 22.0, "battery_v": 12.2,
         "battery": "good", "battery_percent": 100, "profile": "track", "cap_mps": 2.0,
         "blind_m": 0.24, "vehicle": "f1tenth", "is_virtual": True}  # fmt: skip
GONE = {**FRESH, "is_gone": True, "gone_s": 720, "heard_at": "18:40:41"}
HARD = [
    {**FRESH, "name": "blue", "state": "ACTIVE", "word": "DRIVING", "speed_mps": -12.34},
    {**FRESH, "name": "orange", "state": "ACTIVE", "word": "DRIVING", "target_mps": 3.4},
    {**GONE, "name": "the-yellow-one-of-lab-4"},
    {**FRESH, "name": "violet", "age_ms": 2900, "word": "STOPPING", "last_state": "STOPPING"},
]


@pytest.mark.parametrize("count", [4, 8])
@pytest.mark.parametrize("size", ["wall", "laptop", "short", "sideways", "upright", "narrow"])
def test_cars_that_are_hard_to_draw_are_whole_on_the_wall(page, size, count):
    width, height = {**SIZES, **PHONES}[size]
    page.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
              deviceScaleFactor=1, mobile=False)  # fmt: skip
    page.click("#view-wall")
    cars = [{**HARD[n % 4], "name": HARD[n % 4]["name"] + "2" * (n // 4)} for n in range(count)]
    shown, faults = page.js(CROWD % json.dumps(cars))
    page.click("#view-drive")
    if size in PHONES:  # there all rows are scrolled past Stop
        faults = [it for it in faults if not it.endswith("under Stop")]
    assert (shown, faults) == (count, [])


def test_labels_of_cars_at_one_place_lie_side_by_side_and_on_the_map(page):
    boxes = page.js(
        "import('/scripts/map/paint.js').then((it) => { const taken = [];"
        " for (let n = 0; n < 8; n++) it.labelBox([300, 300], 80,"
        " { clientWidth: 600, clientHeight: 500 }, taken);"
        " return taken.map((one) => [one.top, one.left]); })"
    )
    tops = sorted(top for top, _ in boxes)
    assert len(tops) == 8
    assert min(b - a for a, b in pairwise(tops)) >= 25
    assert tops[0] >= 44
    assert tops[-1] <= 500 - 44 - 23


def test_two_labels_have_room_on_a_phones_map(page):
    first, second = page.js(
        "import('/scripts/map/paint.js').then((it) => { const taken = [];"
        " for (let n = 0; n < 2; n++) it.labelBox([150, 74], 80,"
        " { clientWidth: 290, clientHeight: 134 }, taken);"
        " return taken.map((one) => [one.top, one.left]); })"
    )
    assert abs(first[0] - second[0]) >= 25 or abs(first[1] - second[1]) >= 80
    assert every(0 <= left <= 290 - 80 and 0 <= top <= 134 - 23 for top, left in (first, second))


def test_a_label_for_which_a_map_has_no_room_covers_no_other_one(page):
    """Eight cars at one place of a phone's map, the last one with a name wider than the map."""
    drawn = page.js(
        "import('/scripts/map/paint.js').then((it) => { const taken = [];"
        " const canvas = { clientWidth: 290, clientHeight: 134 };"
        " for (const wide of [120, 120, 120, 120, 120, 120, 120, 300])"
        " it.labelBox([150, 74], wide, canvas, taken);"
        " return taken.map((one) => [one.left, one.top, one.left + one.wide, one.top + 23]); })"
    )
    assert len(drawn) >= 2
    assert every(left >= 0 and right <= 290 for left, _, right, _ in drawn)
    apart = [a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
             for n, a in enumerate(drawn) for b in drawn[n + 1:]]  # fmt: skip
    assert every(apart)


def test_what_happened_is_whole_on_an_upright_phone(page):
    width, height = PHONES["upright"]
    page.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
              deviceScaleFactor=1, mobile=False)  # fmt: skip
    page.click("#view-wall")
    page.until("document.querySelectorAll('#events li').length > 0")
    below = page.js(
        "document.getElementById('happened').getBoundingClientRect().bottom"
        " - document.querySelector('#events li:last-child').getBoundingClientRect().bottom"
    )
    page.click("#view-drive")
    assert below >= 0


# The lines of the checklist that are shortened on a laptop, in each case that one may be in
SHORTENED = """import('/scripts/checklist.js').then((it) => {
  const found = [], look = (is) => new Map([['red', { is }]]), car = %s;
  const owner = { name: 'owner', word: "this car's host program", need: 'required' };
  for (const [more, is] of [[{}, 'stale'], [{ clock_bound_ms: 123 }, 'fresh'],
    [{ has_charger: true }, 'fresh'], [{ stop_sources: [{ ...owner, is_there: false }] }, 'fresh'],
    [{ is_locked: true }, 'fresh'], [{ state: 'FAULT', is_locked: true }, 'fresh']]) {
    it.showReady([{ ...car, ...more }], look(is), false);
    for (const line of document.querySelectorAll('#ready li span'))
      if (line.scrollWidth > line.clientWidth) found.push(line.textContent);
  }
  return found; })"""


def test_no_line_of_the_checklist_is_shortened(page):
    page.call("Emulation.setDeviceMetricsOverride", width=1280, height=800,
              deviceScaleFactor=1, mobile=False)  # fmt: skip
    car = {**FRESH, "name": "red", "stop_sources": [], "driver": "nobody"}
    assert page.js(SHORTENED % json.dumps(car)) == []


# How far the map's legend of a driving pair is from its scale, to the side or upwards, in one go
LEGEND = """(() => { const it = document.getElementById('map-legend');
  const before = [...it.children], scale = document.querySelector('#map .scale');
  it.replaceChildren(...before.flatMap((row) => ['twin', 'stops within 0.04 m'].map((words) => {
    const copy = row.cloneNode(true); copy.lastElementChild.textContent = words; return copy; })));
  const [a, b] = [it, scale].map((one) => one.getBoundingClientRect());
  it.replaceChildren(...before);
  return [before.length, Math.max(a.left - b.right, b.top - a.bottom)]; })()"""


@pytest.mark.parametrize("size", ["laptop", "short", "wall"])
def test_the_maps_legend_lies_beside_its_scale(page, size):
    width, height = SIZES[size]
    page.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
              deviceScaleFactor=1, mobile=False)  # fmt: skip
    page.until("document.querySelectorAll('#map-legend svg').length > 0")
    count, apart = page.js(LEGEND)
    assert count == 1
    assert apart >= 4


# How much the ring of a pad that has the focus covers of what stands below it, in one go
RING = """(() => { const seat = document.getElementById('seat'), before = seat.dataset.step;
  const pad = document.getElementById('hold');
  seat.dataset.step = 'pad'; pad.focus({ focusVisible: true });
  const style = getComputedStyle(pad), ring = parseFloat(style.outlineWidth);
  const below = document.getElementById('legend').getBoundingClientRect().top;
  const end = pad.getBoundingClientRect().bottom + parseFloat(style.outlineOffset) + ring;
  const found = [ring, end - below];
  pad.blur(); seat.dataset.step = before;
  return found; })()"""


def test_the_ring_of_the_pad_covers_no_words(page):
    page.call("Emulation.setDeviceMetricsOverride", width=1280, height=800,
              deviceScaleFactor=1, mobile=False)  # fmt: skip
    ring, over = page.js(RING)
    assert ring == 3
    assert over <= 0


# Of a locked twin: how high its reason is, and how much of that is seen, in one go
TWINS_REASON = """Promise.all(['car/tile', 'car/look'].map((it) => import(`/scripts/${it}.js`)))
  .then(([tiles, looks]) => {
  const car = %s, it = tiles.tile(car, 1, () => {}, () => {});
  document.getElementById('twins').append(it);
  tiles.fill(it, car, looks.look(car, 0), null, false, '');
  const why = it.querySelector('.why'), found = [why.scrollHeight, why.clientHeight];
  it.remove();
  return found; })"""


def test_the_reason_of_a_locked_twin_is_whole(page):
    page.call("Emulation.setDeviceMetricsOverride", width=1280, height=800,
              deviceScaleFactor=1, mobile=False)  # fmt: skip
    why = "Stopped because the driver's seat fell silent for more than 120 ms."
    car = {**FRESH, "name": "twin", "state": "STOPPED", "word": "STOPPED", "is_locked": True}
    whole, seen = page.js(TWINS_REASON % json.dumps({**car, "why": why}))
    assert 0 < whole <= seen


# Of the car in front with a name of six letters and a full battery: what is cut or covered
PLATE = """(() => { const it = document.querySelector('#focused article');
  const name = it.querySelector('.name'), percent = it.querySelector('.battery b');
  const before = [name.textContent, percent.textContent];
  [name.textContent, percent.textContent] = ['orange', '100 %'];
  const plate = it.querySelector('.plate').getBoundingClientRect();
  const found = [name.scrollWidth - name.clientWidth,
    plate.right - percent.getBoundingClientRect().left];
  [name.textContent, percent.textContent] = before;
  return found; })()"""


def test_at_twice_the_size_a_name_is_whole_beside_the_battery(page):
    page.call("Emulation.setDeviceMetricsOverride", width=640, height=400,
              deviceScaleFactor=1, mobile=False)  # fmt: skip
    assert every(it <= 0 for it in page.js(PLATE))


def test_the_drawers_buttons_lie_beside_what_it_says(page):
    width, height = PHONES["upright"]
    page.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
              deviceScaleFactor=1, mobile=False)  # fmt: skip
    page.click("#open-drawer")
    apart = page.js(
        "document.querySelector('#facts h2').getBoundingClientRect().top"
        " - document.getElementById('close-drawer').getBoundingClientRect().bottom"
    )
    page.click("#close-drawer")
    assert apart >= 5, "the ring of the focus has room"


# Of a seat's car and twin while all is recorded: what of the record plate is cut off, in one go
RECORDED = """import('/scripts/dom.js').then((dom) => {
  const rows = ['path', 'speed', 'steering', 'yaw rate'].map((what) => (
    { what, unit: 'm', amount: 0.1, limit: 0.5, differs: false }));
  const picture = { together: [{ car: 'red', twin: 'twin', skew_ms: 0.4, differences: rows }],
    recording: { is_on: true, seconds: 134, bytes: 5e6, words: '',
                 file: '/home/somebody/drives/tandem-2026-11-28-101112.mcap' },
    cars: [], programs: [] };
  const at = dom.at, twin = document.querySelector('#focused article').cloneNode(true);
  for (const draw of dom.seen) if (/Together|Recording/.test(draw.name)) draw(picture);
  at('twins').append(twin); at('ready').hidden = false;
  at('marked').textContent = 'the gate after the long straight set';
  const place = document.querySelector('.rest').getBoundingClientRect();
  const cut = ['record', 'recorded', 'marked', 'mark-word', 'mark'].filter((id) => {
    const box = at(id).getBoundingClientRect();
    return !box.height || box.bottom > place.bottom || box.right > place.right; });
  twin.remove();
  return cut; })"""


def test_what_records_is_whole_beside_a_car_and_its_twin(page):
    page.call("Emulation.setDeviceMetricsOverride", width=1280, height=800,
              deviceScaleFactor=1, mobile=False)  # fmt: skip
    page.until("document.querySelectorAll('#ready li').length === 7")
    assert page.js(RECORDED) == []


# How far the dot of a car at its top speed, or fully steered, is beyond the pad, in one go
BEYOND = """import('/scripts/hold.js').then((it) => {
  const seat = document.getElementById('seat'), before = seat.dataset.step;
  seat.dataset.step = 'pad';
  const pad = document.getElementById('hold').getBoundingClientRect();
  const far = [[0, 1], [1, 0], [-1, -1]].map(([left, speed]) => { it.showDot(left, speed);
    const dot = document.getElementById('dot').getBoundingClientRect();
    return Math.max(pad.top - dot.top, dot.bottom - pad.bottom, pad.left - dot.left,
                    dot.right - pad.right); });
  it.showDot(0, 0); seat.dataset.step = before;
  return far; })"""


def test_the_pads_dot_is_whole_at_the_top_speed(page):
    assert every(it <= 0 for it in page.js(BEYOND))


# Whether a speed and its unit are cut off by the tile or covered by the dial, in one go
SPEED_ROOM = """Promise.all(['car/tile', 'car/look'].map((it) => import(`/scripts/${it}.js`)))
  .then(([tiles, looks]) => { const car = %s, it = document.querySelector('#focused article');
    tiles.fill(it, car, looks.look(car, 0), null, false, '');
    const unit = it.querySelector('.unit').getBoundingClientRect();
    const digits = it.querySelector('.digits').getBoundingClientRect();
    const dial = it.querySelector('.dial').getBoundingClientRect();
    const covers = dial.left < unit.right && unit.left < dial.right && dial.top < unit.bottom
      && unit.top < dial.bottom;
    const right = it.getBoundingClientRect().right;
    return [digits.right <= unit.left, unit.right <= right, covers]; })"""


@pytest.mark.parametrize("size", [(320, 640), (390, 844), (640, 400), (844, 390), (1024, 640)])
def test_a_speed_of_many_digits_has_its_unit_beside_it(page, size):
    page.call("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1],
              deviceScaleFactor=1, mobile=False)  # fmt: skip
    for speed_mps in (1.87, -12.34):
        car = {**CAR, "age_ms": 4, "speed_mps": speed_mps, "steer_deg": 0.0}
        assert page.js(SPEED_ROOM % json.dumps(car)) == [True, True, False], speed_mps


def test_the_legend_of_the_map_is_drawn_as_the_map_draws(page):
    page.until("document.querySelectorAll('#map-legend svg').length > 0")
    rows = "[...document.querySelectorAll('#map-legend > span')].map((it) => it.innerText)"
    assert page.js(rows) == ["virtual"]


# A seat with a car and its twin while all is recorded, in one go: the next status hides it
SEATED_HEAD = """(() => {
  const plate = document.querySelector('article .plate');
  const cars = document.getElementById('who-cars');
  document.body.classList.add('seated');
  document.getElementById('end').hidden = document.getElementById('recording-mark').hidden = false;
  document.querySelector('#recording-mark span').textContent = 'Recording 02:14';
  document.getElementById('who-words').textContent = 'You drive';
  cars.replaceChildren(plate.cloneNode(true), 'with', plate.cloneNode(true));
  const box = document.getElementById('end').getBoundingClientRect();
  const over = document.elementFromPoint((box.left + box.right) / 2, (box.top + box.bottom) / 2);
  const right = document.getElementById('who').getBoundingClientRect().right;
  document.body.classList.remove('seated');
  return [over && over.id, box.right <= right + 0.5]; })()"""


@pytest.mark.parametrize("size", ["laptop", "short", "wall"])
def test_a_seat_can_be_given_back_whatever_stands_beside_it(page, size):
    width, height = SIZES[size]
    page.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
              deviceScaleFactor=1, mobile=False)  # fmt: skip
    assert page.js(SEATED_HEAD) == ["end", True]


def test_of_a_locked_car_that_is_no_longer_heard_one_sentence_is_said_once(page):
    """What its link says of it is the same again."""
    car = {
        **CAR,
        "age_ms": 900,
        "is_locked": True,
        "why": "Nothing comes.",
        "last_state": "STANDBY",
    }
    said = page.js(
        "import('/scripts/car/look.js').then((it) => { const car = "
        f"{json.dumps(car)}; return it.sentence(car, it.look(car, 0), null, false); }})"
    )
    assert said == ["Nothing heard for 0.9 s.", " It may be moving."]


def test_on_a_screen_for_fingers_stop_names_no_key(page):
    small = "[...document.querySelectorAll('#stop small')].map((it) => it.textContent).join()"
    assert page.js(small) == "Esc, from anywhere"
    page.call("Emulation.setTouchEmulationEnabled", enabled=True)
    page.js("location.reload()")
    page.until("document.querySelector('#stop')?.innerText.startsWith('STOP car')")
    assert page.js(small) == ""
    page.call("Emulation.setTouchEmulationEnabled", enabled=False)
    page.js("location.reload()")
    page.until(f"{small} === 'Esc, from anywhere'")
