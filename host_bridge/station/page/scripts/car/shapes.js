// The shapes of the page: one for each state, so that a state is known without its colour, and a few for tools.
import { draw } from "/scripts/dom.js";
const OCTAGON = "M12 2h16l10 10v16L28 38H12L2 28V12z";
const LOCK = "M13 18v-4a7 7 0 0 1 14 0v4h2v12H11V18zm3 0h8v-4a4 4 0 0 0-8 0z";
const hollow = { fill: "none", stroke: "currentColor", "stroke-width": 4 };
const path = (d, more = {}) => ["path", { d, ...more }];
const SHAPES = {
  STARTING: [["circle", { cx: 20, cy: 20, r: 15, ...hollow, "stroke-dasharray": "9 6.7" }]],
  PARKED: [["rect", { x: 5, y: 5, width: 30, height: 30, rx: 4, ...hollow }], path("M15 29V12h7a5.5 5.5 0 0 1 0 11h-7", hollow)],
  ARMED: [["circle", { cx: 20, cy: 20, r: 16, ...hollow }], path("M13 13h5v14h-5zM22 13h5v14h-5z")],
  DRIVING: [path("M5 3L37 20L5 37z")],
  STOPPING: [path(OCTAGON, hollow), path("M11 11l9 7l9-7M11 20l9 7l9-7", hollow)],
  STOPPED: [path(`${OCTAGON} ${LOCK}`, { "fill-rule": "evenodd" })],
  FAULT: [path("M20 2L39 37H1zM18 14l1 13h2l1-13zM18 29h4v4h-4z", { "fill-rule": "evenodd" })],
  "NO LINK": [path("M4 34h5v-7H4zM13 34h5V21h-5zM22 34h5V14h-5zM31 34h5V6h-5z", { ...hollow, "stroke-width": 2 }), path("M3 5L37 36", hollow)],
  GONE: [path("M7 36V18a13 13 0 0 1 26 0v18", { ...hollow, "stroke-width": 3, "stroke-dasharray": "5 3.5" }), path("M3 36h34", { ...hollow, "stroke-width": 3, "stroke-dasharray": "5 3.5" }), path("M14 15l12 12M26 15L14 27", hollow)],
  yes: [path("M4 21l11 11L36 8", { ...hollow, "stroke-width": 6 })],
  no: [path("M3 3h34v34H3zM12 9l-3 3l8 8l-8 8l3 3l8-8l8 8l3-3l-8-8l8-8l-3-3l-8 8z", { "fill-rule": "evenodd" })],
  yet: [["circle", { cx: 20, cy: 20, r: 15, ...hollow, "stroke-dasharray": "5 5" }]],
  none: [path("M8 18h24v4H8z")],
  unlock: [path("M9 18V12a8 8 0 0 1 15-3l-3 2a4.500 4.500 0 0 0-8 2v5h18v18H7V18z")],
  follow: [["circle", { cx: 20, cy: 20, r: 10, ...hollow }], ["circle", { cx: 20, cy: 20, r: 4 }], path("M20 2v8M20 30v8M2 20h8M30 20h8", hollow)],
  all: [path("M4 14V4h10M26 4h10v10M36 26v10H26M14 36H4V26", hollow)],
  layers: [path("M20 6L36 15L20 24L4 15z", hollow), path("M4 23l16 9l16-9", hollow)],
  sun: [["circle", { cx: 20, cy: 20, r: 8 }], path("M20 2v6M20 32v6M2 20h6M32 20h6M7 7l5 5M28 28l5 5M7 33l5-5M28 12l5-5", hollow)],
  eye: [path("M2 20c9-15 27-15 36 0c-9 15-27 15-36 0z", hollow), ["circle", { cx: 20, cy: 20, r: 6 }]],
  asleep: [path("M2 20c9-15 27-15 36 0c-9 15-27 15-36 0z", hollow), path("M5 5l30 30", hollow)],
  gear: [["circle", { cx: 20, cy: 20, r: 7, ...hollow }], ["circle", { cx: 20, cy: 20, r: 14, ...hollow, "stroke-width": 6, "stroke-dasharray": "5.500 5.500" }]],
};
export function shape(name) {
  const it = draw("svg", { viewBox: "0 0 40 40", "aria-hidden": "true" });
  for (const [kind, attributes] of SHAPES[name] || SHAPES.STARTING) it.append(draw(kind, attributes));
  it.dataset.shape = name;
  return it;
}
export function reshape(holder, name) {
  if (holder.firstChild && holder.firstChild.dataset.shape === name) return;
  holder.replaceChildren(shape(name));
}
// A piece of what the map draws, for its legend
const CAR = "M2 2h12l6 4l-6 4H2z";
const SAMPLES = {
  real: [path(CAR)],
  virtual: [path(CAR, { ...hollow, "stroke-width": 2, "stroke-dasharray": "3 2" })],
  lidar: [path("M1 7h3v3H1zM7 3h3v3H7zM13 6h3v3h-3zM18 2h3v3h-3z")],
  stopping: [path("M1 3h17v6H1z", { opacity: 0.5 }), path("M18 0h3v12h-3z")],
};
export function sample(kind) {
  const it = draw("svg", { viewBox: "0 0 22 12", class: kind, "aria-hidden": "true" });
  it.append(...SAMPLES[kind].map(([name, attributes]) => draw(name, attributes)));
  return it;
}
export function battery(part) {
  const it = draw("svg", { viewBox: "0 0 38 24", "aria-hidden": "true" });
  it.append(draw("rect", { x: 1.5, y: 3.5, width: 31, height: 17, rx: 3, fill: "none", stroke: "currentColor", "stroke-width": 2.5 }), draw("rect", { x: 34, y: 8, width: 3.5, height: 8, rx: 1 }));
  for (let n = 0; n < 5; n++) if (part * 5 > n + 0.25) it.append(draw("rect", { x: 5 + n * 5.2, y: 7, width: 4, height: 10 }));
  return it;
}
export function bars(count, isCrossed) {
  const it = draw("svg", { viewBox: "0 0 34 24", "aria-hidden": "true" });
  for (let n = 0; n < 5; n++) it.append(draw("rect", { x: 1 + n * 6.4, y: 19 - n * 4, width: 5, height: 4 + n * 4, ...(n < count ? {} : { fill: "none", stroke: "currentColor", "stroke-width": 1 }) }));
  if (isCrossed) it.append(draw("path", { d: "M2 2l30 21", stroke: "currentColor", "stroke-width": 3 }));
  return it;
}
