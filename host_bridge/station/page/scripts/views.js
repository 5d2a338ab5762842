// The frames of plots and of logs, from a program of its own: gone while that is, and in their place what became of it.
import { at, make, put } from "/scripts/dom.js";
import { theme } from "/scripts/theme.js";
const NO_LOGS = "Logs are shown by the plots' program, which is not there: pip install 'tandem-cars[station]'";
let frame = null, logs = null, source = "", areLogsWanted = false, drawn = theme();
export function showViews({ views, views_words: words, replayed }) {
  if (frame && (!views || drawn !== theme())) { for (const it of [frame, logs]) if (it) it.remove(); frame = logs = null; }
  if (views && !frame) { source = views; drawn = theme(); frame = framed("views", `${views}?cell=true&theme=${drawn}`, "Plots and replay"); }
  if (views && areLogsWanted && !logs) logs = framed("logs", `${source}logs?theme=${drawn}${replayed ? `&a=${encodeURIComponent(replayed.file)}` : ""}`, "Logs");
  at("views").hidden = !views && !words;
  at("views-words").hidden = !words;
  put(at("views-words"), words || "");
  put(at("logs-words"), logs ? words || "" : words || (areLogsWanted ? NO_LOGS : ""));
}
function framed(place, address, title) {
  const it = make("iframe");
  it.src = address; it.title = title;
  at(place).append(it);
  return it;
}
export function openLogs() { areLogsWanted = true; }  // from then on: a list that nobody looks at costs nothing
export function layViews(stopCars) {  // Esc was pressed in one of them
  addEventListener("message", (event) => { if ([frame, logs].some((it) => it && event.source === it.contentWindow) && event.data && event.data.isPressed) stopCars([]); });
}
