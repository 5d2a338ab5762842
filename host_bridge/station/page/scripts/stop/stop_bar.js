// Stop on the page: for Esc and for each car; the big one is another site's frame (bar.js), whose process a browser keeps
// apart, so that it works while everything here hangs. If it is the frame that says nothing, the button here shows.
import { at, make } from "/scripts/dom.js";
import { answer, answered, isAsked, named, onAnswer, openStops, show, stop } from "/scripts/stop/stopping.js";
import { endHold } from "/scripts/hold.js";
import { label } from "/scripts/stop/label.js";
import { remind, signalStopped } from "/scripts/stop/signals.js";
import { theme } from "/scripts/theme.js";

const BAR_SILENT_MS = 2500, BAR_EVERY_MS = 250, STANDS_MPS = 0.02;
const OTHER = `http://${location.hostname === "localhost" ? "127.0.0.1" : "localhost"}:${location.port}`;
const KEY = matchMedia("(pointer: coarse)").matches ? "" : "Esc, from anywhere";  // a phone has no keys
const bar = make("iframe");
let barAt = -Infinity, words = "STOP ALL", small = KEY, isRecorded = false;
export function layBar() {
  bar.id = "bar"; bar.title = "Stop"; bar.src = OTHER + "/bar.html";
  document.body.append(bar);
  addEventListener("message", (event) => {
    if (event.source !== bar.contentWindow || event.origin !== OTHER) return;
    barAt = performance.now();
    if (event.data.isPressed) stopCars([]);  // by the page's own channel, too: what it shows is what it was answered itself
  });
  setInterval(showBar, BAR_EVERY_MS);
}
function tellBar(what) { if (bar.contentWindow) bar.contentWindow.postMessage(what, OTHER); }
const kind = () => innerWidth >= 1600 && innerHeight >= 900 ? "wall" : innerWidth >= 1024 && innerHeight >= 620 ? "laptop" : innerWidth > innerHeight ? "sideways" : "upright";
const isBarThere = () => performance.now() - barAt < BAR_SILENT_MS && !isRecorded;
function showBar() {
  const isThere = isBarThere();
  bar.classList.toggle("there", isThere);
  document.querySelector("footer").inert = isThere;
  tellBar({ label: words, small, isDisabled: at("stop").disabled, theme: theme(), size: kind(), high: at("stop").offsetHeight, ...(truth || {}) });
}
onAnswer((text, kind) => tellBar({ text, kind }));
export function stopCars(cars) { endHold("stop"); stop(cars); }
at("stop").onpointerdown = (event) => { event.preventDefault(); stopCars([]); };
at("stop").onclick = (event) => { if (event.detail === 0) stopCars([]); };
document.addEventListener("keydown", (event) => { if (event.key === "Escape") stopCars([]); });
// Where the bar is there, its button is Stop, and the one here is inert
at("skip").onclick = () => { if (isBarThere()) { bar.focus(); tellBar({ isFocused: true }); } else at("stop").focus(); };

// --- what the button is called, and whether it is true

export function nameStop(cars) {
  const live = cars.filter((car) => !car.is_gone);
  words = live.length === 1 ? `STOP ${live[0].name}` : `STOP ALL ${live.length || ""}`.trim();
  label(at("stop"), words, small);
}
export function setSmall(text = KEY) {  // how else than by the button, or who hears it
  small = text;
  label(at("stop"), words, small);
}
// What a marshal has to know where the answers stand, while no stop is asked for
let idle = "";
export function setIdle(text) {
  if (text === idle || isAsked() && truth && truth.text) return;
  if (at("answer").textContent === idle) answer(text, text ? "bad" : "");
  idle = text;
}
export function noStop() {  // of a log nothing moves
  isRecorded = true;
  at("stop").disabled = true; at("recorded-only").hidden = false;
}
let lastMs = 0, truth = null;
// Stopped is the car's own word: a stop is latched and its wheels stand. The line follows that, whoever was asked.
export function showTruth(cars, looks) {
  const call = answered();
  if (!call) { truth = null; return; }
  const meant = cars.filter((car) => !call.cars.length || call.cars.includes(car.name));
  if (!meant.length) return;
  if (call.done) {  // it was true once, and stands there until a car is armed again
    if (truth && meant.some((car) => car.is_armed)) { truth = { text: "", kind: "" }; answer("", ""); }
    return;
  }
  const isStopped = (car) => looks.get(car.name).is === "fresh" && car.is_locked && Math.abs(car.speed_mps) <= STANDS_MPS;
  const still = meant.filter(isStopped), not = meant.filter((car) => !isStopped(car));
  if (!not.length) { call.done = true; lastMs = performance.now() - call.begun; signalStopped(); }
  else remind();
  const lines = not.length ? [`NOT: ${named(not.map((car) => `${car.shown_number || car.number} ${car.name}${looks.get(car.name).is === "gone" ? ", gone" : ""}`))}`] : [];
  const count = `${still.length} of ${meant.length} stopped`;
  if (still.length) lines.push(not.length ? count : `${count}${meant.length > 1 ? ", the last" : ""} after ${(lastMs / 1000).toFixed(2)}\u00a0s`);
  const text = lines.join("\n");
  if (truth && text === truth.text) return;
  truth = { text, kind: not.length ? "bad" : "good" };
  answer(text, truth.kind);
}
// A stop that nobody asked for here is heard, too, where a person drives or marshals.
const wasLocked = new Map();
export function hearStops(cars, looks, isListening) {
  for (const car of cars) {
    if (looks.get(car.name).is !== "fresh") continue;
    const isNew = car.is_locked && wasLocked.get(car.name) === false, isMeant = isAsked() && !answered()?.done;
    wasLocked.set(car.name, Boolean(car.is_locked));
    if (isNew && isListening && !isMeant) signalStopped();
  }
}
export { openStops, show };
