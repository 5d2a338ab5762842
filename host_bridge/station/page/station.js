// The page of tandem station. Status, stop and hold have a socket each, so that none waits for another.
// A module: what another script does cannot replace what is here.
const TOKEN = new URLSearchParams(location.hash.slice(1)).get("seat") || "";
const RETRY_MS = 500, OLD_MS = 500, BAR_SILENT_MS = 2500, BAR_EVERY_MS = 250;
import { at, address, put, stop, show as showAnswer, onAnswer, openStops } from "/stopping.js";
export { at, address, make, put, TOKEN };
export const seen = [];  // who else draws a picture
const station = window.station = { lags: [], frames: 0, endings: [] };  // for whoever measures

// --- status: the newest picture is drawn on the next frame; none waits for another

let newest = null, heardAt = 0, names = [];
const boards = new Map();  // of each car the board that this page met first: another one is another car, whatever it is called
const isAnother = (car) => Boolean(car.board && boards.has(car.name) && boards.get(car.name) !== car.board);
function watch() {
  const socket = new WebSocket(address("/status"));
  socket.onmessage = (event) => { newest = event.data; heardAt = performance.now(); };
  socket.onclose = () => setTimeout(watch, RETRY_MS);
}
function draw() {
  requestAnimationFrame(draw);
  const silent = performance.now() - heardAt;
  const line = at("line");
  const words = heardAt && silent < OLD_MS ? "live" : `nothing from the station for ${heardAt ? (silent / 1000).toFixed(1) + " s" : "as long as this page is open"}: what is shown is old`;
  if (line.textContent !== words) { line.textContent = words; line.className = words === "live" ? "" : "bad"; at("cars").classList.toggle("old", words !== "live"); }
  if (newest === null) return;
  const picture = JSON.parse(newest);
  newest = null;
  show(picture);
  for (const it of seen) it(picture);
  const then = Math.max(0, ...picture.cars.map((car) => car.heard_unix_ms || 0));
  if (then) { station.lags.push(Date.now() - then); if (station.lags.length > 2000) station.lags.shift(); }
}
const ROWS = [
  ["driver", "who drives", (c) => c.driver],
  ["speed", "speed", (c) => `${sign(c.speed_mps, 2)} m/s of ${sign(c.target_mps, 2)}`],
  ["steer", "steering", (c) => `${Math.abs(c.steer_deg).toFixed(1)}° ${c.steer_deg > 0.05 ? "left" : c.steer_deg < -0.05 ? "right" : ""}`],
  ["battery", "battery", (c) => c.battery_v === null ? "–" : `${c.battery_v.toFixed(1)} V, ${c.battery}`],
  ["link", "link", (c) => `${c.age_ms === null ? "–" : c.age_ms} ms old${c.round_trip_ms === null ? "" : `, round trip ${c.round_trip_ms} ms`}, ${lossWords(c)}`],
  ["blind", "if cut off now", (c) => c.blind_m === null ? "–" : `${c.blind_m.toFixed(2)} m more, then it stands`],
  ["stops", "may stop it", stopWords],
];
function lossWords(c) {  // of a virtual car on this machine nothing is lost on its way: what is not there was never made
  if (c.loss_percent === null) return "nothing lost yet";
  if (c.is_line_lossy) return `${c.loss_percent} % of its reports lost in 5 s`;
  return c.loss_percent ? `nothing lost; a busy machine left out ${c.loss_percent} % of its beats` : "nothing lost";
}
function stopWords(c) {  // those that it needs, those that speak, and those that nobody has to miss
  const said = (s) => `${s.word} ${s.says_stop ? "SAYS STOP" : s.is_there ? "there" : "SILENT"}`;
  const needed = c.stop_sources.filter((s) => s.need === "required"), others = c.stop_sources.filter((s) => s.need === "optional");
  const there = others.filter((s) => s.is_there || s.says_stop), away = others.filter((s) => !there.includes(s));
  return [`${needed.map(said).join(", ") || "none"} (required)`, ...there.map(said), away.length ? `not in use: ${away.map((s) => s.word).join(", ")}` : ""].filter(Boolean).join(", ");
}
const sign = (value, digits) => (value < 0 ? "−" : "+") + Math.abs(value).toFixed(digits);
function show(picture) {
  const now = picture.cars.map((car) => car.name);
  if (now.join() !== names.join()) { names = now; lay(picture.cars); }
  for (const car of picture.cars) fill(at("car-" + car.name), car);
  sayMine(picture.cars.find((car) => car.name === at("car").value));
  if (picture.views && !at("views").firstChild) frame(picture.views);
  if (picture.replayed) { put(document.querySelector("h1"), `Tandem station: a log, ${picture.replayed.at_s.toFixed(1)} of ${picture.replayed.of_s.toFixed(1)} s`); at("seat").hidden = true; at("stop").disabled = true; for (const it of document.querySelectorAll(".one")) it.hidden = true; put(at("stop"), "a log: nothing to stop"); }
}
function lay(cars) {
  for (const old of document.querySelectorAll("article")) old.remove();
  at("none").hidden = cars.length > 0;
  for (const car of cars) at("cars").append(card(car));
  if (!at("stop").disabled) put(at("stop"), cars.length === 1 ? `STOP ${cars[0].name}` : `STOP ALL ${cars.length || ""} CARS`.replace("  ", " "));
  const chosen = at("car").value;
  at("car").replaceChildren(...cars.map((car) => new Option(car.name, car.name, false, car.name === chosen)));
}
function make(name, kind, text) { const it = document.createElement(name); if (kind) it.className = kind; if (text) it.textContent = text; return it; }
function card(car) {
  const it = make("article"), head = make("header"), list = make("dl"), stop = make("button", "one", `Stop ${car.name}`);
  it.id = "car-" + car.name;
  it.setAttribute("aria-label", car.name);
  head.append(make("h2", "", `${car.name}${car.vehicle ? ", " + car.vehicle : ""}${car.is_virtual ? " (virtual)" : ""}`), make("span", "state"));
  for (const [key, words] of ROWS) { const value = make("dd"); value.dataset.key = key; list.append(make("dt", "", words), value); }
  stop.type = "button";
  stop.onclick = () => stopCars([car.name]);
  it.append(head, make("p", "why"), list, stop, make("ol"));
  it.querySelector("ol").setAttribute("aria-label", `latest events of ${car.name}, the newest first`);
  return it;
}
function fill(it, car) {
  const state = it.querySelector(".state");
  put(state, car.word); state.dataset.state = car.state; state.className = "state " + car.state;
  if (car.board && !boards.has(car.name)) boards.set(car.name, car.board);
  put(it.querySelector(".why"), isAnother(car) ? `ANOTHER CAR: this page began with ${car.name} on board ${boards.get(car.name)}, and this is board ${car.board}. ${car.why}` : car.why);
  for (const [key, , words] of ROWS) put(it.querySelector(`[data-key=${key}]`), "driver" in car ? words(car) : "–");
  const list = it.querySelector("ol"), events = car.events.slice().reverse(), text = JSON.stringify(events);
  if (list.dataset.events !== text) { list.dataset.events = text; list.replaceChildren(...events.map(eventRow)); }
}
function eventRow(event) {
  const it = make("li");
  it.append(make("time", "", event.when), make("span", "", event.text));
  return it;
}
function sayMine(car) {  // whoever drives looks at the pad
  at("another").hidden = !car || !isAnother(car);
  if (car && isAnother(car)) put(at("another"), `${car.name} on board ${car.board} is meant`);
  if (!car) return put(at("mine"), "");
  const speed = "driver" in car ? `, ${sign(car.speed_mps, 2)} m/s` : "";
  put(at("mine"), `${car.name} ${car.word}${speed}. ${car.why}`);
  at("mine").className = car.state;
}
function frame(source) {
  const it = make("iframe");
  it.src = source; it.title = "Plots, map, events and replay";
  at("views").append(it); at("views").hidden = false;
}

