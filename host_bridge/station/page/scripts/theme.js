// Day or night: as the device has it, unless the sun's button says otherwise, which is kept on this device.
import { at } from "/scripts/dom.js";
import { shape } from "/scripts/car/shapes.js";
const asked = matchMedia("(prefers-color-scheme: light)");
function kept() { try { return localStorage.getItem("theme"); } catch { return null; } }
export const theme = () => document.documentElement.dataset.theme;
function set() { document.documentElement.dataset.theme = kept() || (asked.matches ? "day" : "night"); }
set();
asked.addEventListener("change", set);
at("theme").append(shape("sun"));
at("theme").onclick = () => {
  const it = theme() === "day" ? "night" : "day";
  try { localStorage.setItem("theme", it); } catch { /* a private window keeps nothing */ }
  document.documentElement.dataset.theme = it;
};
