// The page of tandem station. Status, stop and hold have a socket each, so that none waits for another.
// A module: what another script does cannot replace what is here.
import { TOKEN, address, ago, at, make, put, seen, station } from "/scripts/dom.js";
import { bars, reshape, shape } from "/scripts/car/shapes.js";
import { look, ageMs } from "/scripts/car/look.js";
import { fill, fitWord, number, tile } from "/scripts/car/tile.js";
import { drive, layPads, onStop } from "/scripts/hold.js";
import { choice, firstBoard, isAnother, laySeat, meet, mine, offer, showSeat, sits, unlock } from "/scripts/seat.js";
import { hearStops, layBar, nameStop, noStop, openStops, showTruth, stopCars } from "/scripts/stop/stop_bar.js";
import { showReady } from "/scripts/checklist.js";
import { showEvents } from "/scripts/events.js";
import { choose, hearScans, layFloor, layMap, showMap, zoom } from "/scripts/map/map.js";
import { fillFacts, layFacts, openDrawer, openFacts } from "/scripts/drawer/drawer.js";
import { layFlag } from "/scripts/flag.js";
import { layViews, openLogs, showViews } from "/scripts/views.js";
import "/scripts/theme.js";
import { lettersAct } from "/scripts/drawer/switches.js";
import { mark } from "/scripts/work.js";
import "/scripts/drawer/parameters.js";
import "/scripts/distances.js";
import { layRows } from "/scripts/marshal.js";

const RETRY_MS = 500, OLD_MS = 500, AGAIN_MS = 100, SPOKEN_MS = 1000;

// --- status: the newest one is drawn on the next frame; none waits for another

