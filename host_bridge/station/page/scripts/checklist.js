// Ready to drive: seven lines, always in this order, each with its mark; the first that is wrong decides the next step.
import { at, make, put } from "/scripts/dom.js";
import { reshape } from "/scripts/car/shapes.js";
import { PROFILES } from "/scripts/car/tile.js";
import { isDown, asked } from "/scripts/hold.js";
import { mine, sits } from "/scripts/seat.js";

const names = (list) => list.length > 1 ? `${list.slice(0, -1).join(", ")} and ${list.at(-1)}` : list[0];
const percents = (set) => names(set.map((car) => car.battery_percent === null || car.battery_percent === undefined ? (car.battery_v === null ? "–" : `${car.battery_v.toFixed(1)} V`) : `${car.battery_percent} %`));
// [mark, words] of each line: yes, no, yet, or none where the car is not heard
function lines(set, looks) {
  const isArmed = set.length > 0 && set.every((car) => car.is_armed);
  const fresh = set.length > 0 && set.every((car) => looks.get(car.name).is === "fresh");
  const of = (isDone, yes, no, wrong = "no") => !fresh ? ["none", yes] : isDone ? ["yes", yes] : [wrong, no];
  const clocks = set.map((car) => car.clock_bound_ms).filter((it) => it !== null && it !== undefined), worst = clocks.length ? Math.max(...clocks) : null;
  const needed = set.flatMap((car) => car.stop_sources.filter((it) => it.need === "required"));
  const silent = needed.find((it) => !it.is_there && it.name !== "seat" && it.name !== "fleet" || it.says_stop);
  const power = set.find((car) => car.battery === "empty" || car.has_charger), low = set.find((car) => car.battery === "low");
  const stands = set.every((car) => Math.abs(car.speed_mps || 0) < 0.02) && !isDown();
  const locked = set.find((car) => car.is_locked), cap = set.length ? Math.min(...set.map((car) => car.cap_mps ?? Infinity), asked().limits?.speed_mps ?? Infinity) : 0;
  return [
    sits() && set.length === mine().length ? ["yes", `Seat: ${names(mine())} ${mine().length > 1 ? "are" : "is"} yours`] : ["yet", "Take the seat"],
    fresh ? (worst !== null && worst > 9 ? ["no", `Wait: clocks differ by ${worst.toFixed(0)} ms`] : ["yes", worst === null ? "Links fresh" : "Links fresh, clocks agree"]) : ["no", "A link is old: see to the car"],
    of(!silent, `Stop buttons heard: ${[...new Set(needed.map((it) => it.word))].join(", ") || "none needed"}`, silent ? `${silent.says_stop ? "Says stop" : "Silent"}: ${silent.word}` : ""),
    of(!power, `Batteries ${percents(set)}${low ? ", low" : ""}`, power ? (power.has_charger ? "A charger is plugged in" : `${power.name}: empty`) : ""),
    of(isArmed || stands, isArmed ? "Stood still, pad was let go" : "Standing still, pad let go", "Let go"),
    of(!locked, "No stop is locked", locked ? (locked.state === "FAULT" ? "A fault: see the tile" : "A stop is locked: unlock it") : ""),
    of(isArmed, `Armed for ${set.length ? PROFILES[set[0].profile] || "–" : ""}, cap ${Number.isFinite(cap) ? cap.toFixed(1) : "–"} m/s`, locked ? "Then arm" : "Arm", "yet"),
  ];
}
export function showReady(set, looks, isRecorded) {
  at("ready").hidden = isRecorded || !set.length;
  if (at("ready").hidden) return;
  const all = lines(set.filter((car) => "driver" in car), looks), list = at("ready").querySelector("ol"), total = at("ready").querySelector("b");
  const done = all.filter(([mark]) => mark === "yes").length;
  put(total, `${done} of ${all.length}`);
  total.className = done === all.length ? "all" : all.some(([mark]) => mark === "no") ? "not" : "";
  const first = all.findIndex(([mark]) => mark !== "yes");
  all.forEach(([mark, words], n) => {
    let row = list.children[n];
    if (!row) { row = make("li"); row.append(make("i"), make("span")); list.append(row); }
    row.dataset.mark = mark;
    row.toggleAttribute("data-first", n === first);
    row.firstChild.setAttribute("aria-label", { yes: "done", no: "wrong", yet: "not yet", none: "not known" }[mark]);
    row.firstChild.setAttribute("role", "img");
    reshape(row.firstChild, mark);
    put(row.lastChild, words);
  });
}
