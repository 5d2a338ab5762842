// Hold: a finger or a key that is down, and a frame that is drawn. No timer renews it.
import { at, draw, mark, put, station } from "/scripts/dom.js";

const ZERO = 2 / 3;  // of the pad's height is forward, the rest backward
const SPRING = 9;  // steering by keys is back in the middle after 0.15 s: nine frames of 60 a second
let seat = null, isSeated = false, pointer = null, isKeyHeld = false, steer = 0, speed = 0, mustLetGo = false, lastPad = 0, padReports = 0;
let limits = null, isOnStand = false, isGuard = false, originX = 0, brake = 0, springs = false, wasHeld = false, stopAll = () => {};
const FRAME = new DataView(new ArrayBuffer(10)), STAND_FRAME = new DataView(new ArrayBuffer(12));
export const isHeld = () => isSeated && !mustLetGo && (pointer !== null || isKeyHeld || padHeld());
export const isDown = () => wasHeld || pointer !== null || isKeyHeld;
export const onStand = () => isOnStand;
export const asked = () => ({ steer, speed, limits });
export function onStop(stop) { stopAll = stop; }
export function sitDown(socket) { seat = socket; }
export function sit(yes, granted, onStand, guard) {
  isSeated = yes;
  limits = yes ? granted : null; isOnStand = yes && onStand; isGuard = yes && guard;
  document.body.classList.toggle("onstand", isOnStand);
  at("sliders").hidden = !isOnStand;
  at("slide-brake").disabled = !limits || !limits.brake_percent;
  at("hold").setAttribute("aria-disabled", String(!yes));
  sayActuators();
}
function sendFrame(held, byPad) {
  if (!seat || seat.readyState !== WebSocket.OPEN) return;
  if (held && seat.bufferedAmount > 0) return;  // what waits is old; a release is never left out
  const frame = isOnStand ? STAND_FRAME : FRAME;
  frame.setUint8(0, isOnStand ? 2 : 1); frame.setUint8(1, (held ? 1 : 0) | (byPad ? 2 : 0));
  frame.setInt16(2, Math.round(steer * 32767), true); frame.setInt16(4, Math.round(speed * 32767), true);
  frame.setUint32(6, byPad ? padReports : ++station.frames, true);
  if (isOnStand) frame.setUint16(10, Math.round(brake * 65535), true);
  seat.send(frame.buffer);
}
export function drive() {
  requestAnimationFrame(drive);
  if (!isSeated) return;
  if (springs) { steer = Math.abs(steer) <= 1 / SPRING ? 0 : steer - Math.sign(steer) / SPRING; springs = steer !== 0; showRing(); }
  const held = isHeld(), byPad = held && pointer === null && !isKeyHeld;
  if (held && !wasHeld) sendFrame(false, byPad);  // what begins now was released before
  else if (held || wasHeld || station.frames === 0) sendFrame(held, byPad);
  if (held !== wasHeld) showHold(held);
  wasHeld = held;
}
function showHold(held) { at("hold").classList.toggle("on", held); }
export function endHold(why) {
  if (pointer === null && !isKeyHeld && !wasHeld) { return; }
  station.endings.push(why);
  pointer = null; isKeyHeld = false; steer = speed = brake = 0; springs = false; mustLetGo = padHeld();
  for (const [id] of SLIDERS) at(id).value = 0;
  sayActuators();
  sendFrame(false, false);
  showHold(false);
  wasHeld = false;
}

// --- the pad: drawn full is what the car says, the thin ring is the finger

