// The big Stop: a frame of another site than the page around it, so that a browser gives it a process of its own. It knows
// what to stop without the page: all cars. The page only tells it how it is called, and what its own stops were answered.
import { at, onAnswer, openStops, put, show, stop } from "/stopping.js";
const ALIVE_MS = 500, HOSTS = ["127.0.0.1", "localhost"];
const tell = (what) => parent.postMessage(what, "*");
function stopAll() { tell({ isPressed: true }); stop([]); }
addEventListener("message", (event) => {
  if (event.source !== parent || !HOSTS.map((it) => `http://${it}:${location.port}`).includes(event.origin)) return;
  const said = event.data;
  if (typeof said.label === "string") { put(at("stop"), said.label); at("stop").disabled = said.isDisabled === true; }
  if (typeof said.text === "string") show(said.text, ["good", "bad"].includes(said.kind) ? said.kind : "");
});
at("stop").onclick = stopAll;
document.addEventListener("keydown", (event) => { if (event.key === "Escape") stopAll(); });
onAnswer((text, kind) => tell({ text, kind }));
openStops();
tell({}); setInterval(() => tell({}), ALIVE_MS);
