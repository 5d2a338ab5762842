// The seat: a car and its twins, taken, unlocked, armed and driven by this page. The next step has one place: the pad's.
import { TOKEN, address, at, countdown, make, put, station } from "/scripts/dom.js";
import { reshape } from "/scripts/car/shapes.js";
import { asked, endHold, isDown, onStand, showDot, showScale, sit as sitAtPad, sitDown } from "/scripts/hold.js";
import { plate } from "/scripts/car/tile.js";
import { ask } from "/scripts/work.js";

let seat = null, isSeated = false, cars = [], step = "", asking = null, askedAt = 0;
const UNANSWERED_MS = 30000;  // as the station has it
const boards = new Map();  // of each car the board that this page met first: another one is another car, whatever it is called
export const isAnother = (car) => Boolean(car.board && boards.has(car.name) && boards.get(car.name) !== car.board);
export const firstBoard = (name) => boards.get(name);
export function meet(car) { if (car.board && !boards.has(car.name)) boards.set(car.name, car.board); }
export const mine = () => cars;
export const sits = () => isSeated;
const chosen = () => at("car").value;
const twins = () => [...at("twin-choice").querySelectorAll("input:checked")].map((it) => it.value);
const program = () => at("offground").checked ? "" : at("program").value;  // on the stand only sliders drive
export const choice = () => chosen() ? [chosen(), ...twins()] : [];
function kept(name, value) { try { return value === undefined ? localStorage.getItem(name) : localStorage.setItem(name, value); } catch { return null; } }
const myName = () => at("my-name").value.trim() || at("my-name").placeholder;

function take(wanted) {
  if (seat && seat.readyState < WebSocket.CLOSING) return;  // a second press of an impatient finger is no second seat
  cars = wanted;
  kept("name", at("my-name").value.trim());
  seat = new WebSocket(address("/hold"));
  seat.binaryType = "arraybuffer";
  sitDown(seat);
  const stand = at("offground").checked ? { profile: "stand", attest: "wheels-off-ground" } : {};
  const known = Object.fromEntries(cars.map((name) => [name, boards.get(name) || ""]));
  seat.onopen = () => seat.send(JSON.stringify({ seat: TOKEN, car: cars[0], with: cars.slice(1), boards: known, by: myName(), program: program(), ...stand }));
  seat.onmessage = (event) => hear(JSON.parse(event.data));
  seat.onclose = () => { endHold("socket closed"); sit(false); if (!/refused|ended/.test(at("told").textContent)) put(at("told"), "The seat is given back."); };
}
// Ask for a seat that another page has: its cars, once they are given. It never changes hands armed.
function askFor(holder) {
  const socket = new WebSocket(address("/hold"));
  asking = { socket, cars: holder.cars, isHeard: false };
  askedAt = performance.now();
  socket.onopen = () => socket.send(JSON.stringify({ seat: TOKEN, ask: true, by: myName() }));
  socket.onmessage = (event) => { const said = JSON.parse(event.data); if (said.is_asked && asking) asking.isHeard = true; else if (said.why) put(at("told"), "refused: " + said.why); };
  socket.onclose = () => { if (asking && asking.socket === socket) asking = null; };
}
function answered(holder) {  // what became of it, by what every page sees
  if (!asking || !asking.isHeard) return;
  if (holder && holder.asked_by) return;
  const wanted = asking.cars;
  asking.socket.close(); asking = null;
  if (holder) return put(at("told"), `${holder.by} keeps the seat.`);
  take(wanted);
}
function hear(said) {
  if ("is_granted" in said) { if (said.is_granted) { station.frames = 0; sit(true, said); } else put(at("told"), "refused: " + said.why); }
  else if (said.is_over) { put(at("told"), "ended: " + said.why); seat.close(); }
  else {
    const [phase, notice, progress, limits] = said.lines;
    at("told").dataset.phase = phase;
    put(at("laps"), progress); put(at("told"), [notice, progress ? "" : limits].filter(Boolean).join("\n"));
  }
}
function sit(yes, said) {
  isSeated = yes;
  document.body.classList.toggle("seated", yes);
  sitAtPad(yes, said && said.limits, Boolean(said && said.is_on_stand), Boolean(program()));
  for (const it of at("choose").querySelectorAll("input, select")) it.disabled = yes;
  at("end").hidden = !yes;
  at("told").dataset.phase = ""; put(at("laps"), "");
  if (!yes) cars = [];
}
const order = (what) => seat && seat.readyState === WebSocket.OPEN && seat.send(JSON.stringify({ do: what }));
const number = (count, name, verb) => count === 1 ? `${verb} ${name}` : count === 2 ? `${verb} both cars` : `${verb} ${count} cars`;

// --- what the pad's place shows

