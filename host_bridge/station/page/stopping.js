// Stop: its own socket, and a plain request besides, again and again until there is an answer; done is what a car says.
// The page and its bar have one each, in processes of their own.
const AGAIN_MS = 300, GIVE_UP_MS = 1500, END_MS = 10000, RETRY_MS = 500;
const at = (id) => document.getElementById(id);
const address = (path) => `ws://${location.host}${path}`;
function put(element, text) { if (element.textContent !== text) element.textContent = text; }
export { at, address, put, stop, show, onAnswer, openStops };

let stops = null, token = 0, asked = null;
function openStops() {
  stops = new WebSocket(address("/stop"));
  stops.onmessage = (event) => hear(JSON.parse(event.data));
  stops.onclose = () => setTimeout(openStops, RETRY_MS);
}
function stop(cars) {
  asked = { token: ++token, cars, begun: performance.now(), rows: new Map() };
  answer(`asking ${cars.length ? cars.join(", ") : "all cars"} to stop ...`, "");
  ask(asked);
}
function ask(call) {
  if (call !== asked || call.rows.size) return;
  if (performance.now() - call.begun > END_MS) {  // a Stop of now would stop whoever drives when the station is back
    call.isOver = true;
    return answer("NOT STOPPED, as far as is known: no answer from the station within 10 s, and it is not asked any more. Use the runstop, or cut the power; press Stop again to ask again.", "bad");
  }
  if (performance.now() - call.begun > GIVE_UP_MS) { answer("NOT STOPPED, as far as is known: no answer from the station. Use the runstop, or cut the power.", "bad"); }
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
  answer(rows.map((it) => it.text).join("\n"), rows.every((it) => it.is_seen) ? "good" : "bad");
}
let tell = () => {};
function onAnswer(hear) { tell = hear; }
function show(text, kind) { at("answer").className = kind; put(at("answer"), text); }
function answer(text, kind) { show(text, kind); tell(text, kind); }
