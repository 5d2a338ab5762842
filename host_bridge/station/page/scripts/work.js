// What neither stops nor drives: a car and its twin, recording, trim and configuration. It has a socket of its own, and the
// station does each of it in a program of its own; station.js knows nothing of it.
import { TOKEN, address, at, make, put, seen } from "/scripts/dom.js";
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
const number = (value, digits) => value === null ? "–" : value.toFixed(digits);
// [words, amount with unit, part of its limit, whether it is beyond]
function rows(pair) {
  const isSkew = pair.skew_ms !== null;
  const said = [["Skew", `${number(pair.skew_ms, 1)} ms`, isSkew ? pair.skew_ms / SKEW_LIMIT_MS : 0, false, `limit ${SKEW_LIMIT_MS} ms`]];
  for (const it of pair.differences) said.push([NAMES[it.what] || it.what, `${it.amount.toFixed(it.what === "steering" ? 3 : 2)} ${it.unit}`, it.amount / it.limit, it.differs, `limit ${it.limit} ${it.unit}`]);
  return said;
}
function showTogether(picture) {
  const pairs = picture.together || [], section = at("together");
  section.hidden = !pairs.length;
  const names = pairs.map((it) => `${it.car} ${it.twin} ${it.differences.length}`).join();
  if (section.dataset.names !== names) { section.dataset.names = names; section.replaceChildren(...pairs.map(layPair)); }
  pairs.forEach((pair, n) => rows(pair).forEach(([, amount, part, differs, limit], row) => fillRow(section.children[n].querySelector("dl"), row, amount, part, differs, limit)));
}
function layPair(pair) {
  const it = make("div", "pair"), list = make("dl");
  it.append(make("h2", "", `${pair.car} and ${pair.twin}: the same commands`));
  for (const [words] of rows(pair)) { const bar = make("span", "amount"); bar.append(make("i"), make("u")); list.append(make("dt", "", words), bar, make("dd")); }
  it.append(list);
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
  put(at("recorded"), it.is_on ? `recording for ${it.seconds.toFixed(0)} s, ${size(it.bytes)}: ${it.file}` : it.words);
}
export function mark() {  // with the word that was typed, or its number
  if (!at("record").classList.contains("on")) return;
  ask({ do: "mark", text: at("mark-word").value.trim() }, (said) => put(at("marked"), said.is_done ? `${at("mark-word").value.trim() || "Mark"} set` : said.text));
  at("mark-word").value = "";
}
at("mark").onclick = mark;
at("record").onclick = () => ask({ do: at("record").classList.contains("on") ? "end recording" : "record" });

// --- trim and configuration, while somebody says that the wheels are off the ground

const chosen = () => at("car").value;
const attested = () => at("offground").checked ? { attest: "wheels-off-ground" } : {};
function adjust(asked, hear) {
  put(at("adjusted"), "asking the car ...");
  at("adjusted").className = "";
  ask({ car: chosen(), ...attested(), ...asked }, (said) => {
    put(at("adjusted"), said.is_done ? `${chosen()}: ${asked.words || "done"}` : said.text);
    at("adjusted").className = said.is_done ? "good" : "bad";
    if (said.is_done) hear(said);
  });
}
function field(name, words, unit, value, low, high, step) {
  const it = make("label", "field"), input = make("input"), said = make("output");
  Object.assign(input, { type: "range", name, min: low, max: high, step, value });
  const say = () => put(said, `${words} ${Number(input.value) > 0 && low < 0 ? "+" : ""}${input.value} ${unit}, ${low} to ${high}`);
  input.oninput = say; say();
  it.append(said, input);
  return it;
}
function fill(form, fields, label, send) {
  const button = make("button", "", label);
  button.type = "submit";
  form.replaceChildren(...fields, button);
  form.onsubmit = (event) => {
    event.preventDefault();
    send(Object.fromEntries([...form.querySelectorAll("input")].map((it) => [it.name, Number(it.value)])));
  };
}
function showTrims(said) {
  fill(at("trims"), said.rows.map((it) => field(String(it.channel), `${it.kind}, channel ${it.channel}, at rest ${it.rest_us.toFixed(0)} us: trim`, "us", it.trim_us, -200, 200, 1)), "Write the trim",
    (changes) => adjust({ do: "trim", changes, words: "trim written and read back" }, showTrims));
}
function showConfig(said) {
  const table = make("table"), head = make("tr");
  for (const words of ["parameter", "value", "unit", "lowest", "highest", "its file"]) head.append(make("th", "", words));
  table.append(head, ...said.rows.map((it) => {
    const row = make("tr", it.file === it.value ? "" : "differs");
    for (const key of ["name", "value", "unit", "low", "high", "file"]) row.append(make("td", "", String(it[key])));
    return row;
  }));
  at("parameters").replaceChildren(make("p", "", "All but the beat are changed in the vehicle file: tandem config write"), searchOf(table), table);
  const beat = said.rows.find((it) => it.name === "step_us");
  fill(at("changes"), [field("step_s", "beat, step_s", "s", beat.value / 1e6, 0.01, 0.02, 0.001)], "Write the beat",
    (changes) => adjust({ do: "write", changes, words: "written and read back" }, () => readConfig()));
}
function searchOf(table) {  // by a part of a name or a unit; "differs" finds what is not as in the vehicle file
  const it = make("label", "", "Search "), field = make("input"), count = make("output"), rows = [...table.rows].slice(1);
  Object.assign(field, { type: "search", id: "find-parameter", placeholder: "steer, mv, differs" });
  field.oninput = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) row.hidden = !words.every((word) => word === "differs" ? row.className === "differs" : row.textContent.toLowerCase().includes(word));
    put(count, ` ${rows.filter((row) => !row.hidden).length} of ${rows.length}`);
  };
  field.oninput();
  it.append(field, count);
  return it;
}
const readConfig = () => adjust({ do: "config", words: "this is what its board holds" }, showConfig);
at("readtrim").onclick = () => adjust({ do: "trims", words: "this is how it is trimmed" }, showTrims);
at("readconfig").onclick = readConfig;
function showStand(picture) {
  at("stand").hidden = !TOKEN || Boolean(picture.replayed) || !at("offground").checked;
  const car = picture.cars.find((it) => it.name === chosen());
  if (car && document.body.classList.contains("onstand")) put(at("outputs"), "puts out by channel " + (car.outputs || []).join("; "));
}
at("offground").onchange = () => { for (const id of ["trims", "changes", "parameters", "adjusted"]) at(id).replaceChildren(); };

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
seen.push(showTwins, showCamera, showTogether, showRecording, showStand);
