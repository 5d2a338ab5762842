// Slow lowers every cap. The red flag: every car is stopped, and none can be armed until it is lifted. Raised by a press, lifted by a hold of 1 s.
import { TOKEN, address, at, put, seen } from "/scripts/dom.js";
import { ask } from "/scripts/work.js";
const LIFT_MS = 1000;
let timer = 0;
function tell(what) {  // any page of the station may, so it needs no token: a socket for this alone
  const socket = new WebSocket(address("/status"));
  socket.onopen = () => { socket.send(JSON.stringify({ do: what, by: (at("my-name") && (at("my-name").value.trim() || at("my-name").placeholder)) || "" })); socket.close(); };
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
  at("flag").onclick = () => tell("red flag");
  at("slow").onclick = () => tell("slow");
  for (const name of ["pointerdown", "keydown"]) at("lift").addEventListener(name, begin);
  for (const name of ["pointerup", "pointercancel", "pointerleave", "keyup", "blur"]) at("lift").addEventListener(name, end);
}
function showSlow(slow) {
  at("slowed").hidden = !slow;
  if (!slow) return;
  const not = Object.entries(slow.missing).map(([name, why]) => `${name} (${why})`);
  put(at("slowed"), `${not.length ? `NOT slow: ${not.join(", ")}. ` : ""}Slow by ${slow.by}: ${slow.slow.length ? `${slow.slow.join(", ")} at most ${slow.cap_mps.toFixed(1)} m/s` : "no car is slow yet"}. Park a car to give it another cap: tandem cap.`);
}
const count = (list, all) => `${list.length} of ${all} ${all === 1 ? "car" : "cars"}`;
seen.push((picture) => {
  const flag = picture.flag, there = picture.cars.filter((car) => !car.is_gone);
  at("flag").hidden = at("slow").hidden = Boolean(picture.replayed);
  showSlow(picture.slow);
  at("flag").disabled = Boolean(flag);
  at("flagged").hidden = !flag;
  if (!flag) return end();
  at("lift").hidden = !TOKEN;
  const missing = there.filter((car) => !flag.held.includes(car.name)).map((car) => flag.missing[car.name] ? `${car.name} (${flag.missing[car.name]})` : car.name);
  put(at("flagged").firstElementChild, `Red flag by ${flag.by}: ${count(flag.held, there.length)} held.${missing.length ? ` NOT: ${missing.join(", ")}.` : ""} None of them can be armed.`);
});
