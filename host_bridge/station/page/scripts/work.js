// What neither stops nor drives: a car and its twin, recording, a camera. It has a socket of its own, and the
// station does each of it in a program of its own; station.js knows nothing of it.
import { TOKEN, address, at, make, mark as attribute, put, seen } from "/scripts/dom.js";
let work = null, answers = [];
export function ask(asked, hear) {
  answers.push(hear || (() => {}));
  const text = JSON.stringify({ seat: TOKEN, ...asked });
  if (work && work.readyState === WebSocket.OPEN) return work.send(text);
  work = new WebSocket(address("/work"));
  work.onopen = () => work.send(text);
  work.onmessage = (event) => (answers.shift() || (() => {}))(JSON.parse(event.data));
  work.onclose = () => { for (const it of answers.splice(0)) it({ is_done: false, text: "the station did not answer" }); };
}

// --- a car and its twin

const SKEW_LIMIT_MS = 10;  // a control period: what is applied in one and the same is at once
const NAMES = { path: "Place", speed: "Speed", steering: "Steering", "yaw rate": "Turning" };
// [words, amount with unit, part of its limit, whether it is beyond]
function rows(pair) {
  const isSkew = pair.skew_ms !== null;
  const said = [["Skew", isSkew ? `${pair.skew_ms.toFixed(1)} ms` : "–", isSkew ? pair.skew_ms / SKEW_LIMIT_MS : 0, false, `limit ${SKEW_LIMIT_MS} ms`]];
  for (const it of pair.differences) said.push([NAMES[it.what] || it.what, `${it.amount.toFixed(it.what === "steering" ? 3 : 2)} ${it.unit}`, it.amount / it.limit, it.differs, `limit ${it.limit} ${it.unit}`]);
  return said;
}
function showTogether(picture) {
  const pairs = picture.together || [], section = at("together");
  section.hidden = !pairs.length;
  const names = pairs.map((it) => `${it.car} ${it.twin} ${it.differences.length}`).join();
  if (section.dataset.names !== names) { section.dataset.names = names; section.replaceChildren(...pairs.map(layPair)); }
  pairs.forEach((pair, n) => rows(pair).forEach(([, amount, part, differs, limit], row) => fillRow(section.children[n].querySelector("dl"), row, amount, part, differs, limit)));
  pairs.forEach((pair, n) => put(section.children[n].querySelector(".why"), pair.why_apart || ""));
}
function layPair(pair) {
  const it = make("div", "pair"), list = make("dl");
  it.append(make("h2", "", `${pair.car} and ${pair.twin}: the same commands`));
  for (const [words] of rows(pair)) { const bar = make("span", "amount"); bar.append(make("i"), make("u")); list.append(make("dt", "", words), bar, make("dd")); }
  it.append(list, make("p", "why"));
  return it;
}
function fillRow(list, row, amount, part, differs, limit) {
  const [, bar, value] = [0, 1, 2].map((n) => list.children[row * 3 + n]);
  bar.firstChild.style.width = `${(Math.min(part * 0.8, 1) * 100).toFixed(0)}%`;  // the mark of the limit stands at four fifths
  bar.title = limit;
  put(value, amount + (differs ? " DIFFERS" : ""));
  value.className = differs ? "bad" : "";
}

// --- recording

const size = (bytes) => bytes < 1e6 ? `${(bytes / 1e3).toFixed(0)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
function showRecording(picture) {
  const it = picture.recording;
  at("work").hidden = !it || !(TOKEN || it.is_on);
  if (!it) return;
  at("record").hidden = !TOKEN;
  put(at("record"), it.is_on ? "End recording" : "Record all cars");
  at("record").classList.toggle("on", it.is_on);
  at("marks").hidden = !TOKEN || !it.is_on;
  if (!it.is_on) put(at("marked"), "");
  attribute(at("recorded"), "aria-live", it.is_on ? "off" : "polite");  // its length changes each second
  put(at("recorded"), it.is_on ? `recording for ${it.seconds.toFixed(0)} s, ${size(it.bytes)}: ${it.file}` : it.words);
  at("recorded").title = at("recorded").textContent;
}
export function mark() {  // with the word that was typed, or its number
  if (!at("record").classList.contains("on")) return;
  const word = at("mark-word").value.trim();
  at("mark-word").value = "";
  ask({ do: "mark", text: word }, (said) => put(at("marked"), said.is_done ? `${word || "Mark"} set` : said.text));
}
at("mark").onclick = mark;
at("record").onclick = () => ask({ do: at("record").classList.contains("on") ? "end recording" : "record" });

// --- a camera, from a program and a site of its own; its picture begins when this page is there

let isLoaded = document.readyState === "complete";
addEventListener("load", () => { isLoaded = true; });
function showCamera(shown) {
  const it = shown.camera, picture = at("picture");
  at("camera").hidden = !it;
  if (!it) return;
  const isOld = it.age_s === null || it.age_s > 2;
  if (isLoaded && it.age_s !== null && !picture.src) { picture.src = it.url; picture.alt = `the camera ${it.source}`; }
  picture.hidden = it.age_s === null;
  picture.classList.toggle("old", isOld);
  at("pictured").className = isOld ? "bad" : "";
  put(at("pictured"), it.age_s === null ? `no picture yet: ${it.words}` : isOld ? `THE PICTURE IS ${it.age_s.toFixed(0)} s OLD: ${it.words || "nothing comes"}` : `camera ${it.source}, live`);
}
at("picture").onerror = () => at("picture").removeAttribute("src");

let twinWords = "";
function showTwins(picture) {  // why a twin that a page started has ended
  if (picture.twins === twinWords || picture.twins === undefined) return;
  twinWords = picture.twins;
  if (twinWords) put(at("told"), twinWords);
}
seen.push(showTwins, showCamera, showTogether, showRecording);
