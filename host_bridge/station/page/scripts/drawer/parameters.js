// Trim and configuration, while somebody says that the wheels are off the ground. What is written is read back and compared.
import { TOKEN, at, make, put, seen } from "/scripts/dom.js";
import { ask } from "/scripts/work.js";

const chosen = () => at("car").value;
const attested = () => at("offground").checked ? { attest: "wheels-off-ground" } : {};
let isAsking = false;
function adjust(asked, hear) {
  isAsking = true;
  put(at("adjusted"), "asking the car ...");
  at("adjusted").className = "";
  ask({ car: chosen(), ...attested(), ...asked }, (said) => {
    isAsking = false;
    put(at("adjusted"), said.is_done ? `${chosen()}: ${asked.words || "done"}` : said.text);
    at("adjusted").className = said.is_done ? "good" : "bad";
    if (said.is_done) hear(said);
  });
}

// --- trim: a slider a channel

function field(it) {
  const label = make("label", "field"), input = make("input"), said = make("output");
  Object.assign(input, { type: "range", name: String(it.channel), min: -200, max: 200, step: 1, value: it.trim_us });
  const say = () => put(said, `${it.kind}, channel ${it.channel}, at rest ${it.rest_us.toFixed(0)} µs: trim ${Number(input.value) > 0 ? "+" : ""}${input.value} µs, −200 to 200`);
  input.oninput = say; say();
  label.append(said, input);
  return label;
}
function showTrims(said) {
  const button = make("button", "", "Write the trim"), form = at("trims");
  button.type = "submit";
  form.replaceChildren(...said.rows.map(field), button);
  form.onsubmit = (event) => {
    event.preventDefault();
    adjust({ do: "trim", changes: Object.fromEntries([...form.querySelectorAll("input")].map((it) => [it.name, Number(it.value)])), words: "trim written and read back" }, showTrims);
  };
}

// --- parameters: raw ones are whole numbers; people see their units, and type in them