const HIGH = 300, WIDE = 300;
function layPad() {
  const it = draw("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, preserveAspectRatio: "none", "aria-hidden": "true" }), zero = HIGH * ZERO;
  it.append(draw("path", { class: "axis", d: `M${-WIDE} ${zero}H${2 * WIDE}M${WIDE / 2} ${-HIGH}V${2 * HIGH}`, "vector-effect": "non-scaling-stroke" }));
  const marks = draw("svg", { "aria-hidden": "true" });
  marks.append(draw("line", { id: "stem", x1: "50%", y1: `${ZERO * 100}%`, x2: "50%", y2: `${ZERO * 100}%` }), draw("circle", { id: "dot", r: 13, cx: "50%", cy: `${ZERO * 100}%` }), draw("circle", { id: "ring", r: 21, cx: "50%", cy: `${ZERO * 100}%` }));
  for (const part of [1, 0.5, 0]) marks.append(draw("text", { x: "100%", y: `${(1 - part) * ZERO * 100}%`, dy: part ? 14 : 18, "data-part": part }));
  at("hold").append(it, marks);
}
const percent = (part) => `${(part * 100).toFixed(1)}%`;
const across = (left) => percent((1 - left) / 2), along = (part) => percent(part >= 0 ? ZERO * (1 - part) : ZERO + (1 - ZERO) * -part);
const within = (value) => Math.max(-1, Math.min(1, value));
function showRing() { mark(at("ring"), "cx", across(steer)); mark(at("ring"), "cy", along(speed)); }
// A car's own word: its steering to the left and its speed, as parts of what the pad can ask for
export function showDot(left, part) {
  for (const [id, x, y] of [["dot", "cx", "cy"], ["stem", "x2", "y2"]]) { mark(at(id), x, across(within(left))); mark(at(id), y, along(within(part))); }
  at("hold").classList.toggle("still", Math.abs(part) < 0.005 && Math.abs(left) < 0.01);
}
export function showScale(top) { for (const it of at("hold").querySelectorAll("[data-part]")) put(it, (Number(it.dataset.part) * top).toFixed(it.dataset.part === "0" ? 0 : top < 1 ? 2 : 1)); }
let box = null;  // of the scale in the pad as the hold began: what is laid out anew above it moves no car
function place(event) {
  const x = within((event.clientX - box.left) / box.width * 2 - 1), y = (event.clientY - box.top) / box.height;
  steer = isGuard ? within(originX - x) : -x; speed = within(y <= ZERO ? 1 - y / ZERO : (ZERO - y) / (1 - ZERO));
  showRing();
}
const KEYS = { KeyW: [0, .1], ArrowUp: [0, .1], KeyS: [0, -.1], ArrowDown: [0, -.1], KeyA: [.1, 0], ArrowLeft: [.1, 0], KeyD: [-.1, 0], ArrowRight: [-.1, 0], KeyQ: [0, 0] };
function layHold(say) {
  const hold = at("hold");
  layPad();
  hold.onpointerdown = (event) => {
    if (pointer !== null) return endHold("second touch");
    if (!isSeated || !event.isPrimary) return;
    event.preventDefault(); hold.focus();
    hold.setPointerCapture(event.pointerId);
    pointer = event.pointerId; box = hold.lastElementChild.getBoundingClientRect(); springs = false; originX = within((event.clientX - box.left) / box.width * 2 - 1); place(event);  // over a program only a finger that moves steers
  };
  hold.onpointermove = (event) => { if (event.pointerId === pointer) place(event); };
  endsByPointer(hold);
  document.addEventListener("pointerdown", (event) => { if (pointer !== null && event.pointerId !== pointer) endHold("second touch"); }, true);
  hold.addEventListener("contextmenu", (event) => event.preventDefault());
  hold.onkeydown = (event) => {
    const step = KEYS[event.code];
    if (event.code === "Space") { event.preventDefault(); if (!event.repeat && isSeated) { isKeyHeld = true; speed = 0; showRing(); } }
    else if (step) {
      if (event.code.startsWith("Arrow")) event.preventDefault();
      if (!isKeyHeld) return say("Hold SPACE to drive");
      springs = event.code === "KeyQ" && steer !== 0;
      steer = within(steer + step[0]); speed = within(speed + step[1]); showRing();
    }
  };
  hold.onkeyup = (event) => {
    if (event.code === "Space" && isKeyHeld) { event.preventDefault(); endHold("release"); }
    else if (KEYS[event.code] && KEYS[event.code][0]) springs = steer !== 0;
  };
  hold.onblur = () => endHold("blur");
}
function endsByPointer(it) {
  for (const [name, why] of [["pointerup", "release"], ["pointercancel", "cancel"], ["lostpointercapture", "capture lost"]])
    it.addEventListener(name, (event) => { if (event.pointerId === pointer) endHold(why); });
}

// --- each actuator of a car on its stand: a slider that is pressed is a hold, and goes back when it ends

const SLIDERS = [
  ["slide-steer", (value) => { steer = -value; }],
  ["slide-speed", (value) => { speed = value; }],
  ["slide-brake", (value) => { brake = value; }],
];
function sayActuators() {
  if (!isOnStand) return;
  const degrees = steer * limits.steer_deg, most = speed < 0 ? limits.reverse_mps : limits.speed_mps, plus = (value) => (value < 0 ? "−" : "+") + Math.abs(value).toFixed(2);
  put(at("steer-words"), `${Math.abs(degrees).toFixed(1)}°${degrees > 0.05 ? " left" : degrees < -0.05 ? " right" : ""}, at most ${limits.steer_deg}° either way`);
  put(at("speed-words"), `${plus(speed * most)} m/s, −${limits.reverse_mps.toFixed(2)} to +${limits.speed_mps.toFixed(2)}`);
  put(at("brake-words"), `${(brake * 100).toFixed(0)} %, 0 to 100`);
}
function slide([id, set]) {
  const it = at(id);
  let isPressed = false;
  const take = () => {  // a finger whose hold is over moves nothing until it has left
    if (isPressed && pointer === null) it.value = 0;
    set(Number(it.value)); sayActuators();
  };
  it.addEventListener("pointerdown", (event) => {
    if (pointer !== null) return endHold("second touch");
    if (!isSeated || !event.isPrimary) return;
    it.focus({ preventScroll: true });  // before the hold begins: another one's blur ends it
    it.setPointerCapture(event.pointerId);
    pointer = event.pointerId; isPressed = true;
  });
  it.addEventListener("input", take);
  for (const name of ["pointerup", "pointercancel"]) it.addEventListener(name, () => { take(); isPressed = false; });
  endsByPointer(it);
  it.addEventListener("keydown", (event) => { if (event.code === "Space") { event.preventDefault(); if (!event.repeat && isSeated) isKeyHeld = true; } });
  it.addEventListener("keyup", (event) => { if (event.code === "Space" && isKeyHeld) { event.preventDefault(); endHold("release"); } });
  it.addEventListener("blur", () => endHold("blur"));
}
export function layPads(say) {
  layHold(say);
  SLIDERS.forEach(slide);
  for (const [target, name, why] of [
    [window, "blur", "blur"], [window, "pagehide", "closed"], [window, "offline", "offline"], [window, "orientationchange", "rotation"],
    [document, "freeze", "frozen"], [document, "visibilitychange", "hidden"], [window, "gamepaddisconnected", "gamepad gone"],
  ]) target.addEventListener(name, () => endHold(why));
  if (screen.orientation) screen.orientation.addEventListener("change", () => endHold("rotation"));
  window.addEventListener("pagehide", () => seat && seat.close());
}

// the browser's gamepads: LB held; they cannot show that they live, so the station drives them slowly
function padHeld() {
  const pad = isSeated && document.visibilityState === "visible" ? [...navigator.getGamepads()].find((it) => it && it.connected && it.mapping === "standard") : null;
  const held = Boolean(pad && pad.buttons[4] && pad.buttons[4].pressed);
  if (mustLetGo && !held) mustLetGo = false;
  if (!pad) return false;
  if (pad.timestamp !== lastPad) { lastPad = pad.timestamp; padReports = padReports + 1 >>> 0; }
  if (pad.buttons.some((it, n) => it.pressed && ![4, 5, 6, 7, 8, 9].includes(n)) && held) { stopAll([]); return false; }
  if (held && pointer === null && !isKeyHeld) { steer = -pad.axes[0]; speed = pad.buttons[7].value - pad.buttons[6].value; }
  return held;
}
