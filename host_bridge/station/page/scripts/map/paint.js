// The strokes of the map: each draws one thing, from metres to pixels.
const LEAST_PX = 26, EDGE_PX = 44;
export function paintGrid(pen, canvas, view, toScreen, colours) {
  const wide = canvas.clientWidth, high = canvas.clientHeight, step = view.ppm >= 24 ? 1 : view.ppm >= 8 ? 5 : 20;
  pen.fillStyle = colours.ground; pen.fillRect(0, 0, wide, high);
  pen.strokeStyle = colours.raised; pen.lineWidth = 1;
  pen.beginPath();
  for (let x = Math.floor((view.x - wide / 2 / view.ppm) / step) * step; x < view.x + wide / view.ppm; x += step) { const [px] = toScreen([x, 0]); pen.moveTo(px, 0); pen.lineTo(px, high); }
  for (let y = Math.floor((view.y - high / view.ppm) / step) * step; y < view.y + high / view.ppm; y += step) { const [, py] = toScreen([0, y]); pen.moveTo(0, py); pen.lineTo(wide, py); }
  pen.stroke();
}
export function paintFloor(pen, floor, toScreen, ppm, colours) {  // walls, and dotted the ways that programs follow
  const [x, y] = toScreen([0, 0]);
  pen.save(); pen.translate(x, y); pen.scale(ppm, -ppm);
  pen.fillStyle = colours.track; if (floor.is_track) pen.fill(floor.walls, "evenodd");
  pen.lineWidth = 2.5 / ppm; pen.strokeStyle = colours.wall; pen.stroke(floor.walls);
  pen.lineWidth = 2 / ppm; pen.strokeStyle = colours.dim; pen.setLineDash([2 / ppm, 7 / ppm]); pen.stroke(floor.ways);
  pen.restore();
}
export function paintScan(pen, points, colours) {
  pen.fillStyle = colours.lidar;
  for (const [x, y] of points) pen.fillRect(x - 1.5, y - 1.5, 3, 3);
}
export function paintTrail(pen, points, colour, isVirtual, now) {
  pen.strokeStyle = colour; pen.lineWidth = isVirtual ? 2.5 : 4; pen.setLineDash(isVirtual ? [7, 5] : []);
  for (let n = 1; n < points.length; n++) {
    pen.globalAlpha = Math.max(0.15, 1 - (now - points[n][2]) / 20000);
    pen.lineDashOffset = isVirtual ? n * 3 : 0;
    pen.beginPath(); pen.moveTo(points[n - 1][0], points[n - 1][1]); pen.lineTo(points[n][0], points[n][1]); pen.stroke();
  }
  pen.globalAlpha = 1; pen.setLineDash([]);
}
export function paintWhere(pen, [x, y], colours) {  // where a car was when its stop was latched
  pen.strokeStyle = colours.bad; pen.fillStyle = colours.ground; pen.lineWidth = 3;
  pen.beginPath(); pen.arc(x, y, 9, 0, 7); pen.fill(); pen.stroke();
  pen.beginPath(); pen.moveTo(x - 4, y - 4); pen.lineTo(x + 4, y + 4); pen.moveTo(x + 4, y - 4); pen.lineTo(x - 4, y + 4); pen.stroke();
}
export function paintStopping(pen, { car, at }, ppm, toScreen, colours) {  // the way until it stands if nothing more reaches it
  if (!car.blind_m || Math.abs(car.speed_mps) < 0.02) return;
  const bend = Math.tan((car.steer_deg || 0) * Math.PI / 180) / (car.wheelbase_m || 0.3), way = Math.sign(car.speed_mps), front = way > 0 ? (car.wheelbase_m || 0.3) * 1.2 : 0;
  let [x, y, yaw] = at;
  const points = [];
  for (let done = -front, n = 0; n <= 20; n++) {
    if (done >= 0) points.push(toScreen([x, y]));
    const step = (car.blind_m + front) / 20;
    x += way * step * Math.cos(yaw); y += way * step * Math.sin(yaw); yaw += way * step * bend; done += step;
  }
  if (points.length < 2) return;
  pen.strokeStyle = colours.armed; pen.lineWidth = Math.max(8, (car.wheelbase_m || 0.3) * 0.55 * ppm); pen.globalAlpha = 0.45;
  pen.beginPath(); points.forEach((it, n) => n ? pen.lineTo(...it) : pen.moveTo(...it)); pen.stroke();
  pen.globalAlpha = 1; pen.lineWidth = 4;
  const [[ax, ay], [bx, by]] = points.slice(-2), length = Math.hypot(bx - ax, by - ay) || 1, half = Math.max(10, (car.wheelbase_m || 0.3) * 0.5 * ppm);
  pen.beginPath(); pen.moveTo(bx - (by - ay) / length * half, by + (bx - ax) / length * half); pen.lineTo(bx + (by - ay) / length * half, by - (bx - ax) / length * half); pen.stroke();
}
export function paintCar(pen, { car, at }, it, ppm, toScreen, colours, hue) {
  const [x, y] = toScreen(at), long = Math.max(LEAST_PX, (car.wheelbase_m || 0.3) * 1.5 * ppm), half = long * 0.28;
  const tone = it.is === "fresh" ? colours[`car-${hue}`] : colours.faint;
  pen.save(); pen.translate(x, y);
  if (it.is === "gone") return tombstone(pen, colours, car);
  if (it.is === "stale") ring(pen, Math.abs(car.speed_mps) * (it.age_ms || 0) / 1000 * ppm, colours);
  pen.rotate(-at[2]);
  pen.beginPath(); pen.moveTo(-long * 0.3, -half); pen.lineTo(long * 0.42, -half); pen.lineTo(long * 0.7, 0); pen.lineTo(long * 0.42, half); pen.lineTo(-long * 0.3, half); pen.closePath();
  pen.lineWidth = 3; pen.strokeStyle = tone; pen.setLineDash(car.is_virtual ? [5, 4] : []);
  if (!car.is_virtual) { pen.fillStyle = tone; pen.fill(); pen.strokeStyle = colours.ground; pen.lineWidth = 2; }
  pen.stroke();
  pen.rotate(at[2]); pen.restore();
  const cx = x + long * 0.12 * Math.cos(at[2]), cy = y - long * 0.12 * Math.sin(at[2]);
  pen.font = "700 15px sans-serif"; pen.textAlign = "center"; pen.textBaseline = "middle"; pen.fillStyle = car.is_virtual ? tone : colours["on-car"];
  if (!car.is_virtual || car.shown_number === undefined) pen.fillText(String(car.shown_number || car.number), cx, cy);
}
function ring(pen, radius, colours) {  // it may be anywhere in here by now
  pen.strokeStyle = colours.faint; pen.lineWidth = 2; pen.setLineDash([4, 4]);
  pen.beginPath(); pen.arc(0, 0, Math.max(radius, 16), 0, 7); pen.stroke(); pen.setLineDash([]);
}
function tombstone(pen, colours, car) {
  pen.strokeStyle = colours.faint; pen.lineWidth = 2.5; pen.setLineDash([4, 3]);
  pen.beginPath(); pen.moveTo(-10, 14); pen.lineTo(-10, -2); pen.arc(0, -2, 10, Math.PI, 0); pen.lineTo(10, 14); pen.closePath(); pen.stroke(); pen.setLineDash([]);
  pen.font = "700 14px sans-serif"; pen.textAlign = "center"; pen.textBaseline = "middle"; pen.fillStyle = colours.faint; pen.fillText(String(car.number), 0, 3);
  pen.restore();
}
// How far below its car a label stands: the nearest place between the screen's edges, scale and legend that no other label has.
// A label for which there is none is not drawn: it would cover another one, and each car bears its number.
const ASIDES = [34, -58, 66, -90, 98, -122, 130, -154, 10, -34], LABEL_PX = 23;
export function labelBox([x, y], wide, canvas, taken) {
  const edge = Math.min(EDGE_PX, canvas.clientHeight / 8), lowest = canvas.clientHeight - edge - LABEL_PX;
  const place = (isRight, top) => ({ left: Math.max(4, isRight ? x + 46 : x - 46 - wide), wide, isRight, top });
  const isFree = ({ left, top }) => left + wide <= canvas.clientWidth - 4 && top >= edge && top <= lowest && !taken.some((it) => Math.abs(it.top - top) < LABEL_PX + 2 && it.left < left + wide && left < it.left + it.wide);
  const side = x < canvas.clientWidth - wide - 120, places = [side, !side].flatMap((isRight) => ASIDES.map((aside) => place(isRight, y + aside)));
  const it = places.find(isFree);
  if (it) taken.push(it);
  return it;
}
export function paintLabel(pen, { car, at }, toScreen, canvas, colours, hue, text, taken) {
  const [x, y] = toScreen(at);
  pen.font = "700 13px sans-serif";
  const box = (words) => { const it = labelBox([x, y], pen.measureText(words).width + 16, canvas, taken); return it && { ...it, words }; };
  const it = box(text) || box(text.split(" ")[0]);  // at least its number
  if (!it) return;
  pen.strokeStyle = colours.dim; pen.lineWidth = 1; pen.beginPath(); pen.moveTo(x, y); pen.lineTo(it.isRight ? it.left : it.left + it.wide, it.top + 11); pen.stroke();
  pen.fillStyle = colours.panel; pen.strokeStyle = colours[`car-${hue}`]; pen.lineWidth = 2; pen.setLineDash(car.is_virtual ? [4, 3] : []);
  pen.beginPath(); pen.roundRect(it.left, it.top, it.wide, LABEL_PX, 4); pen.fill(); pen.stroke(); pen.setLineDash([]);
  pen.fillStyle = colours.ink; pen.textAlign = "left"; pen.textBaseline = "middle"; pen.fillText(it.words, it.left + 8, it.top + 12);
}
