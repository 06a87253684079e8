// Pictures: elements of SVG, words that fit, a frame with axes, and the way into a file.

/** Make an element of SVG with attributes and children; a text is a child, too. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) {
    // Thousandths of a pixel are enough, and keep files small.
    element.setAttribute(name, typeof value === "number" ? Math.round(value * 1000) / 1000 : value);
  }
  element.append(...children);
  return element;
}

/** Make a text; `p_C` in it has its letter below the line. */
export function text(x, y, words, attributes = {}) {
  const element = make("text", { x, y, ...attributes });
  words.split(/(_[A-Z])/).forEach((part, k, parts) => {
    const below = /^_[A-Z]$/.test(part);
    const after = k > 0 && /^_[A-Z]$/.test(parts[k - 1]);
    if (!below && !after) element.append(part);
    else if (below) element.append(make("tspan", { dy: 3, class: "below" }, part.slice(1)));
    else if (part) element.append(make("tspan", { dy: -3 }, part));
  });
  return element;
}

/** Draw into a picture anew: its size, what it shows in words, its parts.
 *
 * The parts are on a sheet of their own; what lies on top of it stays, for a finger may hold it.
 */
export function redraw(svg, width, height, label, ...parts) {
  const scale = scaleOf(svg);
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("width", width * scale);
  svg.setAttribute("height", height * scale);
  svg.setAttribute("aria-label", label);
  (svg.firstElementChild ?? svg.appendChild(make("g"))).replaceChildren(...parts);
}

/** Return how much larger than drawn a picture is shown. */
function scaleOf(svg) {
  return Number(getComputedStyle(svg).getPropertyValue("--scale")) || 1;
}

/** Return the width that there is to draw a picture in. */
export function roomFor(svg) {
  return Math.max(Math.floor(svg.parentElement.clientWidth / scaleOf(svg)), 260);
}

/** Return the path through points of the picture. */
export function path(points) {
  return points.map(([x, y], k) => `${k ? "L" : "M"}${x.toFixed(2)} ${y.toFixed(2)}`).join("");
}

const widths = new Map();

/** Return how wide a text is in the font that this reader has; all that is laid out rests on it. */
export function widthOf(words, look = "") {
  const key = `${look}: ${words}`;
  if (!widths.has(key)) {
    const written = text(0, 0, words, { class: look });
    const sheet = make("svg", { width: 0, height: 0 }, written);
    document.body.append(sheet);
    widths.set(key, written.getComputedTextLength());
    sheet.remove();
  }
  return widths.get(key);
}

