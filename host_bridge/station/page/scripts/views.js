// The frame of the plots, from a program of its own: gone while that is, and in its place what became of it.
import { at, make, put } from "/scripts/dom.js";
let frame = null;
export function showViews({ views, views_words: words }) {
  if (views && !frame) open(views);
  if (!views && frame) { frame.remove(); frame = null; }
  at("views").hidden = !views && !words;
  at("views-words").hidden = !words;
  put(at("views-words"), words || "");
}
function open(source) {
  frame = make("iframe");
  frame.src = source + "?cell=true"; frame.title = "Plots and replay";
  at("views").append(frame);
}
export function layViews(stopCars) {  // Esc was pressed in it
  addEventListener("message", (event) => { if (frame && event.source === frame.contentWindow && event.data && event.data.isPressed) stopCars([]); });
}