// --- stop: here for Esc and for each car; the big one is another site's frame (bar.js), whose process a browser
// keeps apart, so that it works while everything here hangs. If it is the frame that says nothing, the button here shows.

const OTHER = `http://${location.hostname === "localhost" ? "127.0.0.1" : "localhost"}:${location.port}`;
const bar = make("iframe");
let barAt = -Infinity;
function layBar() {
  bar.id = "bar"; bar.title = "Stop"; bar.src = OTHER + "/bar.html";
  document.body.append(bar);
  addEventListener("message", (event) => {
    if (event.source !== bar.contentWindow || event.origin !== OTHER) return;
    barAt = performance.now();
    if (event.data.isPressed) stopCars([]);  // by the page's own channel, too: what it shows is what it was answered itself
  });
}
function tellBar(what) { if (bar.contentWindow) bar.contentWindow.postMessage(what, OTHER); }
function showBar() {
  const isThere = performance.now() - barAt < BAR_SILENT_MS;
  bar.classList.toggle("there", isThere);
  document.querySelector("footer").inert = isThere;
  tellBar({ label: at("stop").textContent, isDisabled: at("stop").disabled });
}
function widen(text) { bar.classList.toggle("tall", text !== ""); }  // room for the answers of some cars; of more it scrolls
onAnswer((text, kind) => { tellBar({ text, kind }); widen(text); });
function stopCars(cars) { endHold("stop"); stop(cars); }

