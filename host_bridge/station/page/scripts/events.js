// What happened: the newest events of all cars, the newest first, each with its time and its car's number.
import { at, make } from "/scripts/dom.js";
import { shape } from "/scripts/car/shapes.js";
const MOST = 24;
const MARKS = [[/^fault/, "FAULT"], [/^stop/, "STOPPED"], [/to DRIVING/, "DRIVING"], [/to ARMED|^armed/, "ARMED"]];
const order = (when) => when === "earlier" ? "" : when.padStart(12, "0");
let shown = "";
export function showEvents(cars) {
  const all = cars.flatMap((car) => (car.events || []).map((event, n) => ({ ...event, car, n }))).sort((a, b) => order(b.when).localeCompare(order(a.when)) || b.n - a.n).slice(0, MOST);
  const text = all.map((it) => `${it.when}${it.car.name}${it.text}`).join("|");
  if (text === shown) return;
  shown = text;
  at("events").replaceChildren(...all.map(row));
}
function row({ when, text, car }) {
  const it = make("li", `car-${(car.number - 1) % 8 + 1}`), words = make("span");
  const found = MARKS.find(([pattern]) => pattern.test(text));
  words.append(make("b", "", `${car.number} `), text);
  const sign = make("i");
  if (found) { const drawn = shape(found[1]); drawn.setAttribute("width", 18); drawn.setAttribute("height", 18); sign.append(drawn); }
  it.append(make("time", "", when), sign, words);
  return it;
}
