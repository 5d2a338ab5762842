// The red flag: every car is stopped, and none can be armed until it is lifted. Raised by a press, lifted by a hold of 1 s.
import { TOKEN, address, at, put, seen } from "/scripts/dom.js";
import { ask } from "/scripts/work.js";
const LIFT_MS = 1000;
let timer = 0;
function raise() {  // any page of the station may, so it needs no token: a socket for this alone
  const socket = new WebSocket(address("/status"));
  socket.onopen = () => { socket.send(JSON.stringify({ do: "red flag", by: (at("my-name") && (at("my-name").value.trim() || at("my-name").placeholder)) || "" })); socket.close(); };
}
function begin(event) {
  if (event.type === "keydown" && (event.repeat || !["Enter", " "].includes(event.key))) return;
  event.preventDefault();
  clearTimeout(timer);
  at("lift").classList.add("held");
  timer = setTimeout(() => { end(); ask({ do: "lift flag" }); }, LIFT_MS);
}
function end() { clearTimeout(timer); at("lift").classList.remove("held"); }
export function layFlag() {
  at("flag").onclick = raise;
  for (const name of ["pointerdown", "keydown"]) at("lift").addEventListener(name, begin);
  for (const name of ["pointerup", "pointercancel", "pointerleave", "keyup", "blur"]) at("lift").addEventListener(name, end);
}
const count = (list, all) => `${list.length} of ${all} ${all === 1 ? "car" : "cars"}`;
seen.push((picture) => {
  const flag = picture.flag, there = picture.cars.filter((car) => !car.is_gone);
  at("flag").hidden = Boolean(picture.replayed);
  at("flag").disabled = Boolean(flag);
  at("flagged").hidden = !flag;
  if (!flag) return end();
  at("lift").hidden = !TOKEN;
  const missing = there.filter((car) => !flag.held.includes(car.name)).map((car) => flag.missing[car.name] ? `${car.name} (${flag.missing[car.name]})` : car.name);
  put(at("flagged").firstElementChild, `Red flag by ${flag.by}: ${count(flag.held, there.length)} held.${missing.length ? ` NOT: ${missing.join(", ")}.` : ""} None of them can be armed.`);
});