/** Break a text into lines that fit. */
function wrap(words, room, look = "") {
  const lines = [];
  for (const word of words.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length && widthOf(longer, look) <= room) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** Shorten a text until it fits; what is left out is marked. */
export function shorten(words, room, look = "") {
  if (widthOf(words, look) <= room) return words;
  const kept = [...words];
  while (kept.length > 1 && widthOf(`${kept.join("")}…`, look) > room) kept.pop();
  return `${kept.join("").trimEnd()}…`;
}

/** Draw lines with their names below each other; return them, and where they end.
 *
 * They begin at the frame, or where there is no room at the edge of the picture.
 */
function legend(frame, width, entries) {
  const fit = entries.every(([, words]) => widthOf(words) <= width - frame - 40);
  const left = fit ? frame : 2;
  const rows = [];
  let y = 12;
  for (const [look, words] of entries) {
    rows.push(make("path", { d: `M${left} ${y}h30`, class: look }));
    for (const line of wrap(words, width - left - 40)) {
      rows.push(text(left + 38, y + 4, line));
      y += 19;
    }
  }
  return { rows, bottom: y + 2 };
}

/** Leave out ticks, evenly, until their labels are apart. */
function thin(ticks, place, label) {
  const apart = (a, b) => place(b) - place(a) >= (widthOf(label(a)) + widthOf(label(b))) / 2 + 8;
  for (let every = 1; ; every += 1) {
    const kept = ticks.filter((_, k) => k % every === 0);
    if (kept.every((tick, k) => k === 0 || apart(kept[k - 1], tick))) return kept;
  }
}

/** Make a frame, `tall` or else a square: scales from numbers to places, and what is drawn around.
 *
 * `x` and `y` have a `range`, `ticks` (numbers), a `name` and, if need be, `show` and `log`. The name
 * may be several, of which the first that fits is taken. `entries` are the looks and the names of
 * lines. Lines are drawn between `back`, the grid with its words, and `front`.
 */
export function frame(width, tall, x, y, entries = []) {
  const label = (axis) => axis.show ?? String;
  const widest = Math.max(...y.ticks.map((tick) => widthOf(label(y)(tick))));
  const left = Math.ceil(Math.max(52, widest + 27));
  const right = width - Math.ceil(Math.max(14, widthOf(label(x)(x.ticks.at(-1))) / 2 + 2));
  const { rows, bottom: top } = legend(left, width, entries);
  const bottom = top + (tall ?? right - left);
  const at = ({ range: [a, b], log }, from, to) => {
    const f = log ? Math.log : Number;
    return (value) => from + ((to - from) * (f(value) - f(a))) / (f(b) - f(a) || 1);
  };
  const [X, Y] = [at(x, left, right), at(y, bottom, top)];
  const back = make("g", { class: "frame" });
  for (const tick of thin(x.ticks, X, label(x))) {
    back.append(
      make("path", { d: `M${X(tick)} ${top}V${bottom}`, class: "grid" }),
      text(X(tick), bottom + 17, label(x)(tick), { class: "middle" }),
    );
  }
  for (const tick of y.ticks) {
    back.append(
      make("path", { d: `M${left} ${Y(tick)}H${right}`, class: "grid" }),
      text(left - 7, Y(tick) + 4, label(y)(tick), { class: "end" }),
    );
  }
  const name = (axis, room) => {
    const names = [axis.name].flat();
    return names.find((one) => widthOf(one, "name") <= room) ??
      shorten(names.at(-1), room, "name");
  };
  back.append(
    text((left + right) / 2, bottom + 38, name(x, right - left), { class: "middle name" }),
    text(0, 0, name(y, bottom - top), {
      class: "middle name",
      transform: `translate(13 ${(top + bottom) / 2}) rotate(-90)`,
    }),
  );
  const box = { x: left, y: top, width: right - left, height: bottom - top };
  const front = make("g", {}, make("rect", { ...box, class: "outline" }), ...rows);
  return { X, Y, back, front, box, height: bottom + 46 };
}

/** Return about `count` round numbers from 0 to a limit. */
export function roundTicks(most, count) {
  const rough = Math.max(most, 1e-9) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * power).find((one) => one >= rough * 0.999);
  return Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, k) => k * step);
}

const KEPT = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap",
  "stroke-linejoin", "opacity", "font-family", "font-size", "font-weight", "font-style",
  "text-anchor", "paint-order", "visibility",
];

/** Return a picture as a file of its own, with all its looks in it, in light colours. */
function standalone(svg, facts) {
  const { width, height: drawn } = svg.viewBox.baseVal;
  const notes = wrap(facts, width - 4, "soft").map((line, k) =>
    text(2, drawn + 17 + 16 * k, line, { class: "start soft" }));
  const height = drawn + 8 + 16 * notes.length;
  svg.classList.add("printed");
  svg.append(...notes);
  const copy = svg.cloneNode(true);
  const copied = [copy, ...copy.querySelectorAll("*")];
  [svg, ...svg.querySelectorAll("*")].forEach((element, k) => {
    const looks = getComputedStyle(element);
    for (const name of KEPT) copied[k].setAttribute(name, looks.getPropertyValue(name));
    copied[k].removeAttribute("class");
  });
  const paper = getComputedStyle(svg).getPropertyValue("--paper").trim();
  for (const note of notes) note.remove();
  svg.classList.remove("printed");
  copy.removeAttribute("id");
  copy.setAttribute("width", width);
  for (const handle of copy.querySelectorAll("[tabindex]")) handle.remove();
  copy.setAttribute("viewBox", `0 0 ${width} ${height}`);
  copy.setAttribute("height", height);
  copy.prepend(
    make("title", {}, svg.getAttribute("aria-label")),
    make("rect", { width, height, fill: paper }),
  );
  return { width, height, source: new XMLSerializer().serializeToString(copy) };
}

/** Hand a picture to the reader as a file: "svg", or "png" with three dots for every pixel. */
export async function download(svg, kind, name, facts) {
  const { width, height, source } = standalone(svg, facts);
  const link = document.createElement("a");
  link.href = `data:image/svg+xml,${encodeURIComponent(source)}`;
  if (kind === "png") {
    const image = new Image();
    image.src = link.href;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [3 * width, 3 * height];
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    link.href = canvas.toDataURL("image/png"); // a blob would wait until the browser is idle
  }
  link.download = `${name}.${kind}`;
  link.click();
}
