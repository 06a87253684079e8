// Pictures: elements of SVG, a frame with axes, and the way into a file.

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
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("width", width);
  svg.setAttribute("height", height);
  svg.setAttribute("aria-label", label);
  (svg.firstElementChild ?? svg.appendChild(make("g"))).replaceChildren(...parts);
}

/** Return the path through points of the picture. */
export function path(points) {
  return points.map(([x, y], k) => `${k ? "L" : "M"}${x.toFixed(2)} ${y.toFixed(2)}`).join("");
}

/** Make a frame: scales from numbers to places, and a group with grid, ticks and names of axes.
 *
 * `x` and `y` have a `range`, `ticks` (numbers), a `name` and, if need be, `show` and `log`.
 */
export function frame(width, height, x, y, margin = {}) {
  const { left, right, top, bottom } = { left: 52, right: 14, top: 14, bottom: 46, ...margin };
  const at = ({ range: [a, b], log }, from, to) => {
    const f = log ? Math.log : Number;
    return (value) => from + ((to - from) * (f(value) - f(a))) / (f(b) - f(a) || 1);
  };
  const [X, Y] = [at(x, left, width - right), at(y, height - bottom, top)];
  const group = make("g", { class: "frame" });
  for (const tick of x.ticks) {
    group.append(
      make("path", { d: `M${X(tick)} ${top}V${height - bottom}`, class: "grid" }),
      text(X(tick), height - bottom + 17, (x.show ?? String)(tick), { class: "middle" }),
    );
  }
  for (const tick of y.ticks) {
    group.append(
      make("path", { d: `M${left} ${Y(tick)}H${width - right}`, class: "grid" }),
      text(left - 7, Y(tick) + 4, (y.show ?? String)(tick), { class: "end" }),
    );
  }
  group.append(
    text((left + width - right) / 2, height - 8, x.name, { class: "middle name" }),
    text(0, 0, y.name, {
      class: "middle name",
      transform: `translate(13 ${(top + height - bottom) / 2}) rotate(-90)`,
    }),
  );
  const box = { x: left, y: top, width: width - right - left, height: height - bottom - top };
  return { X, Y, group, box, outline: make("rect", { ...box, class: "outline" }) };
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
  const [width, height] = [svg.width.baseVal.value, svg.height.baseVal.value + 24];
  const note = text(2, height - 7, facts, { class: "start soft" });
  svg.classList.add("printed");
  svg.append(note);
  const copy = svg.cloneNode(true);
  const copied = [copy, ...copy.querySelectorAll("*")];
  [svg, ...svg.querySelectorAll("*")].forEach((element, k) => {
    const looks = getComputedStyle(element);
    for (const name of KEPT) copied[k].setAttribute(name, looks.getPropertyValue(name));
    copied[k].removeAttribute("class");
  });
  const paper = getComputedStyle(svg).getPropertyValue("--paper").trim();
  note.remove();
  svg.classList.remove("printed");
  copy.removeAttribute("id");
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
