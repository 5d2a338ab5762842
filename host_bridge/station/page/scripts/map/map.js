// The map: one frame for a car and its twin, with trails, scans and the way that each needs to stop. It has no say in anything.
import { at, link, make, mark, put, speedText } from "/scripts/dom.js";
import { sample, shape } from "/scripts/car/shapes.js";
import { paintCar, paintFloor, paintGrid, paintLabel, paintScan, paintStopping, paintTrail, paintWhere } from "/scripts/map/paint.js";

const KEPT_MS = 20000, GONE_KEPT_MS = 60000, STEP_M = 0.03, JUMP_M = 2, MOST_PPM = 600, LEAST_PPM = 4, SCAN_OLD_MS = 1000;
const canvas = at("map").querySelector("canvas"), pen = canvas.getContext("2d");
const trails = new Map(), stops = new Map(), scans = new Map();
const view = { x: 0, y: 0, ppm: 60, follows: "", mode: "follow", layers: { trails: true, lidar: true } };
let colours = {}, themed = "", dragged = null, newest = null, floor = null;

export function colour(name) { return colours[name]; }
function readColours() {
  if (themed === document.documentElement.dataset.theme) return;
  themed = document.documentElement.dataset.theme;
  const style = getComputedStyle(document.documentElement);
  colours = Object.fromEntries(["ground", "panel", "raised", "line", "ink", "dim", "faint", "armed", "bad", "lidar", "on-car", "track", "wall", ...Array.from({ length: 8 }, (_, n) => `car-${n + 1}`)].map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}

// --- what lies under them: a track or a map, in whose frame each car began at its start

export async function layFloor() {
  const answer = await fetch("/floor"), told = answer.ok ? await answer.json() : null;
  if (told) floor = { ...told, bounds: box([...told.walls, ...Object.values(told.paths)].flat()), walls: traced(told.walls), ways: traced(Object.values(told.paths)) };
}
function traced(lines) {
  const it = new Path2D();
  for (const line of lines) line.forEach(([x, y], n) => n ? it.lineTo(x, y) : it.moveTo(x, y));
  return it;
}
function box(points) {
  let [x0, y0, x1, y1] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const [x, y] of points) { x0 = Math.min(x0, x); y0 = Math.min(y0, y); x1 = Math.max(x1, x); y1 = Math.max(y1, y); }
  return x0 <= x1 ? [[x0, y0], [x1, y1]] : [];
}

// --- where the cars are: each by its own odometry; a twin by its car's, from where both stood when they were armed

function within([x, y, yaw], frame) {
  if (!frame) return [x, y, yaw];
  const [fx, fy, turned] = frame, c = Math.cos(turned), s = Math.sin(turned);
  return [fx + c * x - s * y, fy + s * x + c * y, yaw + turned];
}
function placed(cars, pairs) {
  const start = (car) => floor ? within([-(car.behind_m || 0), 0, 0], floor.starts[car.name] || floor.starts[""]) : null;  // of the centre of gravity, as a virtual car's start=
  const frames = new Map(cars.map((car) => [car.name, start(car)]));
  for (const it of pairs) if (it.twin_frame) frames.set(it.twin, within(it.twin_frame, frames.get(it.car)));
  return cars.filter((car) => car.pose).map((car) => ({ car, frame: frames.get(car.name), at: within(car.pose, frames.get(car.name)) }));
}
function remember(marks, looks, now) {
  for (const { car, at: pose } of marks) {
    const kept = trails.get(car.name) || trails.set(car.name, []).get(car.name), last = kept.at(-1);
    const step = last ? Math.hypot(pose[0] - last[0], pose[1] - last[1]) : Infinity;
    if (step > JUMP_M) kept.length = 0;  // placed anew, as a twin whose car is gone: it did not drive there
    if (step > STEP_M) kept.push([pose[0], pose[1], now]);
    const keep = looks.get(car.name).is === "gone" ? GONE_KEPT_MS : KEPT_MS;
    while (kept.length && now - kept[0][2] > keep) kept.shift();
    if (car.is_locked && !stops.has(car.name)) stops.set(car.name, pose);
    else if (!car.is_locked) stops.delete(car.name);
  }
  const here = new Set(marks.map((it) => it.car.name));
  for (const name of trails.keys()) if (!here.has(name)) trails.delete(name);
}

// --- what is seen of it

