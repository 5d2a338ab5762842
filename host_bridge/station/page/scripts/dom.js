// What every script of the page uses: elements, addresses, numbers as words, and the list of those that draw each status.
export const at = (id) => document.getElementById(id);
export const address = (path) => `ws://${location.host}${path}`;
export const TOKEN = new URLSearchParams(location.hash.slice(1)).get("seat") || "";
export const seen = [];  // functions that draw a status
export const station = window.station = { lags: [], frames: 0, endings: [] };  // for whoever measures
export function put(element, text) { if (element.textContent !== text) element.textContent = text; }
export function mark(element, name, value) { if (element.getAttribute(name) !== value) element.setAttribute(name, value); }
export function make(name, kind, text) { const it = document.createElement(name); if (kind) it.className = kind; if (text) it.textContent = text; return it; }
const SVG = "http://www.w3.org/2000/svg";
export function draw(name, attributes = {}, ...children) {
  const it = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) it.setAttribute(key, value);
  it.append(...children);
  return it;
}
export const signed = (value, digits) => (value < 0 ? "−" : "") + Math.abs(value).toFixed(digits);
export const speedText = (mps) => signed(mps, Math.abs(mps) < 10 ? 2 : 1);
export const side = (degrees) => Math.abs(degrees) < 0.05 ? "straight" : degrees > 0 ? "left" : "right";
export function ago(seconds) {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 100) return `${seconds.toFixed(0)} s`;
  return seconds < 6000 ? `${(seconds / 60).toFixed(0)} min` : `${(seconds / 3600).toFixed(0)} h`;
}
export const countdown = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
export const link = (ms) => ms < 1000 ? `${ms.toFixed(0)} ms` : ago(ms / 1000);