function next(set, looks, holder) {
  if (!TOKEN) return { step: "watch", band: "PARKED", head: holder ? `${holder.by} has the seat` : "You watch", sub: "To drive, open the address that the station printed." };
  if (!isSeated) {
    if (holder) return taken(holder);
    return { step: "take", band: "PARKED", head: "Nobody drives", sub: set.length ? `${names(set.map((car) => car.name))} ${set.length > 1 ? "are" : "is"} free.` : "No car is here." };
  }
  const away = set.filter((car) => ["gone", "missing"].includes(looks.get(car.name).is));
  if (away.length || set.length < cars.length) return { step: "wait", band: "GONE", tone: "", head: `${away.length ? away[0].name : "A car"} is gone`, sub: "Nothing that you hold moves it." };
  const bands = set.map((car) => looks.get(car.name).band);
  const has = (band) => bands.includes(band);
  if (has("FAULT")) return { step: "unlock", band: "FAULT", tone: "bad", head: "Fault", sub: "See why in the tile, put it right, then clear it.", label: number(set.length, set[0].name, "Clear") };
  if (has("STOPPING")) return { step: "pad", band: "STOPPING", tone: "bad", head: "Stopping. Let go" };
  if (has("STOPPED")) return { step: "unlock", band: "STOPPED", tone: "bad", head: "Pad is locked", sub: "Nothing you hold moves a car. U unlocks it too; it does not arm yet.", label: number(set.length, set[0].name, "Unlock") };
  if (has("STARTING")) return { step: "wait", band: "STARTING", head: "Starting", sub: "Wait a moment." };
  if (has("PARKED")) return { step: "arm", band: "PARKED", head: "Yours, parked", sub: "Look at the car, then arm.", label: number(set.length, set[0].name, "Arm") };
  return pad(set, looks, bands);
}
function taken(holder) {
  const it = { step: "taken", band: "DRIVING", head: `${holder.by} has the seat`, sub: `${names(holder.cars)}, for ${minutes(holder.since_s)}.`, label: "Ask for the seat" };
  if (!asking) return it;
  const leftS = Math.ceil((UNANSWERED_MS - (performance.now() - askedAt)) / 1000);
  return { ...it, sub: leftS > 0 ? `You asked. Without an answer you can take it over in ${leftS} s, if nobody holds.` : "No answer. The cars are braked and disarmed first.", label: leftS > 0 ? "Asked" : "Take over" };
}
function pad(set, looks, bands) {
  const old = set.find((car) => looks.get(car.name).is === "stale"), holds = isDown();
  if (old) return { step: "pad", band: "GONE", tone: "", head: `Nothing heard from ${old.name}` };
  const by = isSeated && last ? last.drives : "";
  if (bands.every((band) => band === "DRIVING")) return { step: "pad", band: "DRIVING", tone: "go", head: holds ? by ? `${by} drives` : "Driving, you hold" : `Driving by ${set[0].driver}` };
  if (by) return { step: "pad", band: "ARMED", tone: "armed", head: holds ? `You hold. ${by} waits` : `Hold: ${by} drives` };
  return { step: "pad", band: "ARMED", tone: "armed", head: holds ? "You hold. It waits for neutral" : onStand() ? "Armed: slide and hold" : "Armed: hold here" };
}
const names = (list) => list.length < 3 ? list.join(" and ") : `${list.slice(0, -1).join(", ")} and ${list.at(-1)}`;
const minutes = (s) => s < 90 ? `${Math.floor(s)} s` : `${Math.floor(s / 60)} minutes`;

