// What a person may switch off on this device: sound at a stop, and keys of one letter (WCAG 2.1.4). The browser keeps it.
import { at } from "/scripts/dom.js";
const isOn = { sound: true, letters: true };
function keep(name) { try { localStorage.setItem(name, isOn[name] ? "on" : "off"); } catch { /* a private window keeps nothing */ } }
function wasOff(name) { try { return localStorage.getItem(name) === "off"; } catch { return false; } }
for (const name of Object.keys(isOn)) {
  const it = at("switch-" + name), show = () => it.setAttribute("aria-checked", String(isOn[name]));
  isOn[name] = !wasOff(name);
  it.onclick = () => { isOn[name] = !isOn[name]; keep(name); show(); };
  show();
}
export const sounds = () => isOn.sound, lettersAct = () => isOn.letters;