// --- hold: a finger or a key that is down, and a frame that is drawn. No timer renews it.

let seat = null, isSeated = false, pointer = null, isKeyHeld = false, steer = 0, speed = 0, mustLetGo = false, lastPad = 0, padReports = 0;
const FRAME = new DataView(new ArrayBuffer(10)), STAND_FRAME = new DataView(new ArrayBuffer(12));
let limits = null, brake = 0;  // how far each actuator goes, and the brake: on the stand alone
const isHeld = () => isSeated && !mustLetGo && (pointer !== null || isKeyHeld || padHeld());
function sendFrame(held, byPad) {
  if (!seat || seat.readyState !== WebSocket.OPEN) return;
  if (held && seat.bufferedAmount > 0) return;  // what waits is old; a release is never left out
  const frame = limits ? STAND_FRAME : FRAME;
  frame.setUint8(0, limits ? 2 : 1); frame.setUint8(1, (held ? 1 : 0) | (byPad ? 2 : 0));
  frame.setInt16(2, Math.round(steer * 32767), true); frame.setInt16(4, Math.round(speed * 32767), true);
  frame.setUint32(6, byPad ? padReports : ++station.frames, true);
  if (limits) frame.setUint16(10, Math.round(brake * 65535), true);
  seat.send(frame.buffer);
}
const HOLD_WORDS = "Hold here: up is forward, down backward, sideways steers.\nOr hold SPACE, and W S A D. Let go and it brakes.";
let wasHeld = false;
function drive() {
  requestAnimationFrame(drive);
  if (!isSeated) return;
  const held = isHeld(), byPad = held && pointer === null && !isKeyHeld;
  if (held && !wasHeld) sendFrame(false, byPad);  // what begins now was released before
  else if (held || wasHeld || station.frames === 0) sendFrame(held, byPad);
  if (held !== wasHeld) showHold(held);
  wasHeld = held;
}
function showHold(held) {
  at("hold").classList.toggle("on", held);
  put(at("held"), held ? "HELD: drives" : HOLD_WORDS);
}
function endHold(why) {
  if (pointer === null && !isKeyHeld && !wasHeld) { return; }
  station.endings.push(why);
  pointer = null; isKeyHeld = false; steer = speed = brake = 0; mustLetGo = padHeld();
  for (const [id] of SLIDERS) at(id).value = 0;
  sayActuators();
  sendFrame(false, false);
  showHold(false);
  wasHeld = false;
}
// each actuator of a car on its stand: a slider that is pressed is a hold, and goes back when it ends
const SLIDERS = [
  ["slide-steer", (value) => { steer = -value; }],
  ["slide-speed", (value) => { speed = value; }],
  ["slide-brake", (value) => { brake = value; }],
];
function sayActuators() {
  if (!limits) return;
  const degrees = steer * limits.steer_deg, most = speed < 0 ? limits.reverse_mps : limits.speed_mps;
  put(at("steer-words"), `${Math.abs(degrees).toFixed(1)}°${degrees > 0.05 ? " left" : degrees < -0.05 ? " right" : ""}, at most ${limits.steer_deg}° either way`);
  put(at("speed-words"), `${sign(speed * most, 2)} m/s, −${limits.reverse_mps.toFixed(2)} to +${limits.speed_mps.toFixed(2)}`);
  put(at("brake-words"), `${(brake * 100).toFixed(0)} %, 0 to 100`);
}
function slide([id, set]) {
  const it = at(id), take = () => { set(Number(it.value)); sayActuators(); };
  it.addEventListener("pointerdown", (event) => {
    if (pointer !== null) return endHold("second touch");
    if (!isSeated || !event.isPrimary) return;
    it.setPointerCapture(event.pointerId);
    pointer = event.pointerId;
  });
  it.addEventListener("input", take);
  for (const [name, why] of [["pointerup", "release"], ["pointercancel", "cancel"], ["lostpointercapture", "capture lost"]])
    it.addEventListener(name, (event) => { if (event.pointerId === pointer) endHold(why); });
  it.addEventListener("keydown", (event) => { if (event.code === "Space") { event.preventDefault(); if (!event.repeat && isSeated) isKeyHeld = true; } });
  it.addEventListener("keyup", (event) => { if (event.code === "Space" && isKeyHeld) { event.preventDefault(); endHold("release"); } });
  it.addEventListener("blur", () => endHold("blur"));
}
let box = null;  // of the pad as the hold began: what is laid out anew above it moves no car
function place(event) {
  const part = (value) => Math.max(-1, Math.min(1, value));
  const x = part((event.clientX - box.left) / box.width * 2 - 1), y = part(1 - (event.clientY - box.top) / box.height * 2);
  steer = -x; speed = y;
  at("knob").style.left = `${(x + 1) * 50}%`; at("knob").style.top = `${(1 - y) * 50}%`;
}
function seated() {
  const hold = at("hold");
  hold.onpointerdown = (event) => {
    if (pointer !== null) return endHold("second touch");
    if (!isSeated || !event.isPrimary) return;
    event.preventDefault(); hold.focus();
    hold.setPointerCapture(event.pointerId);
    pointer = event.pointerId; box = hold.getBoundingClientRect(); place(event);
  };
  hold.onpointermove = (event) => { if (event.pointerId === pointer) place(event); };
  for (const [name, why] of [["pointerup", "release"], ["pointercancel", "cancel"], ["lostpointercapture", "capture lost"]])
    hold.addEventListener(name, (event) => { if (event.pointerId === pointer) endHold(why); });
  document.addEventListener("pointerdown", (event) => { if (pointer !== null && event.pointerId !== pointer) endHold("second touch"); }, true);
  hold.addEventListener("contextmenu", (event) => event.preventDefault());
  hold.onkeydown = (event) => {
    const step = { KeyW: [0, .1], KeyS: [0, -.1], KeyA: [.1, 0], KeyD: [-.1, 0], KeyQ: [-steer, 0] }[event.code];
    if (event.code === "Space") { event.preventDefault(); if (!event.repeat && isSeated) { isKeyHeld = true; speed = 0; } }
    else if (step && isKeyHeld) { steer = Math.max(-1, Math.min(1, steer + step[0])); speed = Math.max(-1, Math.min(1, speed + step[1])); }
  };
  hold.onkeyup = (event) => { if (event.code === "Space" && isKeyHeld) { event.preventDefault(); endHold("release"); } };
  hold.onblur = () => endHold("blur");
}
for (const [target, name, why] of [
  [window, "blur", "blur"], [window, "pagehide", "closed"], [window, "offline", "offline"], [window, "orientationchange", "rotation"],
  [document, "freeze", "frozen"], [document, "visibilitychange", "hidden"], [window, "gamepaddisconnected", "gamepad gone"],
]) target.addEventListener(name, () => endHold(why));
if (screen.orientation) screen.orientation.addEventListener("change", () => endHold("rotation"));
window.addEventListener("pagehide", () => seat && seat.close());
document.addEventListener("keydown", (event) => { if (event.key === "Escape") stopCars([]); });

