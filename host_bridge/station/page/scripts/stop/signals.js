// Tones and vibrations of a stop, for a person who looks at the car. A browser allows neither before the page was touched.
import { sounds } from "/scripts/drawer/switches.js";
const LONG_MS = 400, THREE_SHORT_MS = [120, 120, 120, 120, 120], AGAIN_MS = 2000, TONE_S = 0.35, TONE_HZ = 220, VOLUME = 0.08;
let tones = null, remindedAt = -Infinity;
const wasTouched = () => navigator.userActivation && navigator.userActivation.hasBeenActive;
function vibrate(pattern) { if (wasTouched() && navigator.vibrate) navigator.vibrate(pattern); }
function sound() {
  if (!wasTouched() || !sounds()) return;
  tones = tones || new AudioContext();
  const tone = tones.createOscillator(), volume = tones.createGain();
  tone.frequency.value = TONE_HZ; volume.gain.value = VOLUME;
  tone.connect(volume).connect(tones.destination);
  tone.start(); tone.stop(tones.currentTime + TONE_S);
}
export function signalStopped() { vibrate(LONG_MS); sound(); }
export function remind() {  // some car was told to stop and does not stand
  if (performance.now() - remindedAt < AGAIN_MS) return;
  remindedAt = performance.now();
  vibrate(THREE_SHORT_MS);
}
