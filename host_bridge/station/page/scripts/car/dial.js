// The steering dial and the speed's gauge of a tile: drawn once, then only moved.
import { draw, mark, put, side, signed } from "/scripts/dom.js";
const CX = 120, CY = 100, RADIUS = 96, SHOWN = 62;  // degrees of the dial to either side for all that the wheels turn
const on = (radius, degrees) => [CX + radius * Math.sin(degrees * Math.PI / 180), CY - radius * Math.cos(degrees * Math.PI / 180)].map((it) => it.toFixed(1)).join(" ");
const arc = (radius, from, to) => `M${on(radius, from)}A${radius} ${radius} 0 0 ${to > from ? 1 : 0} ${on(radius, to)}`;
export function dial() {
  const it = draw("svg", { viewBox: "0 0 240 132", role: "meter", "aria-label": "steering", "aria-valuemin": "-90", "aria-valuemax": "90" });
  it.append(draw("path", { class: "arc", d: arc(RADIUS - 10, -SHOWN, SHOWN) }));
  for (const at of [-1, -0.5, 0, 0.5, 1]) it.append(draw("path", { class: "tick", d: `M${on(RADIUS, at * SHOWN)}L${on(RADIUS + 8, at * SHOWN)}` }));
  it.append(draw("path", { class: "turned" }), draw("line", { class: "needle", x1: CX, y1: CY - 26, x2: CX, y2: CY - RADIUS + 14, "stroke-width": 6, "stroke-linecap": "round" }));
  it.append(draw("path", { d: `M${CX - 24} ${CY + 18}h48`, stroke: "currentColor", "stroke-width": 3 }));
  for (const x of [-25, 25]) it.append(draw("rect", { class: "wheel", x: CX + x - 5, y: CY + 6, width: 10, height: 24, rx: 3, "data-x": CX + x }));
  for (const [x, anchor] of [[2, "start"], [238, "end"]]) it.append(draw("text", { class: "most", x, y: 126, "text-anchor": anchor }));
  return it;
}
export function turnDial(it, words, degrees, most) {
  const shown = degrees === null ? 0 : -Math.max(-1, Math.min(1, degrees / most)) * SHOWN;
  mark(it.querySelector(".needle"), "transform", `rotate(${shown.toFixed(1)} ${CX} ${CY})`);
  mark(it.querySelector(".turned"), "d", Math.abs(shown) < 0.4 ? "" : arc(RADIUS - 10, 0, shown));
  for (const wheel of it.querySelectorAll(".wheel")) mark(wheel, "transform", `rotate(${(degrees === null ? 0 : -degrees).toFixed(1)} ${wheel.dataset.x} ${CY + 18})`);
  const [left, right] = it.querySelectorAll(".most");
  put(left, `${most.toFixed(0)}° left`); put(right, `${most.toFixed(0)}° right`);
  const text = degrees === null ? "–" : `${Math.abs(degrees).toFixed(1)}° ${side(degrees)}`;
  mark(it, "aria-valuenow", degrees === null ? "0" : degrees.toFixed(1)); mark(it, "aria-valuetext", text);
  put(words.firstChild, degrees === null ? "–" : `${Math.abs(degrees).toFixed(1)}° `); put(words.lastChild, degrees === null ? "" : side(degrees));
}
const WIDE = 288, HIGH = 12;
export function gauge() {
  const it = draw("svg", { viewBox: `0 0 ${WIDE} 36`, role: "meter", "aria-label": "speed" });
  it.append(draw("rect", { class: "rail", x: 0, y: 8, width: WIDE, height: HIGH, rx: 6 }), draw("rect", { class: "beyond", y: 8, height: HIGH, rx: 6 }), draw("rect", { class: "run", y: 8, height: HIGH, rx: 4 }));
  it.append(draw("rect", { class: "cap", y: 3, width: 3, height: 22 }), draw("path", { class: "asked-mark", d: "M0 7l-6 -8h12z" }), draw("g", { class: "scale" }));
  return it;
}
export function fillGauge(it, { speed, asked, cap, most, back }) {
  const low = back > 0 ? -Math.min(back, most) * (speed < -0.02 || asked < -0.02 ? 1 : 0) : 0, x = (mps) => Math.max(0, Math.min(1, (mps - low) / (most - low))) * WIDE;
  const run = it.querySelector(".run"), beyond = it.querySelector(".beyond"), from = Math.min(x(0), x(speed || 0));
  mark(run, "x", from.toFixed(1)); mark(run, "width", Math.abs(x(speed || 0) - x(0)).toFixed(1));
  mark(beyond, "x", x(cap).toFixed(1)); mark(beyond, "width", (WIDE - x(cap)).toFixed(1));
  mark(it.querySelector(".cap"), "x", (x(cap) - 1.5).toFixed(1));
  mark(it.querySelector(".asked-mark"), "transform", `translate(${x(asked || 0).toFixed(1)} 0)`);
  mark(it, "aria-valuemin", low.toFixed(2)); mark(it, "aria-valuemax", most.toFixed(2)); mark(it, "aria-valuenow", (speed || 0).toFixed(2));
  mark(it, "aria-valuetext", `${signed(speed || 0, 2)} metres per second, cap ${cap.toFixed(2)}`);
  rule(it.querySelector(".scale"), low, most, x);
}
function rule(group, low, most, x) {
  const key = `${low} ${most}`;
  if (group.dataset.key === key) return;
  group.dataset.key = key;
  const step = [0.1, 0.25, 0.5, 1, 2, 5, 10].find((it) => (most - low) / it <= 8) || 20;
  group.replaceChildren();
  for (let mps = Math.ceil(low / step) * step; mps <= most + 1e-6; mps += step) {
    const place = x(mps), text = draw("text", { x: place.toFixed(0), y: 34, "text-anchor": place < 6 ? "start" : place > WIDE - 6 ? "end" : "middle" });
    text.textContent = signed(mps, step < 1 ? (step === 0.25 ? 2 : 1) : 0);
    group.append(text);
  }
}
