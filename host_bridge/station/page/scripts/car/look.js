// What a car looks like at this moment: fresh, stale or gone, its band, and its sentence.
import { ago, speedText } from "/scripts/dom.js";
export const OLD_MS = 500, GONE_MS = 3000;
export function ageMs(car, silentMs) { return car.age_ms === null ? null : car.age_ms + silentMs; }
export function look(car, silentMs) {
  const age = ageMs(car, silentMs);
  if (car.is_gone) return { is: "gone", band: "GONE", word: "GONE", age: ago(car.gone_s + silentMs / 1000), age_ms: null };
  if (age === null || !("driver" in car)) return { is: "missing", band: "NO LINK", word: car.word, age: "", age_ms: age };
  if (age >= GONE_MS) return { is: "gone", band: "GONE", word: "GONE", age: ago(age / 1000), age_ms: age };
  const state = car.last_state || car.state, isOld = age > OLD_MS;
  const band = car.is_locked && state !== "FAULT" && state !== "STOPPING" ? "STOPPED" : car.word;
  return { is: isOld ? "stale" : "fresh", band, word: car.word, age: isOld ? ago(age / 1000) : "", age_ms: age };
}
const metres = (m) => `${m.toFixed(m < 10 ? 2 : 1)} m`;
export function who(car, seat, isMine) {
  const isIn = seat && seat.cars.includes(car.name);
  if (isIn) return isMine ? "You" : seat.by;
  return car.driver && car.driver !== "nobody" ? car.driver[0].toUpperCase() + car.driver.slice(1) : "";
}
// [the part that warns, the rest]
export function sentence(car, it, seat, isMine) {
  if (it.is === "gone") {
    if (car.speed_mps === undefined || car.speed_mps === null) return ["", "Nothing is heard of it any more. See to its power."];
    if (Math.abs(car.speed_mps) < 0.02) return ["", "It stood when last heard. See to its power."];
    const far = car.blind_m === null || car.blind_m === undefined ? "" : `; unheard it stops within ${metres(car.blind_m)}`;
    return ["", `It drove ${speedText(car.speed_mps)} m/s when last heard${far}. See to its power.`];
  }
  if (it.is === "stale") return [`Nothing heard for ${it.age}.`, ` It may be moving. ${car.is_locked && !car.last_state ? car.why : ""}`.trimEnd()];
  if (it.is === "missing") return ["", car.why];
  const by = who(car, seat, isMine);
  const program = seat && seat.cars.includes(car.name) && seat.drives, hand = `${by || "Somebody"} ${by === "You" ? "drive" : "drives"}`;
  if (it.band === "DRIVING") return ["", `${program ? `${program} drives while ${isMine ? "you hold" : `${seat.by} holds`}` : hand}.${car.blind_m === null ? "" : ` Unheard, it stops in ${metres(car.blind_m)}.`}`];
  if (it.band === "ARMED") return ["", `${by ? `${by} ${by === "You" ? "have" : "has"} the seat. ` : ""}Armed and braked${by === "You" ? car.profile === "stand" ? ": slide and hold" : ": hold the pad to drive" : ""}.`];
  if (it.band === "PARKED") return ["", by ? `${by} ${by === "You" ? "have" : "has"} the seat. Not armed: nothing drives it.` : "Not armed. Nothing drives it."];
  return ["", car.why];
}
