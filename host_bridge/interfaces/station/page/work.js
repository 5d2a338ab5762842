// What neither stops nor drives: a car and its twin, recording. It has a socket of its own, and the
// station does each of it in a program of its own; station.js knows nothing of it.
import { TOKEN, address, at, make, put, seen } from "/station.js";
let work = null, answers = [];
function ask(asked, hear) {
  answers.push(hear || (() => {}));
  const text = JSON.stringify({ seat: TOKEN, ...asked });
  if (work && work.readyState === WebSocket.OPEN) return work.send(text);
  work = new WebSocket(address("/work"));
  work.onopen = () => work.send(text);
  work.onmessage = (event) => (answers.shift() || (() => {}))(JSON.parse(event.data));
  work.onclose = () => { for (const it of answers.splice(0)) it({ is_done: false, text: "the station did not answer" }); };
}

// --- a car and its twin

const number = (value, digits) => value === null ? "–" : value.toFixed(digits);
function rows(pair) {
  const said = [["skew", `${number(pair.skew_ms, 1)} ms between the two`, false]];
  for (const it of pair.differences) said.push([it.what, `${number(it.amount, 3)} ${it.unit}, limit ${it.limit}`, it.differs]);
  return said;
}
function showTogether(picture) {
  const pairs = picture.together || [], section = at("together");
  section.hidden = !pairs.length;
  const text = JSON.stringify(pairs);
  if (section.dataset.shown === text) return;
  section.dataset.shown = text;
  section.replaceChildren(...pairs.map((pair) => {
    const it = make("div"), list = make("dl");
    it.append(make("h2", "", `${pair.car} and ${pair.twin}: the same commands`));
    for (const [what, words, differs] of rows(pair)) list.append(make("dt", "", what), make("dd", differs ? "bad" : "", words + (differs ? ": DIFFERS" : "")));
    it.append(list);
    return it;
  }));
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
  put(at("recorded"), it.is_on ? `recording for ${it.seconds.toFixed(0)} s, ${size(it.bytes)}: ${it.file}` : it.words);
}
at("record").onclick = () => ask({ do: at("record").classList.contains("on") ? "end recording" : "record" });

seen.push(showTogether, showRecording);