let last = null;
export function showSeat(picture, looks, byName) {
  last = picture.seat;
  offerPrograms(picture.programs || []);
  answered(picture.seat);
  at("asks").hidden = !(isSeated && last && last.asked_by);
  if (!at("asks").hidden) put(at("asks").firstChild, `${last.asked_by} asks for the seat.`);
  const wanted = isSeated ? cars : choice(), set = wanted.map((name) => byName.get(name)).filter(Boolean), holder = isSeated ? null : picture.seat;
  let it = next(set, looks, holder);
  if (step === "pad" && it.step !== "pad" && isDown()) {  // nothing that a car says moves anything under a finger
    it = { ...it, step: "pad", head: it.step === "unlock" ? "It is stopped and locked: let go" : `${it.head}: let go` };
  }
  put(at("seat-head"), it.head); put(at("seat-sub"), it.sub || "");
  put(at("seat-why"), set.find((car) => car.is_locked)?.why || "");
  reshape(at("seat-shape"), it.band);
  at("seat").dataset.tone = it.tone || "";
  showUnit(set, it.step === "pad");
  for (const [name, of] of [["unlock", "unlock"], ["arm", "arm"], ["ask", "taken"]]) if (it.step === of && it.label) put(at(name), it.label);
  const same = set.find(isAnother);
  at("another").hidden = isSeated || !same;
  if (same) put(at("another"), `${same.name} on board ${same.board} is meant`);
  at("choose").hidden = !TOKEN || isSeated || it.step === "taken";
  at("take").disabled = !set.length;
  if (it.step !== step) change(it.step);
  if (isSeated && set.length) showCar(set[0]);
  showWho(picture, byName);
}
// Beside the pad its unit, and beside the sliders of a stand how long it lasts; the last 10 s in amber, as in the tile
function showUnit(set, isPad) {
  const left = set.map((car) => car.stand_left_s).filter((it) => it !== null && it !== undefined), least = left.length ? Math.min(...left) : null;
  put(at("seat-unit"), !isPad ? "" : least === null ? "m/s" : `${countdown(least)} left`);
  at("seat-unit").classList.toggle("soon", isPad && least !== null && least < 10);
}
function change(to) {
  const wasHere = at("seat").contains(document.activeElement) || document.activeElement === document.body || document.activeElement === at("end");
  const isFirst = step === "";
  step = to;
  at("seat").dataset.step = to;
  for (const [name, of] of [["take", "take"], ["ask", "taken"], ["unlock", "unlock"], ["arm", "arm"]]) at(name).hidden = of !== to;
  if (isFirst || !wasHere) return;
  const goal = to === "pad" ? at(onStand() ? "slide-steer" : "hold") : at(to === "taken" ? "ask" : to);
  if (goal && goal.offsetParent) goal.focus({ preventScroll: true });
}
function showCar(car) {  // what is drawn full came from the car
  const { limits } = asked();
  if (!limits || !("driver" in car)) return showDot(0, 0);
  showScale(limits.speed_mps);
  showDot(car.steer_deg / limits.steer_deg, car.speed_mps / (car.speed_mps < 0 ? limits.reverse_mps || 1 : limits.speed_mps || 1));
}
function showWho(picture, byName) {
  const holder = picture.seat, list = holder ? holder.cars : [];
  put(at("who-words"), isSeated ? "You drive" : holder ? `${holder.by} has` : "");
  const text = list.join() + list.map((name) => byName.has(name) && (byName.get(name).shown_number || byName.get(name).number));
  if (at("who-cars").dataset.shown === text) return;
  at("who-cars").dataset.shown = text;
  const found = list.map((name) => byName.get(name)).filter(Boolean);
  at("who-cars").replaceChildren(...found.flatMap((car, n) => [...(n === 1 ? [make("span", "with", "with")] : []), plate(car, car.shown_number || car.number)]));
}
// The cars that may be chosen, and the twins beside the chosen one
export function offer(list) {
  const before = chosen(), checked = twins();
  at("car").replaceChildren(...list.map((car) => new Option(car.name, car.name, false, car.name === before)));
  offerTwins(list, list.some((car) => car.name === newTwin) ? [...checked, newTwin] : checked);
  at("car").onchange = () => { offerTwins(list, []); at("offground").onchange?.(); };
}
function offerTwins(list, checked) {
  const others = list.filter((car) => car.name !== chosen());
  at("twin-choice").replaceChildren(...(others.length ? ["with "] : []), ...others.map((car) => {
    const label = make("label", ""), box = make("input");
    Object.assign(box, { type: "checkbox", value: car.name, checked: checked.includes(car.name), disabled: isSeated });
    label.append(box, car.name);
    return label;
  }));
}
// A virtual car of the chosen one's vehicle file, which is ticked once it is there
let newTwin = "";
function addTwin() {
  put(at("told"), "Starting a twin ...");
  ask({ do: "twin", car: chosen() }, (said) => { newTwin = said.name || ""; put(at("told"), said.is_done ? `${said.name} starts.` : said.text); });
}
// What may drive while the page is held; to steer takes over
function offerPrograms(list) {
  const it = at("program");
  if (it.dataset.names === list.join()) return;
  it.dataset.names = list.join();
  it.replaceChildren(new Option("by hand", ""), ...list.map((name) => new Option(`by ${name}, while held`, name)));
}
export function laySeat() {
  const label = make("label", "", "I am "), field = make("input");
  Object.assign(field, { id: "my-name", maxLength: 20, size: 8, value: kept("name") || "", placeholder: matchMedia("(pointer: coarse)").matches ? "Phone" : "Laptop" });
  label.append(field);
  at("add-twin").after(label);
  at("take").onclick = () => take(choice());
  at("ask").onclick = () => { if (!asking) askFor(last); else asking.socket.send(JSON.stringify({ do: "take over" })); };
  at("give").onclick = () => order("end");
  at("keep").onclick = () => order("keep");
  at("another").onclick = () => { for (const name of choice()) boards.delete(name); };  // a person says so: the next status is of the car that is meant
  at("unlock").onclick = () => order("unlock");
  at("arm").onclick = () => order("arm");
  at("add-twin").onclick = addTwin;
  at("end").onclick = () => order("end");
}
export const unlock = () => { if (step === "unlock") order("unlock"); };