const DEGREES = 180 / Math.PI;
const UNITS = {  // raw: [shown, shown of one raw, digits]
  "mm/s": ["m/s", 1e-3, 3], "mm/s^2": ["m/s²", 1e-3, 3], "mm/s^3": ["m/s³", 1e-3, 3], mm: ["m", 1e-3, 3], um: ["mm", 1e-3, 3], nm: ["mm", 1e-6, 6],
  urad: ["°", DEGREES * 1e-6, 2], "urad/s": ["°/s", DEGREES * 1e-6, 1], mV: ["V", 1e-3, 2], us: ["ms", 1e-3, 3], ns: ["µs", 1e-3, 3],
  "effort per m/s": ["per m/s", 1e-4, 4], "effort per m/s per s": ["per m", 1e-4, 4], "1/10000": ["%", 1e-2, 2], "1/1000": ["%", 1e-1, 1], "1/10 km": ["1/m", 1e-4, 4],
};
const unitOf = (it) => UNITS[it.unit] || [it.unit, 1, 0];
function shown(it, raw) { const [, factor, digits] = unitOf(it); return String(Number((raw * factor).toFixed(digits))); }
const rawOf = (it, text) => Math.round(Number(text) / unitOf(it)[1]);
const words = (name) => name.replace(/_(mm?_s\d?|m_s|us|mv|urad_s|urad|um|nm_per_count|ns)$/, "").replaceAll("_", " ");
let wanted = new Map();  // what was written last, raw, by name: compared with what is read back
function origin(it) { return it.file === it.value ? "vehicle file" : `this car, its file ${shown(it, it.file)}`; }
function readBack(it) {
  if (!wanted.has(it.name)) return "";
  return wanted.get(it.name) === it.value ? " ✓ read back" : ` NOT ${shown(it, wanted.get(it.name))}`;
}
function bar(it) {  // where its value lies between its limits
  const cell = make("td", "limits"), rail = make("span"), part = it.high > it.low ? (it.value - it.low) / (it.high - it.low) : 0;
  rail.append(make("i"));
  rail.firstChild.style.width = `${(100 * Math.min(Math.max(part, 0), 1)).toFixed(1)}%`;
  cell.append(rail, make("small", "", `${shown(it, it.low)} to ${shown(it, it.high)}`));
  return cell;
}
function rowOf(it) {
  const row = make("tr", it.file === it.value ? "" : "differs"), name = make("th"), value = make("td"), from = make("td", "origin", origin(it) + readBack(it));
  name.scope = "row"; name.append(words(it.name), make("small", "", `${it.name} ${it.value}`));
  row.dataset.name = it.name;
  if (it.change) {
    const input = make("input");
    Object.assign(input, { type: "number", step: "any", min: shown(it, it.low), max: shown(it, it.change.is_most ? it.file : it.high), value: shown(it, it.value) });
    input.setAttribute("aria-label", `${words(it.name)}, ${unitOf(it)[0]}`);
    input.oninput = () => {
      const isEdited = input.value !== "" && rawOf(it, input.value) !== it.value;
      row.classList.toggle("edited", isEdited);
      put(from, isEdited ? `edited, was ${shown(it, it.value)}` : origin(it));
      showChanges();
    };
    input.parameter = it;
    value.append(input);
  } else value.textContent = shown(it, it.value);
  row.append(name, value, make("td", "", unitOf(it)[0]), bar(it), from);
  return row;
}
const edited = () => [...at("parameters").querySelectorAll("tr.edited input")];
function showChanges() {
  const count = edited().length, form = at("changes");
  form.hidden = !count;
  if (!count) return;
  if (!form.children.length) {
    const write = make("button", "next"), undo = make("button", "", "Undo");
    write.type = "submit"; undo.type = "button";
    undo.onclick = () => { for (const it of edited()) { it.value = shown(it.parameter, it.parameter.value); it.oninput(); } };
    form.append(write, undo);
    form.onsubmit = (event) => { event.preventDefault(); writeEdited(); };
  }
  put(form.firstChild, `Write ${count}, then read back`);
}
function writeEdited() {
  const inputs = edited();
  wanted = new Map(inputs.map((it) => [it.parameter.name, rawOf(it.parameter, it.value)]));
  const changes = Object.fromEntries(inputs.map((it) => [it.parameter.change.name, Number((wanted.get(it.parameter.name) * it.parameter.change.scale).toPrecision(9))]));
  adjust({ do: "write", changes, words: "written; reading it back" }, readConfig);
}
function showConfig(said) {
  const table = make("table"), head = make("tr");
  for (const text of ["parameter", "value", "unit", "limits", "from"]) head.append(make("th", "", text));
  table.append(head, ...said.rows.map(rowOf));
  at("parameters").replaceChildren(make("p", "", "Those with a field may differ in this one car; all others are changed in the vehicle file: tandem config write"), searchOf(table, said.rows), table);
  showChanges();
}
function searchOf(table, parameters) {  // by a part of a name or a unit; "differs" and "editable" find what their names say
  const it = make("label", "", "Search "), input = make("input"), count = make("output"), rows = [...table.rows].slice(1);
  const kinds = { differs: (n) => parameters[n].file !== parameters[n].value, editable: (n) => Boolean(parameters[n].change) };
  Object.assign(input, { type: "search", id: "find-parameter", placeholder: "steer, mv, differs, editable" });
  input.oninput = () => {
    const texts = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    rows.forEach((row, n) => { row.hidden = !texts.every((text) => kinds[text] ? kinds[text](n) : `${row.textContent} ${parameters[n].unit}`.toLowerCase().includes(text)); });
    put(count, ` ${rows.filter((row) => !row.hidden).length} of ${rows.length}`);
  };
  input.oninput();
  it.append(input, count);
  return it;
}
const readConfig = () => adjust({ do: "config", words: "this is what its board holds" }, showConfig);
at("readtrim").onclick = () => adjust({ do: "trims", words: "this is how it is trimmed" }, showTrims);
at("readconfig").onclick = () => { wanted = new Map(); readConfig(); };
seen.push((picture) => {
  at("stand").hidden = !TOKEN || Boolean(picture.replayed) || !at("offground").checked;
  const car = picture.cars.find((it) => it.name === chosen());
  if (car && document.body.classList.contains("onstand")) put(at("outputs"), "puts out by channel " + (car.outputs || []).join("; "));
  if (isAsking && picture.progress) put(at("adjusted"), picture.progress);
});
at("offground").onchange = () => { for (const id of ["trims", "changes", "parameters", "adjusted"]) at(id).replaceChildren(); wanted = new Map(); };
