// A car's last stops: what went over its line 10 s before each and 2 s after, which a press writes to a log.
import { TOKEN, make, put } from "/scripts/dom.js";
import { ask } from "/scripts/work.js";

const NONE = "No stop since this station watches it. The 10 s before a stop, and 2 s after, are kept here.";
export function layBlackBox(car) {
  const it = make("section", "black-box"), list = make("ul"), said = make("p", "", NONE);
  it.dataset.car = car; it.setAttribute("aria-label", `Black box of ${car}`);
  said.setAttribute("role", "status");
  it.append(make("h3", "", "Black box"), list, said);
  return it;
}
export function fillBlackBox(it, stops) {
  const [, list, said] = it.children, shown = stops.map((stop) => `${stop.at_us} ${stop.file}`).join();
  if (list.dataset.shown === shown) return;  // else a button would be another one under the finger
  list.dataset.shown = shown;
  list.replaceChildren(...stops.map((stop) => layStop(it.dataset.car, stop, said)));
  if (said.textContent === NONE || !stops.length) put(said, stops.length ? "" : NONE);
}
function layStop(car, stop, said) {
  const row = make("li"), words = make("span", "", `${stop.when}  ${stop.words} `), span = make("small", "", `${stop.before_s.toFixed(1)} s before it`);
  words.append(span);
  row.append(words);
  if (stop.file) row.append(make("small", "", `saved: ${stop.file.split("/").pop()}`));
  else if (TOKEN) row.append(saveButton(car, stop, said));
  return row;
}
function saveButton(car, stop, said) {
  const it = make("button", "", "Save");
  it.type = "button"; it.setAttribute("aria-label", `Save the stop of ${car} at ${stop.when}`);
  it.onclick = () => {
    it.disabled = true;
    put(said, "saving ...");
    ask({ do: "save stop", car, at_us: stop.at_us }, (answer) => {
      it.disabled = false;
      said.className = answer.is_done ? "" : "bad";
      put(said, answer.is_done ? "Saved: it is in Logs, and tandem why says of it what each cause cost." : answer.text);
    });
  };
  return it;
}
