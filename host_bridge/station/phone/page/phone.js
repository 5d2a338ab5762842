// Cars and one big Stop on a phone; a hold too, where the certificate is trusted.
import { endHold, isDriving, layPad, leave, seen, take } from "/hold.js";
const LOST_MS = 400, POLL_MS = 250, AGAIN_MS = 300, GIVE_UP_MS = 10000;
const at = (id) => document.getElementById(id), isSecure = location.protocol === "https:";
const page = { cars: [], heard: 0, way: "", lost: true, lostAfterMs: null, seen, mayDrive: false };
window.tandem = page;  // for tests, and for who looks into the console
const key = new URLSearchParams(location.hash.slice(1)).get("key") || "";

// --- the state: by socket, else by event stream, else by asking each 250 ms

function show(state) {
  page.heard = performance.now(); page.cars = state.cars;
  if (page.lost) { page.lost = false; document.body.classList.remove("lost"); }
  at("link").textContent = `${state.cars.length} cars, by ${page.way}` + (state.seat ? `; ${state.seat.by} drives ${state.seat.cars.join(", ")}` : "");
  at("cars").replaceChildren(...state.cars.map(tile));
  const chosen = at("car").value, names = state.cars.map((it) => it.name);
  if ([...at("car").options].map((it) => it.value).join("\n") !== names.join("\n")) at("car").replaceChildren(...names.map((it) => new Option(it, it, it === chosen, it === chosen)));
  at("take").hidden = isDriving(); at("give").hidden = !isDriving();
}
function tile(car) {
  const it = document.createElement("article"), head = document.createElement("h2"), word = document.createElement("b"), why = document.createElement("p"), stop = document.createElement("button");
  const isStale = !car.is_known || car.age_ms === null || car.age_ms > 500;
  it.className = `${car.is_armed ? "armed" : ""} ${Math.abs(car.speed_mps || 0) > 0.02 ? "moves" : ""} ${isStale ? "stale" : ""}`;
  head.textContent = `${car.number} ${car.name}`;
  word.textContent = isStale ? `${car.word || "?"}, ${((car.age_ms || 0) / 1000).toFixed(1)} s old` : `${car.word} ${Math.abs(car.speed_mps || 0).toFixed(2)} m/s`;
  why.textContent = car.why || (car.driver ? `driven by ${car.driver}` : "");
  stop.type = "button"; stop.textContent = `Stop ${car.name}`; stop.onpointerdown = () => stopCars([car.name]);
  it.append(head, word, why, stop);
  return it;
}
let opened = 0;
function bySocket() {
  const socket = new WebSocket(`${isSecure ? "wss" : "ws"}://${location.host}/status?key=${encodeURIComponent(key)}`);
  const ping = setInterval(() => socket.readyState === WebSocket.OPEN && socket.bufferedAmount === 0 && socket.send("1"), 100);
  let came = false;
  socket.onmessage = ({ data }) => { came = true; page.way = "socket"; show(JSON.parse(data)); };
  socket.onclose = () => { clearInterval(ping); if (came || ++opened % 3) setTimeout(bySocket, 200); else byStream(); };
}
function byStream() {
  if (!window.EventSource) return byAsking();
  const stream = new EventSource(`/events?key=${encodeURIComponent(key)}`);
  let came = false;
  stream.onmessage = ({ data }) => { came = true; page.way = "event stream"; show(JSON.parse(data)); };
  stream.onerror = () => { if (came) { came = false; return; } stream.close(); byAsking(); };
}
function byAsking() {
  fetch(`/state?key=${encodeURIComponent(key)}`).then((it) => it.json()).then((state) => { page.way = "asking"; show(state); }).catch(() => {}).finally(() => setTimeout(page.way === "asking" ? byAsking : bySocket, POLL_MS));
}
setInterval(() => {
  const silent = performance.now() - page.heard;
  if (page.lost || silent < LOST_MS) return;
  page.lost = true; page.lostAfterMs = silent;
  document.body.classList.add("lost");
  at("link").textContent = "The station is not heard. Cars may be moving";
  endHold("network");
  if (navigator.vibrate) navigator.vibrate(200);
}, 25);

// --- stop: by a socket of its own and as plain requests, until it is answered

let stopSocket = null, token = 0, answered = 0;
function openStops() {
  stopSocket = new WebSocket(`${isSecure ? "wss" : "ws"}://${location.host}/stop`);
  stopSocket.onmessage = ({ data }) => { const row = JSON.parse(data); answered = Math.max(answered, row.token); at("answer").textContent = row.text; };
  stopSocket.onclose = () => setTimeout(openStops, 500);
}
export function stopCars(cars) {
  endHold("stop");
  const mine = ++token, began = performance.now();
  at("answer").textContent = "Stop is sent; no car has answered yet";
  const again = async () => {
    if (stopSocket && stopSocket.readyState === WebSocket.OPEN) stopSocket.send(JSON.stringify({ cars, token: mine }));
    fetch(`/stop?${cars.map((it) => `car=${encodeURIComponent(it)}`).join("&")}`, { keepalive: true }).then((it) => it.json()).then((rows) => { answered = Math.max(answered, mine); at("answer").textContent = rows.map((it) => it.text).join("; "); }).catch(() => {});
    const silent = performance.now() - began;
    if (answered < mine && silent < GIVE_UP_MS) setTimeout(again, AGAIN_MS);
    else if (answered < mine) at("answer").textContent = "NO ANSWER to Stop for 10 s";
  };
  again();
}
at("stop").addEventListener("pointerdown", () => stopCars([]));
at("stop").addEventListener("click", (event) => { if (event.detail === 0) stopCars([]); });  // a key

// --- what a trusted certificate adds

async function keepAwake() {
  if (!("wakeLock" in navigator) || document.visibilityState !== "visible") return;
  try { page.wakeLock = await navigator.wakeLock.request("screen"); } catch { page.wakeLock = null; }
}
async function begin() {
  at("unproven").hidden = isSecure;
  const driveKey = new URLSearchParams(location.hash.slice(1)).get("drive");
  if (isSecure && driveKey) {
    const told = await fetch(`/exchange?key=${encodeURIComponent(driveKey)}`);
    history.replaceState(null, "", "/seat");
    if (!told.ok) at("told").textContent = "This code counts no more: ask for another one";
    page.mayDrive = told.ok;
  }
  at("seat").hidden = location.pathname !== "/seat";
  at("steps").hidden = location.pathname === "/seat";
  if (location.pathname !== "/seat") {
    const facts = await (await fetch("/facts")).json();
    at("fingerprint").textContent = facts.fingerprint; at("trust").href = facts.trust + location.hash;
  }
  at("take").onclick = () => { const it = page.cars.find((car) => car.name === at("car").value); if (it) take(it.name, it.board, "phone", (text) => { at("told").textContent = text; }); };
  at("give").onclick = leave;
  layPad(); openStops(); bySocket(); keepAwake();
  document.addEventListener("visibilitychange", keepAwake);
}
begin();
