// Stop: its own socket, and a plain request besides, again and again until there is an answer; done is what a car says.
// The page and its bar have one each, in processes of their own.
import { TOKEN, address, at, put } from "/scripts/dom.js";
const AGAIN_MS = 300, GIVE_UP_MS = 1500, END_MS = 10000, RETRY_MS = 500, NAMED = 3;

let stops = null, token = 0, asked = null, hearProbe = () => {};
export function openStops() {
  stops = new WebSocket(address("/stop"));
  stops.onmessage = (event) => { const said = JSON.parse(event.data); if ("probe" in said) hearProbe(said); else hear(said); };
  stops.onclose = () => setTimeout(openStops, RETRY_MS);
}
// Asks only whether this socket's other end is there, and what this page may; it stops nothing
export function probe(number) { if (stops.readyState === WebSocket.OPEN && stops.bufferedAmount === 0) stops.send(JSON.stringify({ probe: number, seat: TOKEN })); }
export function onProbe(hear) { hearProbe = hear; }
export function stop(cars) {
  asked = { token: ++token, cars, begun: performance.now(), rows: new Map() };
  answer(`asking ${cars.length ? cars.join(", ") : "every car"} to stop`, "");
  ask(asked);
}
export const isAsked = () => asked !== null && !asked.isOver;
// The stop that was asked for last, if cars have answered it: {cars, begun}
export const answered = () => asked && asked.rows.size && !asked.isOver ? asked : null;
function ask(call) {
  if (call !== asked || call.rows.size) return;
  if (performance.now() - call.begun > END_MS) {  // a Stop of now would stop whoever drives when the station is back
    call.isOver = true;
    return answer("NOT STOPPED: no answer within 10 s, and it is not asked any more. Use the runstop; press again.", "bad");
  }
  if (performance.now() - call.begun > GIVE_UP_MS) { answer("NOT STOPPED: no answer from the station. Use the runstop, or cut the power.", "bad"); }
  if (stops.readyState === WebSocket.OPEN && stops.bufferedAmount === 0) stops.send(JSON.stringify({ token: call.token, cars: call.cars }));
  const query = call.cars.map((name) => "car=" + encodeURIComponent(name)).join("&");
  fetch("/stop?" + query, { keepalive: true }).then((it) => it.json()).then((rows) => rows.forEach((row) => hear({ ...row, token: call.token })), () => {});
  setTimeout(() => ask(call), AGAIN_MS);
}
function hear(row) {
  if (!asked || row.token !== asked.token || asked.isOver) return;
  const before = asked.rows.get(row.name);
  if (row.name) asked.rows.delete("");  // "others have not answered yet" is over with a car's own word
  if (!before || row.is_seen) asked.rows.set(row.name, row);
  const rows = [...asked.rows.values()];
  answer(told(rows), rows.every((it) => it.is_seen) ? "good" : "bad");
}
// Failures first, and no more names than can be read at a glance
export function named(names) {
  return names.length > NAMED ? `${names.slice(0, NAMED).join(", ")} and ${names.length - NAMED} more` : names.join(", ");
}
function told(rows) {
  const heard = rows.filter((it) => it.is_seen), silent = rows.filter((it) => !it.is_seen);
  const lines = silent.length ? [`NOT: ${named(silent.map((it) => it.name || it.text))}. Use the runstop, or cut the power.`] : [];
  if (heard.length) lines.push(`${heard.length} of ${rows.length} acknowledged after ${Math.max(...heard.map((it) => it.took_ms || 0)).toFixed(0)} ms`);
  const said = heard.filter((it) => it.answer === "said");  // of another machine, and without a token here
  if (said.length) lines.push(`Not proven, so look: ${named(said.map((it) => it.name))}`);
  return lines.join("\n");
}
let tell = () => {};
export function onAnswer(hear) { tell = hear; }
export function show(text, kind) { at("answer").className = kind; put(at("answer"), text); }
export function answer(text, kind) { show(text, kind); tell(text, kind); }