let newest = null, shown = null, heardAt = 0, drawnAt = 0, names = "", view = TOKEN ? "drive" : "wall", spokenAt = 0;
const dismissed = new Map();  // cars that are gone, which somebody took off this page
function watch() {
  const socket = new WebSocket(address("/status"));
  socket.onmessage = (event) => { newest = event.data; heardAt = performance.now(); };
  socket.onclose = () => setTimeout(watch, RETRY_MS);
}
function draw() {
  requestAnimationFrame(draw);
  const now = performance.now(), silent = now - heardAt;
  sayLine(silent);
  if (newest !== null) {
    const picture = JSON.parse(newest);
    newest = null; shown = picture; drawnAt = now;
    show(picture, 0);
    for (const it of seen) it(picture);
    const then = Math.max(0, ...picture.cars.map((car) => car.heard_unix_ms || 0));
    if (then) { station.lags.push(Date.now() - then); if (station.lags.length > 2000) station.lags.shift(); }
  } else if (shown && silent > OLD_MS && now - drawnAt > AGAIN_MS) { drawnAt = now; show(shown, silent); }  // it grows old by itself
}
function sayLine(silent) {
  const isSilent = !heardAt || silent > OLD_MS;
  at("line").hidden = !isSilent || performance.now() < 3000 && !heardAt;
  if (isSilent) put(at("line"), `This page hears nothing from the station${heardAt ? `, for ${(silent / 1000).toFixed(0)} s` : ""}. Esc still asks every car to stop.`);
}
function present(picture) {
  const cars = picture.cars.filter((car) => !(car.is_gone && dismissed.get(car.name) === car.board));
  for (const name of dismissed.keys()) if (picture.cars.some((car) => car.name === name && !car.is_gone)) dismissed.delete(name);
  return cars;
}
function show(picture, silent) {
  const cars = present(picture), byName = new Map(cars.map((car) => [car.name, car])), pairs = picture.together || [];
  const looks = new Map(cars.map((car) => [car.name, look(car, silent)]));
  const set = focusOf(cars, pairs, picture.seat);
  if (view === "drive") for (const name of set.slice(1)) if (byName.has(name)) byName.get(name).shown_number = byName.get(set[0]).number;
  lay(cars, set);
  for (const car of cars) {
    meet(car);
    const why = isAnother(car) ? `ANOTHER CAR: this page began with ${car.name} on board ${firstBoard(car.name)}, and this is board ${car.board}. ${car.why || ""}` : "";
    if (fill(at("car-" + car.name), car, looks.get(car.name), picture.seat, sits() && mine().includes(car.name), why)) speak(at("car-" + car.name).getAttribute("aria-label"));
    if (silent === 0) fillFacts(car);
  }
  showSeat(picture, looks, byName);
  showReady(set.map((name) => byName.get(name)).filter(Boolean), looks, Boolean(picture.replayed));
  showTruth(cars, looks);
  hearStops(cars, looks, sits() || view === "marshal");
  showEvents(cars);
  showMap(cars, pairs, looks, set[0]);
  showNote(byName.get(set[0]), looks);
  showHead(picture, cars, looks, silent);
  if (picture.replayed) showReplay(picture.replayed);
  showViews(picture);
  hearScans(picture.views);
}
// The cars in front: those of the seat, else those that are chosen for it, else a pair that is driven together
function focusOf(cars, pairs, seat) {
  const there = (list) => list.filter((name) => cars.some((car) => car.name === name));
  const sets = [sits() ? mine() : [], seat ? seat.cars : [], choice().length > 1 ? choice() : [], pairs.filter((it) => !choice().length || it.car === choice()[0] || !TOKEN).flatMap((it) => [it.car, it.twin]), choice(), cars.slice(0, 1).map((car) => car.name)];
  return there(sets.find((it) => there(it).length) || []);
}
function lay(cars, set) {
  const text = cars.map((car) => `${car.name}${car.number}${car.is_virtual}${car.vehicle}${Boolean(car.is_gone)}`).join();
  if (text !== names) {
    names = text;
    for (const old of document.querySelectorAll("article")) if (!cars.some((car) => "car-" + car.name === old.id) || old.dataset.of !== kind(cars, old.id)) old.remove();
    for (const car of cars) if (!at("car-" + car.name)) { const it = tile(car, car.number, stopCars, () => dismissed.set(car.name, car.board)); it.dataset.of = kind(cars, it.id); at("others").append(it); }
    offer(cars.filter((car) => !car.is_gone)); nameStop(cars); layFacts(cars);
    at("none").hidden = cars.length > 0;
    document.body.dataset.cars = String(cars.length); document.body.style.setProperty("--count", String(Math.min(cars.length, 4) || 1));
  }
  for (const car of cars) {
    const it = at("car-" + car.name), place = view === "wall" || view === "marshal" ? "others" : car.name === set[0] ? "focused" : set.includes(car.name) ? "twins" : "others";
    number(it, car, place === "twins" && car.shown_number || car.number);
    if (it.parentElement.id !== place) { at(place).append(it); fitWord(it); }
  }
  const others = [...at("others").children], sorted = [...others].sort((a, b) => a.dataset.number - b.dataset.number);
  if (sorted.some((it, n) => it !== others[n])) at("others").append(...sorted);
}
function kind(cars, id) { const car = cars.find((it) => "car-" + it.name === id); return car ? `${car.number} ${car.vehicle} ${car.is_virtual}` : ""; }
function showNote(car, looks) {
  const it = at("stopped-note"), shows = view === "drive" && car && car.is_locked && "driver" in car && looks.get(car.name).is === "fresh" && car.state !== "STOPPING";
  it.hidden = !shows;
  if (!shows) return;
  put(it.children[0], car.state === "FAULT" ? "Fault" : "Stopped and locked"); put(it.children[1], car.why);
  put(it.children[2], car.stop_age_s === null || car.stop_age_s === undefined ? "" : `${car.stop_age_s < 100 ? `${Math.round(car.stop_age_s)} s` : ago(car.stop_age_s)} ago.`);
}
function showHead(picture, cars, looks, silent) {
  put(at("clock"), new Date().toTimeString().slice(0, 8));
  const recording = picture.recording && picture.recording.is_on;
  at("recording-mark").hidden = !recording;
  if (recording) put(at("recording-mark").lastElementChild, `Recording ${String(Math.floor(picture.recording.seconds / 60)).padStart(2, "0")}:${String(Math.floor(picture.recording.seconds % 60)).padStart(2, "0")}`);
  const ages = cars.filter((car) => !car.is_gone).map((car) => ageMs(car, silent)).filter((it) => it !== null), worst = ages.length ? Math.max(...ages) : null;
  const count = worst === null ? 0 : [30, 80, 200, 500].filter((limit) => worst < limit).length + 1, key = `${count}`;
  if (at("link-line").dataset.key !== key) { at("link-line").dataset.key = key; at("link-line").replaceChildren(bars(count, worst === null || worst > OLD_MS), make("b")); }
  put(at("link-line").lastElementChild, worst === null ? "–" : worst < 1000 ? `${worst.toFixed(0)} ms` : `${(worst / 1000).toFixed(1)} s`);
  if (view === "wall" && !picture.seat && !picture.replayed) put(at("who-words"), summary(cars, looks));
}
function summary(cars, looks) {
  const of = (test) => cars.filter((car) => test(looks.get(car.name))).length, gone = of((it) => it.is === "gone"), drive = of((it) => it.band === "DRIVING"), fault = of((it) => it.band === "FAULT");
  const parts = [[gone, "is gone", "are gone"], [fault, "has a fault", "have a fault"], [drive, "drives", "drive"], [cars.length - gone - drive - fault, "stands", "stand"]];
  return `${cars.length} ${cars.length === 1 ? "car" : "cars"}: ${parts.filter(([n]) => n).map(([n, one, more]) => `${n} ${n === 1 ? one : more}`).join(", ")}`;
}
function showReplay({ at_s, of_s }) {
  put(document.querySelector("h1"), `tandem: a log, ${at_s.toFixed(1)} of ${of_s.toFixed(1)} s`);
  at("seat").hidden = true;
  noStop();
  for (const it of document.querySelectorAll(".one")) it.hidden = true;
}
function speak(text) {  // a change of state, at most one a second
  if (performance.now() - spokenAt < SPOKEN_MS) return;
  spokenAt = performance.now();
  put(at("spoken"), text);
}

