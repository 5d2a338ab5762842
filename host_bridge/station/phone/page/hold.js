// The hold: a finger that is down, and a frame that is drawn. Each names the newest number of the
// station, and how long ago it came, so that what the network delivers late is seen to be late.
const FRAME = new DataView(new ArrayBuffer(16)), ZERO = 2 / 3;
const at = (id) => document.getElementById(id), within = (value) => Math.max(-1, Math.min(1, value));
let socket = null, isSeated = false, pointer = null, steer = 0, speed = 0, wasHeld = false, frames = 0;
let challenge = 0, came = 0, ping = 0;
export const seen = { endings: [] };
export const isDriving = () => isSeated;
function send(held) {
  if (!socket || socket.readyState !== WebSocket.OPEN || !came) return;
  if (held && socket.bufferedAmount > 0) return;  // what waits is old; a release is never left out
  FRAME.setUint8(0, 3); FRAME.setUint8(1, held ? 1 : 0);
  FRAME.setInt16(2, Math.round(steer * 32767), true); FRAME.setInt16(4, Math.round(speed * 32767), true);
  FRAME.setUint32(6, ++frames, true); FRAME.setUint32(10, challenge, true);
  FRAME.setUint16(14, Math.min(65535, Math.floor((performance.now() - came) * 10)), true);
  socket.send(FRAME.buffer);
}
function drawn() {
  requestAnimationFrame(drawn);
  const held = isSeated && pointer !== null;
  if (held && !wasHeld) send(false);  // what begins now was released before
  if (held || wasHeld) send(held);
  at("pad").classList.toggle("on", held);
  wasHeld = held;
}
export function endHold(why) {
  if (pointer !== null || wasHeld) { seen.endings.push(why); pointer = null; steer = speed = 0; send(false); wasHeld = false; }
}
function place(event) {
  const box = at("pad").getBoundingClientRect(), y = (event.clientY - box.top) / box.height;
  steer = -within((event.clientX - box.left) / box.width * 2 - 1);
  speed = within(y <= ZERO ? 1 - y / ZERO : (ZERO - y) / (1 - ZERO));
}
export function take(car, board, by, say) {
  const mine = socket = new WebSocket(`wss://${location.host}/hold`);
  let over = "The hold is over";
  mine.onopen = () => { mine.send(JSON.stringify({ car, by, boards: { [car]: board } })); ping = setInterval(() => mine.readyState === WebSocket.OPEN && mine.send("{}"), 100); };
  mine.onmessage = ({ data }) => {
    const said = JSON.parse(data);
    if (said.challenge !== undefined) { challenge = said.challenge; came = performance.now(); return; }
    if (said.is_granted) isSeated = true;
    if (said.is_over || said.is_granted === false) { over = said.why || over; leave(); }
    const [, notice, ...others] = said.lines || [];  // why it does not drive goes before how fast it may
    say(said.why || notice || others.filter(Boolean).slice(-1)[0] || (said.is_granted ? "Hold the pad to drive" : ""));
    at("pad").setAttribute("aria-disabled", String(!isSeated));
  };
  mine.onclose = () => { if (socket === mine) { leave(); say(over); } };  // a hold that was taken since is another
}
export function leave() {
  endHold("left");
  clearInterval(ping);
  if (socket && isSeated && socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ do: "end" }));
  isSeated = false; challenge = came = 0;
  if (socket) socket.close();
  at("pad").setAttribute("aria-disabled", "true");
}
export function layPad() {
  const pad = at("pad");
  pad.addEventListener("pointerdown", (event) => {
    if (pointer !== null) return endHold("second touch");
    if (!isSeated || !event.isPrimary) return;
    event.preventDefault(); pad.setPointerCapture(event.pointerId); pointer = event.pointerId; place(event);
  });
  pad.addEventListener("pointermove", (event) => { if (event.pointerId === pointer) place(event); });
  for (const [name, why] of [["pointerup", "release"], ["pointercancel", "cancel"], ["lostpointercapture", "capture lost"]])
    pad.addEventListener(name, (event) => { if (event.pointerId === pointer) endHold(why); });
  pad.addEventListener("contextmenu", (event) => event.preventDefault());
  document.addEventListener("pointerdown", (event) => { if (pointer !== null && event.pointerId !== pointer) endHold("second touch"); }, true);
  for (const [target, name, why] of [[window, "blur", "blur"], [window, "pagehide", "closed"], [window, "offline", "offline"], [window, "orientationchange", "rotation"], [document, "freeze", "frozen"], [document, "visibilitychange", "hidden"]])
    target.addEventListener(name, () => endHold(why));
  requestAnimationFrame(drawn);
}
