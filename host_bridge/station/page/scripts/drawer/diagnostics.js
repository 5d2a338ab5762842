// Diagnostics by source: a mark, its name, its value and a detail. What a car does not have is dim, and never red.
import { make, put, signed } from "/scripts/dom.js";
import { reshape } from "/scripts/car/shapes.js";

const number = (value, digits, unit) => value === null || value === undefined ? "–" : `${signed(value, digits)} ${unit}`;
// name: of a car [mark: yes, no or yet for what it has not or has not told, value, detail]
const SOURCES = {
  IMU: ({ signals: s, parts: b }) => b.has_imu ? ["yes", number(s.yaw_rate_dps, 1, "°/s"), `${number(s.accel_x_mps2, 2, "m/s²")} ahead, ${number(s.accel_y_mps2, 2, "m/s²")} left`] : ["yet", b.has_imu === null ? "–" : "none heard", ""],
  Wheels: (c) => [c.signals.count_left === null ? "yet" : "yes", number(c.speed_mps, 2, "m/s"), c.signals.count_left === null ? "" : `counts ${c.signals.count_left} left, ${c.signals.count_right} right`],
  Battery: (c) => c.battery_v === null ? ["yet", "–", ""] : [["low", "empty"].includes(c.battery) ? "no" : "yes", `${c.battery_v.toFixed(2)} V`, c.has_charger ? "a charger is plugged in" : c.battery],
  Temperature: ({ signals: s }) => s.temperature_c === null ? ["yet", "no sensor", ""] : ["yes", `${s.temperature_c.toFixed(0)} °C`, ""],
  "Motor controller": ({ parts: b }) => !b.vesc ? ["yet", "says nothing", "not a VESC, or it is silent"] : [b.vesc.is_killed || b.vesc.has_timed_out ? "no" : "yes", b.vesc.is_killed ? "its kill switch is on" : b.vesc.has_timed_out ? "timed out" : "in order", "VESC"],
  "RC receiver": ({ parts: b }) => b.rc === null ? ["yet", "no signal", ""] : ["yes", b.rc.toLowerCase(), "switch of the transmitter"],
  "Stop loop": ({ parts: b }) => b.is_loop_closed === null ? ["yet", "–", ""] : [b.is_loop_closed ? "yes" : "no", b.is_loop_closed ? "closed" : "open", b.box ? `stop box: ${b.box.toLowerCase()}` : ""],
  "Its program": ({ signals: s, parts: b }) => b.beat_ms === null ? ["yet", "–", ""] : [s.missed_lately ? "no" : "yes", `${number(s.takes_ms, 1, "ms")} of ${b.beat_ms} ms`, `longest ${number(s.step_ms, 1, "ms")}, ${b.missed} beats missed`],
  Frames: ({ parts: b }) => !b.frames ? ["yet", "–", ""] : [b.frames.damaged ? "no" : "yes", `${b.frames.damaged} damaged`, `${b.frames.unsent} not sent; commands: ${b.claims.accepted} taken, ${b.claims.refused} refused`],
};
export function layDiagnostics() {
  const table = make("table", "diagnostics"), head = make("tr");
  for (const words of ["", "source", "value", "detail"]) head.append(make("th", "", words));
  table.append(head, ...Object.keys(SOURCES).map((name) => {
    const row = make("tr");
    row.dataset.source = name;
    const cell = make("td"), mark = make("i");
    mark.setAttribute("role", "img"); mark.setAttribute("aria-label", "not heard yet");
    cell.append(mark);
    row.append(cell, make("td", "", name), make("td"), make("td"));
    return row;
  }));
  return table;
}
export function fillDiagnostics(table, car) {
  for (const row of table.querySelectorAll("[data-source]")) {
    const [mark, value, detail] = car.signals && car.parts ? SOURCES[row.dataset.source](car) : ["yet", "–", ""];
    if (row.dataset.mark !== mark) { row.dataset.mark = mark; const it = row.firstChild.firstChild; reshape(it, mark); it.setAttribute("aria-label", { yes: "in order", no: "see to it", yet: "not there" }[mark]); }
    put(row.children[2], value); put(row.children[3], detail);
  }
}
