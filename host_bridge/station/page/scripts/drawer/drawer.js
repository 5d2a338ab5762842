// The drawer: what a car says beyond its tile, its stopping distances, and what is changed on the stand.
import { at, make, put, seen, signed } from "/scripts/dom.js";
import { fillBlackBox, layBlackBox } from "/scripts/drawer/black_box.js";
import { fillDiagnostics, layDiagnostics } from "/scripts/drawer/diagnostics.js";

const ROWS = [
  ["link", "link", (c) => `${c.age_ms === null ? "–" : c.age_ms} ms old${c.round_trip_ms === null ? "" : `, round trip ${c.round_trip_ms} ms`}, ${lossWords(c)}`],
  ["blind", "if cut off now", (c) => c.blind_m === null ? "–" : `${c.blind_m.toFixed(2)} m more, then it stands`],
  ["driver", "who drives", (c) => c.driver],
  ["target", "asked for", (c) => `${signed(c.target_mps, 2)} m/s`],
  ["stops", "may stop it", stopWords],
  ["stations", "stations at it", (c) => (c.stations || []).join("; ") || "none"],
  ["outputs", "puts out", (c) => (c.outputs || []).join("; ") || "–"],
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
export function layFacts(cars) {
  at("facts").replaceChildren(...cars.map((car) => {
    const it = make("section", "facts"), list = make("dl");
    it.id = "facts-" + car.name;
    for (const [key, words] of ROWS) { const value = make("dd"); value.dataset.key = key; list.append(make("dt", "", words), value); }
    it.append(make("h2", "", `${car.number} ${car.name}`), list, layDiagnostics(), layBlackBox(car.name));
    return it;
  }));
}
const newest = new Map();  // what each car said last: the drawer is full as it opens, and nothing in it moves then
export function fillFacts(car) {
  newest.set(car.name, car);
  const it = at("drawer").hidden ? null : at("facts-" + car.name);  // what nobody sees costs nothing
  if (it) fillDiagnostics(it.querySelector(".diagnostics"), car);
  if (it) for (const [key, , words] of ROWS) put(it.querySelector(`[data-key=${key}]`), "driver" in car ? words(car) : "–");
}
export function openDrawer(opens = at("drawer").hidden) {
  at("drawer").hidden = !opens;
  if (opens) { for (const car of newest.values()) fillFacts(car); fillStops(); }
  at("open-drawer").setAttribute("aria-expanded", String(opens));
  at(opens ? "close-drawer" : "open-drawer").focus();
}
export function openFacts(car) {  // by its number, for whoever looks on: never for driving
  if (!car || !at("facts-" + car.name)) return;
  openDrawer(true);
  const it = at("facts-" + car.name);
  it.tabIndex = -1;
  it.scrollIntoView({ block: "start" }); it.focus({ preventScroll: true });
}
at("open-drawer").onclick = () => openDrawer();
at("close-drawer").onclick = () => openDrawer(false);
let stops = {};  // the kept stops of each car
function fillStops() {
  for (const [name, kept] of Object.entries(stops)) { const it = at("facts-" + name); if (it) fillBlackBox(it.querySelector(".black-box"), kept); }
}
seen.push((picture) => {
  stops = picture.black_boxes || {};
  if (!at("drawer").hidden) fillStops();
});