// the browser's gamepads: LB held; they cannot show that they live, so the station drives them slowly
function padHeld() {
  const pad = isSeated && document.visibilityState === "visible" ? [...navigator.getGamepads()].find((it) => it && it.connected && it.mapping === "standard") : null;
  const held = Boolean(pad && pad.buttons[4] && pad.buttons[4].pressed);
  if (mustLetGo && !held) mustLetGo = false;
  if (!pad) return false;
  if (pad.timestamp !== lastPad) { lastPad = pad.timestamp; padReports = padReports + 1 >>> 0; }
  if (pad.buttons.some((it, n) => it.pressed && ![4, 5, 6, 7, 8, 9].includes(n)) && held) { stopCars([]); return false; }
  if (held && pointer === null && !isKeyHeld) { steer = -pad.axes[0]; speed = pad.buttons[7].value - pad.buttons[6].value; }
  return held;
}

// --- the seat

function take() {
  const name = at("car").value;
  seat = new WebSocket(address("/hold"));
  seat.binaryType = "arraybuffer";
  const stand = at("offground").checked ? { profile: "stand", attest: "wheels-off-ground" } : {};
  seat.onopen = () => seat.send(JSON.stringify({ seat: TOKEN, car: name, board: boards.get(name) || "", ...stand }));
  seat.onmessage = (event) => hearSeat(JSON.parse(event.data));
  seat.onclose = () => { endHold("socket closed"); sit(false); if (!/refused|ended/.test(at("told").textContent)) put(at("told"), "The seat is given back."); };
}
function hearSeat(said) {
  if ("is_granted" in said) { if (said.is_granted) { limits = said.is_on_stand ? said.limits : null; sit(true); station.frames = 0; } else put(at("told"), "refused: " + said.why); }
  else if (said.is_over) { put(at("told"), "ended: " + said.why); seat.close(); }
  else { at("told").dataset.phase = said.lines[0]; put(at("told"), said.lines.slice(1).filter(Boolean).join("\n")); }
}
function sit(yes) {
  isSeated = yes;
  document.body.classList.toggle("seated", yes);
  if (!yes) limits = null;
  at("offground").disabled = yes;
  at("sliders").hidden = !limits;
  at("slide-brake").disabled = !limits || !limits.brake_percent;
  sayActuators();
  at("told").dataset.phase = "";
  at("take").disabled = yes; at("car").disabled = yes; at("arm").disabled = !yes; at("end").disabled = !yes;
  at("hold").setAttribute("aria-disabled", String(!yes));
  put(at("held"), yes ? HOLD_WORDS : "take the seat first");
}
const order = (what) => seat && seat.readyState === WebSocket.OPEN && seat.send(JSON.stringify({ do: what }));

at("stop").onclick = () => stopCars([]);
at("take").onclick = take;
at("another").onclick = () => boards.delete(at("car").value);  // a person says so: the next picture is of the car that is meant
at("arm").onclick = () => order("arm");
at("end").onclick = () => order("end");
at("seat").hidden = !TOKEN;
SLIDERS.forEach(slide);
seated(); watch(); openStops(); layBar(); setInterval(showBar, BAR_EVERY_MS);
requestAnimationFrame(draw); requestAnimationFrame(drive);