const toScreen = ([x, y]) => [canvas.clientWidth / 2 + (x - view.x) * view.ppm, canvas.clientHeight * (view.mode === "follow" ? 0.55 : 0.5) - (y - view.y) * view.ppm];
function aim(marks) {
  if (!marks.length) return;
  if (view.mode === "follow") {
    const it = marks.find((one) => one.car.name === view.follows) || marks[0];
    [view.x, view.y] = it.at;
  } else if (view.mode === "all") {
    const points = [...marks.flatMap((it) => [it.at, ...(trails.get(it.car.name) || [])]), ...(floor ? floor.bounds : [])], xs = points.map((it) => it[0]), ys = points.map((it) => it[1]);
    const wide = Math.max(...xs) - Math.min(...xs) + 2, high = Math.max(...ys) - Math.min(...ys) + 2;
    view.x = (Math.max(...xs) + Math.min(...xs)) / 2; view.y = (Math.max(...ys) + Math.min(...ys)) / 2;
    view.ppm = Math.max(LEAST_PPM, Math.min(120, canvas.clientWidth / wide, canvas.clientHeight / high));
  }
}
function fit() {
  const dense = window.devicePixelRatio || 1, wide = Math.round(canvas.clientWidth * dense), high = Math.round(canvas.clientHeight * dense);
  if (canvas.width !== wide || canvas.height !== high) { canvas.width = wide; canvas.height = high; }
  pen.setTransform(dense, 0, 0, dense, 0, 0);
}
function paint(marks, looks, now) {
  fit();
  paintGrid(pen, canvas, view, toScreen, colours);
  if (floor) paintFloor(pen, floor, toScreen, view.ppm, colours);
  if (view.layers.lidar) for (const it of marks) {
    const scan = scans.get(it.car.name);
    if (scan && now - scan.at < SCAN_OLD_MS && looks.get(it.car.name).is === "fresh") paintScan(pen, scan.points.map((point) => toScreen(within([...point, 0], it.frame))), colours);
  }
  if (view.layers.trails) for (const { car } of marks) paintTrail(pen, (trails.get(car.name) || []).map((it) => [...toScreen(it), it[2]]), colours[`car-${hue(car)}`], car.is_virtual, now);
  for (const [name, pose] of stops) if (marks.some((it) => it.car.name === name)) paintWhere(pen, toScreen(pose), colours);
  const order = [...marks].sort((a, b) => Number(b.car.is_virtual) - Number(a.car.is_virtual));  // a twin below its car
  for (const it of order) if (looks.get(it.car.name).is === "fresh") paintStopping(pen, it, view.ppm, toScreen, colours);
  for (const it of order) paintCar(pen, it, looks.get(it.car.name), view.ppm, toScreen, colours, hue(it.car));
  const labels = [], isFollowed = (it) => it.car.name === view.follows;  // its label is drawn before there is no more room
  for (const it of [...order.filter(isFollowed), ...order.filter((it) => !isFollowed(it))]) paintLabel(pen, it, toScreen, canvas, colours, hue(it.car), text(it, looks), labels);
}
const hue = (car) => ((car.shown_number || car.number) - 1) % 8 + 1;
function text({ car }, looks) {
  const it = looks.get(car.name);
  return `${car.shown_number || car.number} ${car.name}${it.is === "gone" ? `, gone ${it.age}` : it.is === "stale" ? `, ${it.age} old` : ` ${speedText(car.speed_mps)}`}`;
}
export function showMap(cars, pairs, looks, focus) {
  readColours();
  const now = performance.now(), marks = placed(cars, pairs);
  newest = { marks, looks };
  remember(marks, looks, now);
  if (!dragged && focus) view.follows = view.chosen && cars.some((car) => car.name === view.chosen) ? view.chosen : focus;
  aim(marks);
  if (canvas.clientWidth) paint(marks, looks, now);
  const twin = pairs.find((it) => it.twin_frame), named = marks.find((it) => it.car.name === view.follows), isApart = !floor && marks.length > (twin ? 2 : 1);
  put(at("map-frame"), floor && floor.title ? `Frame of ${floor.title}` : isApart ? "Each car by its own odometry" : named ? `Frame of ${twin ? twin.car : named.car.name}` : "Nothing has a place yet");
  put(at("map-from"), isApart ? "how cars lie to one another is not measured" : named ? `place of ${named.car.name}: odometry${floor ? " from its start" : ""}, ${link(named.car.age_ms || 0)} old` : "");
  legend(marks, twin);
  scale();
}
function legend(marks, twin) {
  const drives = marks.find((it) => it.car.name === view.follows), isOnItsWay = drives && Math.abs(drives.car.speed_mps || 0) > 0.02 && drives.car.blind_m;
  const rows = [["real", marks.some((it) => !it.car.is_virtual) && "real"], ["virtual", marks.some((it) => it.car.is_virtual) && (twin ? "twin" : "virtual")], ["lidar", scans.size > 0 && "LIDAR"], ["stopping", isOnItsWay && `stops within ${drives.car.blind_m.toFixed(2)} m`]].filter(([, words]) => words);
  const it = at("map-legend"), kinds = rows.map(([kind]) => kind).join();
  it.hidden = !rows.length;
  if (it.dataset.kinds !== kinds) { it.dataset.kinds = kinds; it.replaceChildren(...rows.map(([kind]) => { const row = make("span"); row.append(sample(kind), make("span")); return row; })); }
  rows.forEach(([, words], n) => put(it.children[n].lastElementChild, words));
  if (drives) it.className = `legend car-${hue(drives.car)}`;
}
function scale() {
  const metres = [0.1, 0.25, 0.5, 1, 2, 5, 10, 20].find((it) => it * view.ppm >= 40) || 50, it = at("map").querySelector(".scale");
  it.firstElementChild.style.width = `${(metres * view.ppm).toFixed(0)}px`;
  put(it.lastElementChild, `${metres} m`);
}

