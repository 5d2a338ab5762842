// How far each car goes for every cause of a stop: a panel of its facts, filled from a table that the station works out once
// for each vehicle file, in a program of its own. Whoever has the seat's address has it worked out; everybody sees it.
import { TOKEN, make, put, seen } from "/scripts/dom.js";
import { ask } from "/scripts/work.js";

const metres = (m) => `${m.toFixed(m < 10 ? 2 : m < 100 ? 1 : 0)}\u00a0m`;
const times = (n) => `×${n.toFixed(n < 10 ? 1 : 0)}`;
function goes(stop) {
  const it = make("td", stop.coasts ? "coasts" : "", `${stop.coasts ? "coasts " : ""}${metres(stop.metres)} `);
  it.append(make("small", "", times(stop.times)));
  return it;
}
function row(cause, most) {
  const it = make("tr", cause.is_marked ? "marked" : ""), name = make("th", "", cause.words);
  name.scope = "row";
  it.append(name);
  for (let n = cause.from.length; n < most; n++) it.append(make("td", "", "–"), make("td", "", "–"));
  for (const stop of cause.from) it.append(make("td", "", stop.speed_mps.toFixed(2)), goes(stop));
  return it;
}
function table(causes) {
  const it = make("table"), head = make("tr"), most = Math.max(...causes.map((cause) => cause.from.length));
  for (const words of ["cause", ...Array(most).fill(["m/s", "goes"]).flat()]) { const cell = make("th", "", words); cell.scope = "col"; head.append(cell); }
  it.append(head, ...causes.map((cause) => row(cause, most)));
  return it;
}
function panel(card, name) {
  const it = make("details", "distances"), words = make("p"), button = make("button", "", "Work it out");
  words.setAttribute("role", "status");
  button.type = "button"; button.setAttribute("aria-label", `Work out how far ${name} goes`);
  button.onclick = () => ask({ do: "distances", car: name });
  it.append(make("summary", "", "How far it goes, for every cause of a stop"), words, button, make("div"));
  card.append(make("p", "unaided"), it);
  return it;
}
function told(state) {
  if (!state.is_known) return "Its vehicle file is not known here, so nothing can be worked out.";
  if (state.is_going_on) return state.of ? `${state.done} of ${state.of} stops are done.` : "The first stops are being driven.";
  if (state.is_ready) return `Each cause done to the virtual car of its vehicle file: from 3 m/s and from the fastest that it may find it at. The farthest first; × is how many times as far as four braked wheels need (v²/2μg). ${state.words}`;
  return state.words || `${TOKEN ? "" : "Whoever has the seat's address can have it worked out: "}every cause of a stop done to a virtual car of this type, which takes a minute of this machine, at a low priority.`;
}
async function load(it, name) {
  it.dataset.has = "asked";
  const reply = await fetch(`/distances?car=${encodeURIComponent(name)}`).catch(() => null);
  const causes = reply && reply.ok ? await reply.json() : [];
  it.dataset.has = causes.length ? "all" : "";
  if (causes.length) it.querySelector("div").replaceChildren(table(causes));
}
function showDistances(picture) {
  for (const [name, state] of Object.entries(picture.distances || {})) {
    const card = document.getElementById("facts-" + name);
    if (!card) continue;
    const it = card.querySelector("details.distances") || panel(card, name);
    put(card.querySelector("p.unaided"), state.unaided);
    put(it.querySelector("p"), told(state));
    it.querySelector("button").hidden = !TOKEN || !state.is_known || state.is_going_on || state.is_ready;
    if (state.is_ready && it.open && !it.dataset.has) load(it, name);
  }
}
seen.push(showDistances);