// --- views and keys

function go(to) {
  const was = view;
  view = to;
  document.body.dataset.view = to;
  layRows();
  for (const name of ["drive", "wall", "marshal", "logs"]) at("view-" + name).toggleAttribute("aria-current", false);
  at("view-" + to).setAttribute("aria-current", "page");
  if (to === "wall") choose("all");
  else if (was === "wall") choose("follow");
  if (shown) show(shown, performance.now() - heardAt);
  for (const it of document.querySelectorAll("article")) fitWord(it);
}
at("view-drive").onclick = () => go("drive");
at("view-wall").onclick = () => go("wall");
at("view-marshal").onclick = () => go("marshal");
at("view-logs").onclick = () => { go("logs"); openLogs(); };
const LETTERS = { p: () => openDrawer(), u: unlock, m: mark, f: () => choose("follow"), 0: () => choose("all"), "+": () => zoom(1.4), "-": () => zoom(1 / 1.4) };
document.addEventListener("keydown", (event) => {
  const isField = event.target.closest("input, select, textarea");
  if (isField || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (!lettersAct()) return;
  const act = LETTERS[event.key.toLowerCase()];
  if (act) act();
  else if (/^[1-8]$/.test(event.key)) openFacts(shown && shown.cars.find((car) => car.number === Number(event.key)));
});
addEventListener("resize", () => { for (const it of document.querySelectorAll("article")) fitWord(it); });
at("open-drawer").append(shape("gear"));
reshape(at("seat-shape"), "PARKED");
let sayTimer = 0;
function say(text) { put(at("told"), text); clearTimeout(sayTimer); sayTimer = setTimeout(() => { if (at("told").textContent === text) put(at("told"), ""); }, 2000); }
onStop(stopCars);
layPads(say); laySeat(); layMap(); layFloor(); watch(); openStops(); layBar(); layFlag(); layViews(stopCars); go(view);
requestAnimationFrame(draw); requestAnimationFrame(drive);
