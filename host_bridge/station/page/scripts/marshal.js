// The marshal's view: does the line of Stop work, who hears it, who does not, and is the screen kept on.
import { at, link, mark, put, seen } from "/scripts/dom.js";
import { reshape } from "/scripts/car/shapes.js";
import { named, onProbe, probe } from "/scripts/stop/stopping.js";
import { setIdle, setSmall } from "/scripts/stop/stop_bar.js";

const EVERY_MS = 1000, BROKEN_MS = 2000, HEARD_MS = 1000, DRAWN_MS = 250;
const MAY = { drive: "may drive", watch: "watches and stops", stop: "stops alone" };
const isUpright = matchMedia("(orientation: portrait) and (max-width: 1023px)");
// On an upright phone the wall is a marshal's: there is room for one list of cars
const isMarshal = () => document.body.dataset.view === "marshal" || document.body.dataset.view === "wall" && isUpright.matches;
export function layRows() { document.body.classList.toggle("rows", isMarshal()); draw(); }  // at once: nothing moves later
isUpright.addEventListener("change", layRows);
let number = 0, sentAt = 0, heardAt = -Infinity, tripMs = null, role = "", picture = null, pictureAt = 0, since = 0, toldAt = 0;

onProbe((said) => {
  if (said.probe !== number) return;
  heardAt = performance.now(); tripMs = heardAt - sentAt; role = said.role;
});
setInterval(() => {
  if (!isMarshal()) { since = 0; return; }
  const now = performance.now();
  since = since || now;
  sentAt = now; probe(++number);
}, EVERY_MS);
function hears(car, silentMs) { return !car.is_gone && car.age_ms !== null && car.age_ms + silentMs <= HEARD_MS; }
function draw() {
  const isOn = isMarshal() && picture && !picture.replayed;
  at("marshal").hidden = !isOn;
  if (!isOn) { setSmall(); setIdle(""); return; }
  const now = performance.now(), isWorking = now - heardAt < BROKEN_MS, isNew = since === 0 || now - since < BROKEN_MS;
  const heard = isWorking ? picture.cars.filter((car) => hears(car, now - pictureAt)) : [];
  const away = picture.cars.filter((car) => !heard.includes(car));
  at("marshal").classList.toggle("bad", !isWorking && !isNew);
  reshape(at("stop-line").firstElementChild, isWorking ? "yes" : isNew ? "yet" : "no");
  put(at("stop-line").lastElementChild, isWorking ? "Stop line works" : isNew ? "Asking the stop line" : "NO STOP LINE. Use the runstop");
  put(at("stop-trip"), isWorking ? `${link(tripMs)}, ${MAY[role] || ""}` : "");
  setSmall(picture.cars.length ? `${heard.length} of ${picture.cars.length} hear you` : "no car is served");
  setIdle(away.length && !isNew ? `Not reachable: ${named(away.map((car) => `${car.number} ${car.name}`))}. Go to ${away.length > 1 ? "them" : "it"}.` : "");
  if (!isWorking && !isNew && now - toldAt > BROKEN_MS) { toldAt = now; if (navigator.vibrate && navigator.userActivation?.hasBeenActive) navigator.vibrate([200, 100, 200]); }
}
seen.push((it) => { picture = it; pictureAt = performance.now(); });
setInterval(draw, DRAWN_MS);

// --- a screen that goes dark stops nobody: it is kept on while this view is seen, where the browser lets it

let lock = null, isRefused = !("wakeLock" in navigator);
async function keepAwake() {
  if (isMarshal() && document.visibilityState === "visible" && !lock && !isRefused) {
    try { lock = await navigator.wakeLock.request("screen"); lock.onrelease = () => { lock = null; }; } catch { isRefused = true; }
  }
  if (!isMarshal() && lock) { lock.release(); lock = null; }
  reshape(at("awake").firstElementChild, lock ? "eye" : "asleep");
  put(at("awake").lastElementChild, lock ? "Screen stays on" : "Screen may go dark");
  mark(at("awake"), "aria-label", at("awake").lastElementChild.textContent);
}
setInterval(keepAwake, EVERY_MS);
