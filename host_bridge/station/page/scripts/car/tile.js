// A tile a car: what it does, how fast, how it steers, what it runs on, and why it stands.
import { countdown, draw, link, make, mark, put, speedText } from "/scripts/dom.js";
import { battery, bars, reshape } from "/scripts/car/shapes.js";
import { dial, fillGauge, gauge, turnDial } from "/scripts/car/dial.js";
import { sentence, who } from "/scripts/car/look.js";

export const PROFILES = { stand: "Stand", track: "Track", race: "Race" };
export function plate(car, number, name) {
  const it = make("span", `plate car-${(number - 1) % 8 + 1}${car.is_virtual ? " virtual" : ""}`);
  it.append(make("span", "number", String(number)), make("span", "name", name || car.name));
  return it;
}
function cell(kind) {
  const it = make("div", `cell ${kind}`), words = make("span");
  words.append(make("b"), make("small"));
  if (kind !== "profile") it.append(make("span", "picture"));
  it.append(words);
  return it;
}
export function tile(car, number, stop, dismiss) {
  const it = make("article", `car-${(number - 1) % 8 + 1}`), head = make("header"), one = make("button", "one", `STOP ${number}`), away = make("button", "dismiss", "×");
  it.id = "car-" + car.name;
  it.setAttribute("role", "group");
  one.type = away.type = "button";
  one.setAttribute("aria-label", `STOP ${number}, ${car.name}`); away.setAttribute("aria-label", `Take ${car.name} off the page`);
  one.onpointerdown = (event) => { event.preventDefault(); stop([car.name]); };
  one.onclick = (event) => { if (event.detail === 0) stop([car.name]); };  // by a key, or by assistance
  away.onclick = dismiss;
  head.append(plate(car, number), make("span", "what", `${car.is_virtual ? "virtual" : "real"} ${car.vehicle || ""}`), one, away);
  const band = make("div", "band state"), word = draw("svg", { class: "word", "aria-hidden": "true" }, draw("text", { y: "50%", "dominant-baseline": "central" }));
  band.append(make("span", "shape"), word, make("span", "age"));
  const speed = make("div", "speed"), beside = make("span", "beside");
  const digits = draw("svg", { class: "digits", preserveAspectRatio: "none" }, draw("text", { y: 80, "data-key": "speed" }));
  beside.append(make("span", "unit", "m/s"), make("span", "asked"), make("span", "driver"));
  speed.append(digits, beside);
  const gauged = make("div", "gauge"), dialed = make("div", "dial"), steer = make("div", "steer"), cells = make("div", "cells");
  gauged.append(gauge());
  steer.dataset.key = "steer"; steer.append(make("span"), make("small"));
  dialed.append(dial(), steer);
  cells.append(cell("battery"), cell("link"), cell("profile"));
  const why = make("p", "why"); why.append(make("em"), make("span"));
  it.append(head, band, speed, gauged, dialed, cells, why);
  return it;
}
// A twin beside its car has its car's number and colour
export function number(it, car, shown) {
  if (it.dataset.number === String(shown)) return;
  it.dataset.number = String(shown);
  it.className = it.className.replace(/car-\d/, `car-${(shown - 1) % 8 + 1}`);
  it.querySelector(".plate").replaceWith(plate(car, shown));
}
// Large numerals keep their box in every font: so many hundredths of the size a digit, a point, a sign
const WIDTHS = { ".": 24, "−": 52, "–": 52 };
function numerals(svg, text) {
  const it = svg.firstChild;
  if (it.textContent === text && svg.hasAttribute("viewBox")) return;
  it.textContent = text;
  const wide = [...text].reduce((sum, one) => sum + (WIDTHS[one] || 52), 0) * 1.12;
  svg.setAttribute("viewBox", `0 0 ${wide} 84`); svg.style.aspectRatio = `${wide} / 84`; svg.classList.toggle("long", text.length > 4);
  it.setAttribute("textLength", wide); it.setAttribute("lengthAdjust", "spacingAndGlyphs");
}
export function fitWord(it) {
  const svg = it.querySelector(".word"), text = svg.firstChild, room = svg.clientWidth - 8;
  text.removeAttribute("textLength");
  if (room > 20 && text.getComputedTextLength() > room) { text.setAttribute("textLength", room); text.setAttribute("lengthAdjust", "spacingAndGlyphs"); }
}
export function fill(it, car, shown, seat, isMine, why) {
  it.classList.toggle("stale", shown.is === "stale"); it.classList.toggle("gone", shown.is === "gone");
  it.classList.toggle("missing", shown.is === "missing"); it.classList.toggle("locked", shown.band === "STOPPED" || shown.band === "FAULT");
  const band = it.querySelector(".band"), word = band.querySelector("text");
  band.dataset.state = car.state; band.dataset.band = shown.band;
  band.classList.toggle("is_driving", shown.band === "DRIVING" && shown.is === "fresh");
  reshape(band.firstChild, shown.band);
  const isNew = word.textContent !== shown.word, roomChanges = shown.age.length !== band.lastChild.textContent.length;
  put(band.lastChild, shown.age); put(word, shown.word);
  if (isNew || roomChanges) fitWord(it);  // beside its age it has less room
  const isKnown = shown.is === "fresh" || shown.is === "stale";
  numerals(it.querySelector(".digits"), isKnown ? speedText(car.speed_mps) : "–");
  const asked = it.querySelector(".asked");
  asked.dataset.key = "asked";
  const isBack = isKnown && car.speed_mps < -0.02;
  asked.classList.toggle("back", isBack);
  if (isBack) put(asked, "backward");
  else putAsked(asked, shown.is === "fresh" ? car.target_mps : null);
  put(it.querySelector(".driver"), shown.is === "gone" ? "does not hear you" : who(car, seat, isMine) || "no driver");
  const cap = car.cap_mps ?? car.speed_max_mps ?? 1, most = car.speed_max_mps || 1;
  fillGauge(it.querySelector(".gauge svg"), { speed: isKnown ? car.speed_mps : 0, asked: car.target_mps || 0, cap, most, back: car.reverse_max_mps || 0 });
  turnDial(it.querySelector(".dial svg"), it.querySelector(".steer"), isKnown ? car.steer_deg : null, car.steer_max_deg || 30);
  fillCells(it, car, shown, cap);
  const [warns, rest] = why ? ["", why] : sentence(car, shown, seat, isMine), line = it.querySelector(".why");
  put(line.firstChild, warns); put(line.lastChild, rest);
  line.title = warns + rest;
  mark(it, "aria-label", `${car.name}, ${car.is_virtual ? "virtual" : "real"}, ${shown.word.toLowerCase()}${isKnown ? `, ${speedText(car.speed_mps)} metres per second` : ""}`);
  return isNew;
}
function putAsked(it, mps) {
  const text = mps === null ? "" : Math.abs(mps) < 0.005 ? "asked nothing" : `asked ${speedText(mps)}`;
  if (it.textContent === text) return;
  it.replaceChildren();
  if (/\d/.test(text)) it.append("asked ", make("b", "", speedText(mps))); else it.textContent = text;
}
function fillCells(it, car, shown, cap) {
  const [power, line, profile] = it.querySelectorAll(".cell"), isGone = shown.is === "gone", percent = car.battery_percent;
  const isThere = car.battery_v !== null && car.battery_v !== undefined;
  const words = percent === null || percent === undefined ? (isThere ? `${car.battery_v.toFixed(1)} V` : "–") : `${percent} %`;
  sketch(power, `${percent ?? 100}`, () => battery((percent ?? 100) / 100));
  power.classList.toggle("low", ["low", "empty"].includes(car.battery));
  put(power.querySelector("b"), isGone && isThere ? `was ${words}` : words);
  put(power.querySelector("small"), isThere ? `${car.battery_v.toFixed(1)} V${car.battery === "good" ? "" : ", " + car.battery}` : "no battery");
  const age = shown.age_ms, lost = (car.loss_percent || 0) >= 1 && car.is_line_lossy ? 1 : 0;
  const count = age === null || isGone ? 0 : Math.max(1, [30, 80, 200, 500].filter((limit) => age < limit).length + 1 - lost);
  sketch(line, `${count} ${shown.is}`, () => bars(count, shown.is !== "fresh"));
  put(line.querySelector("b"), isGone ? "silent" : age === null ? "–" : link(age));
  put(line.querySelector("small"), isGone ? car.heard_at || "" : shown.is === "fresh" ? "link fresh" : "link old");
  put(profile.querySelector("b"), PROFILES[car.profile] || "–");
  const left = car.stand_left_s;
  put(profile.querySelector("small"), `cap ${cap.toFixed(cap < 10 ? 1 : 0)}${left === null || left === undefined ? " m/s" : `, ${countdown(left)}`}`);
  profile.classList.toggle("soon", left !== null && left !== undefined && left < 10);
}
function sketch(cell, key, drawn) {
  const it = cell.querySelector(".picture");
  if (it.dataset.key === key) return;
  it.dataset.key = key;
  it.replaceChildren(drawn());
}
