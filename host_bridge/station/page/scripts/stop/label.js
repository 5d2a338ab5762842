// The words on the big Stop: what it stops, and below in small letters how else.
import { make } from "/scripts/dom.js";
export function label(button, words, small) {
  const text = `${words}|${small}`;
  if (button.dataset.label === text) return;
  button.dataset.label = text;
  button.setAttribute("aria-label", words);
  button.replaceChildren(words, ...(small ? [make("small", "", small)] : []));
}
