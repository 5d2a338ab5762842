// The big Stop: a frame of another site than the page around it, so that a browser gives it a process of its own. It knows
// what to stop without the page: all cars. The page only tells it how it is called, and what its own stops were answered.
import { at, put } from "/scripts/dom.js";
import { onAnswer, openStops, show, stop } from "/scripts/stop/stopping.js";
import { label } from "/scripts/stop/label.js";
const ALIVE_MS = 500, HOSTS = ["127.0.0.1", "localhost"];
const tell = (what) => parent.postMessage(what, "*");
function stopAll() { tell({ isPressed: true }); stop([]); }
addEventListener("message", (event) => {
  if (event.source !== parent || !HOSTS.map((it) => `http://${it}:${location.port}`).includes(event.origin)) return;
  const said = event.data;
  if (typeof said.label === "string") { label(at("stop"), said.label, String(said.small || "")); at("stop").disabled = said.isDisabled === true; }
  if (typeof said.text === "string") show(said.text, ["good", "bad"].includes(said.kind) ? said.kind : "");
  if (said.isFocused === true) at("stop").focus();
  if (["day", "night"].includes(said.theme)) document.documentElement.dataset.theme = said.theme;
  if (["wall", "laptop", "sideways", "upright"].includes(said.size)) document.body.dataset.size = said.size;
  if (Number.isFinite(said.high)) document.body.style.setProperty("--bar-stop", `${said.high}px`);
});
// On press: whoever stops does not wait for the finger to leave again
at("stop").onpointerdown = (event) => { event.preventDefault(); stopAll(); };
at("stop").onclick = (event) => { if (event.detail === 0) stopAll(); };  // by a key, or by assistance
document.addEventListener("keydown", (event) => { if (event.key === "Escape") stopAll(); });
onAnswer((text, kind) => tell({ text, kind }));
openStops();
tell({}); setInterval(() => tell({}), ALIVE_MS);