// --- its tools

function zoom(times, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) {
  const before = view.ppm;
  view.ppm = Math.max(LEAST_PPM, Math.min(MOST_PPM, before * times));
  if (view.mode === "follow") return;
  view.mode = "free"; pressed();
  view.x += (x - canvas.clientWidth / 2) * (1 / before - 1 / view.ppm); view.y -= (y - canvas.clientHeight / 2) * (1 / before - 1 / view.ppm);
}
export function choose(mode) { view.mode = mode; view.chosen = ""; if (mode === "follow") view.ppm = Math.max(view.ppm, 60); pressed(); }
export { zoom };
const TOOLS = [["+", "Nearer (+)", () => zoom(1.4)], ["−", "Farther (−)", () => zoom(1 / 1.4)], ["follow", "Follow the driven car (F)", () => choose("follow")], ["all", "All cars (0)", () => choose("all")], ["layers", "Trails and scans", () => { const on = !view.layers.trails; view.layers = { trails: on, lidar: on }; pressed(); }]];
function pressed() {
  for (const it of at("map-tools").children) if (it.dataset.mode) mark(it, "aria-pressed", String(it.dataset.mode === "layers" ? view.layers.trails : it.dataset.mode === view.mode));
}
export function layMap() {
  at("map-tools").append(...TOOLS.map(([sign, words, act]) => {
    const it = make("button", "", sign.length === 1 ? sign : "");
    it.type = "button"; it.setAttribute("aria-label", words); it.onclick = act;
    if (sign.length > 1) { it.append(shape(sign)); it.dataset.mode = sign; }
    return it;
  }));
  pressed();
  canvas.addEventListener("wheel", (event) => { event.preventDefault(); zoom(event.deltaY < 0 ? 1.15 : 1 / 1.15, event.offsetX, event.offsetY); }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => { dragged = [event.clientX, event.clientY]; });
  canvas.addEventListener("pointermove", (event) => {
    if (!dragged || !event.buttons) return;
    view.mode = "free"; pressed();
    view.x -= (event.clientX - dragged[0]) / view.ppm; view.y += (event.clientY - dragged[1]) / view.ppm;
    dragged = [event.clientX, event.clientY];
  });
  for (const name of ["pointerup", "pointercancel", "pointerleave"]) canvas.addEventListener(name, () => { dragged = null; });
  canvas.addEventListener("dblclick", (event) => {
    const near = (newest?.marks || []).map((it) => [Math.hypot(...toScreen(it.at).map((v, n) => v - [event.offsetX, event.offsetY][n])), it.car.name]).sort((a, b) => a[0] - b[0])[0];
    if (near && near[0] < 60) { choose("follow"); view.chosen = near[1]; }
  });
}

// --- scans, from the plots' program: if it hangs, they are old and are not drawn

let line = null;
export function hearScans(views) {
  if (!views || line) return;
  line = new WebSocket(views.replace("http", "ws") + "scans");
  line.onmessage = (event) => { for (const [name, points] of Object.entries(JSON.parse(event.data))) scans.set(name, { at: performance.now(), points }); };
  line.onclose = () => setTimeout(() => { line = null; }, 2000);
}
