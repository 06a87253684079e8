// The pictures that follow from the sliders alone.

import { boundary, control, forcedTries, gapAt, nearest, startMean, valueAt } from "./exact.js";
import { frame, make, path, redraw, roundTicks, text, widthOf } from "./explorer-svg.js";
import { few, ofHundred, percent, startWords, whole } from "./explorer-words.js";

const QUARTERS = [0, 0.25, 0.5, 0.75, 1];
const OTHER_GOALS = [2, 3, 5, 10, 50];
const MOST_ROUNDS = 100000;
const SHORT = { 0: "never finish", 1: "finish in state 1" };

/** Draw the chance to win from every state, under each threshold. */
export function drawValues(svg, width, state, best) {
  const { goal, pF, start } = state;
  const states = Array.from({ length: goal - 1 }, (_, k) => k + 1);
  const stride = Math.ceil(goal / 12);
  const ticks = Array.from({ length: goal + 1 }, (_, s) => s).filter((s) => s % stride === 0);
  const named = (threshold) =>
    `threshold ${threshold}: ${SHORT[threshold]}${best === threshold ? " (right)" : ""}`;
  const { X, Y, back, front, box, height } = frame(
    width, 252,
    { range: [0, goal], ticks, name: "first state" },
    { range: [0, 1], ticks: QUARTERS, name: "chance to win" },
    [
      [`continue line${best ? "" : " right"}`, named(0)],
      [`finish line${best ? " right" : ""}`, named(1)],
      ["now line", "finish at once, in any state: p_F"],
    ],
  );
  const lines = [0, 1].map((threshold) => {
    const points = states.map((s) => [X(s), Y(valueAt(state, threshold, s))]);
    const look = `${threshold ? "finish" : "continue"} line${best === threshold ? " right" : ""}`;
    const dot = ([cx, cy]) => make("circle", { cx, cy, r: 3.5, class: `${look} dot` });
    const dead = threshold ? [] : [[X(0), Y(0)]]; // threshold 1 never comes there by continuing
    const line = make("path", { d: path([...dead, ...points, [X(goal), Y(1)]]), class: look });
    return make("g", {}, line, ...(goal <= 15 ? points.map(dot) : []));
  });
  const mark = (s) => make("path", { d: `M${X(s)} ${box.y}V${box.y + box.height}`, class: "mark" });
  const at = (threshold) => percent(startMean(goal, start, (s) => valueAt(state, threshold, s)));
  redraw(
    svg, width, height,
    `The chance to win from each state. From ${startWords(start)} it is ${at(0)} with ` +
      `threshold 0, ${at(1)} with threshold 1, and ${percent(pF)} by finishing at once.`,
    back,
    ...(start === "uniform" ? [] : [mark(start)]),
    make("path", { d: `M${X(0)} ${Y(pF)}H${X(goal)}`, class: "now line" }),
    ...(best ? lines : lines.reverse()),
    front,
  );
}

/** Draw the boundary p_F = B(p_C) and the point; return what turns places to numbers. */
export function drawMap(svg, width, state, best) {
  const { goal, pC, pF } = state;
  const side = Math.min(width, 560);
  const axis = { range: [0, 1], ticks: QUARTERS };
  const { X, Y, back, front, box, height } = frame(
    side, undefined,
    { ...axis, name: ["p_C, the chance that CONTINUE moves up", "p_C: CONTINUE moves up"] },
    { ...axis, name: ["p_F, the chance that FINISH wins", "p_F: FINISH wins"] },
  );
  const curve = (g) => {
    // The curve bends within a few 1/G of 1/2 and is smooth elsewhere.
    const even = Array.from({ length: 201 }, (_, k) => k / 200);
    const bend = Array.from({ length: 97 }, (_, k) => 0.5 + (k - 48) / 4 / g);
    const xs = [...even, ...bend.filter((x) => x > 0 && x < 1)].sort((a, b) => a - b);
    return xs.map((x) => [X(x), Y(boundary(g, x))]);
  };
  const line = curve(goal);
  const below = `${path(line)}L${X(1)} ${Y(0)}Z`;
  const b = boundary(goal, pC);
  const { x, distance } = nearest(state);
  const named = invert(goal, 0.4);
  const others = OTHER_GOALS.filter((g) => g !== goal);
  const words = (x0, y0, lines, anchor) =>
    lines.map((one, k) => text(X(x0), Y(y0) + 17 * k, one, { class: `${anchor} region` }));
  redraw(
    svg, side, height,
    `The boundary for G = ${goal}. The point p_C = ${few(pC)}, p_F = ${few(pF)} lies ` +
      (best ? "on or above it: FINISH is right in state 1. " : "below it: FINISH is never right. ") +
      `The boundary is at ${few(b)} there, and the nearest point of it is ${few(distance)} away.`,
    make("rect", { ...box, class: "above" }),
    make("path", { d: below, class: "under" }),
    back,
    ...others.map((g) => make("path", { d: path(curve(g)), class: "other" })),
    make("path", { d: path(line), class: "boundary" }),
    text(X(named) + 9, Y(0.4) + 5, `G = ${goal}`, { class: "start curve-name" }),
    ...words(0.035, 0.94, ["FINISH in state 1", "is right (threshold 1)"], "start"),
    ...words(0.965, 0.11, ["never FINISH", "(threshold 0)"], "end"),
    make("path", { d: `M${X(pC)} ${Y(pF)}V${Y(b)}`, class: "gap" }),
    make("path", { d: `M${X(pC)} ${Y(pF)}L${X(x)} ${Y(boundary(goal, x))}`, class: "margin" }),
    make("circle", { cx: X(pC), cy: Y(b), r: 3.5, class: "foot" }),
    front,
    make("circle", { cx: X(pC), cy: Y(pF), r: 7, class: "point" }),
  );
  const handle =
    svg.querySelector(".handle") ?? svg.appendChild(make("circle", { r: 24, class: "handle" }));
  handle.setAttribute("cx", X(pC));
  handle.setAttribute("cy", Y(pF));
  const part = (value) => Math.min(Math.max(Math.round(value * 100) / 100, 0), 1);
  return (place) => ({
    pC: part((place.x - box.x) / box.width),
    pF: part(1 - (place.y - box.y) / box.height),
  });
}

/** Return the p_C at which the boundary is at a height, nearly enough for a word. */
function invert(goal, height) {
  let [low, high] = [0, 1];
  while (high - low > 1e-3) {
    const middle = (low + high) / 2;
    [low, high] = boundary(goal, middle) < height ? [middle, high] : [low, middle];
  }
  return low;
}

/** Draw how many of 100 cases are won with each choice, and how many the best one wins beyond. */
export function drawCosts(svg, width, state, best) {
  const { goal, start } = state;
  const mean = (at, threshold) => startMean(goal, start, (s) => at(state, threshold, s));
  const thresholds = [best, 1 - best, ...(goal > 2 ? [goal - 1] : [])];
  const right = mean(valueAt, best);
  const X = (share) => 2 + (width - 4) * share;
  const rows = thresholds.map((threshold, k) => {
    const value = mean(valueAt, threshold);
    const lost = mean(gapAt, threshold);
    const does = SHORT[threshold] ?? "finish at once";
    const fewer = lost ? `${ofHundred(lost)} fewer` : "no fewer";
    const number = `${ofHundred(value)} won${k === 0 ? "" : `, ${fewer}`}`;
    return { value, lost, does, words: k === 0 ? `right: ${does}` : does, number };
  });
  // The number stands beside its words, or below them where there is no room.
  const beside = rows.every(({ words, number }) =>
    widthOf(words, "strong") + widthOf(number) + 16 <= width);
  const tall = beside ? 62 : 80;
  const drawn = rows.map(({ value, lost, words, number }, k) => {
    const y = 8 + tall * k;
    const bar = (from, to, look) =>
      make("rect", { x: X(from), y: y + tall - 42, width: X(to) - X(from), height: 22, class: look });
    return make(
      "g", {},
      text(2, y + 12, words, { class: "strong" }),
      beside ? text(width - 2, y + 12, number, { class: "end" }) : text(2, y + 30, number),
      bar(0, 1, "track"),
      bar(0, value, "won"),
      ...(lost ? [bar(value, Math.max(right, value), "lost")] : []),
    );
  });
  const height = tall * rows.length + 22;
  const axis = QUARTERS.map((share) => {
    const anchor = share === 0 ? "start" : share === 1 ? "end" : "middle";
    return text(X(share), height - 6, `${100 * share}`, { class: `${anchor} soft` });
  });
  redraw(
    svg, width, height,
    `Of 100 cases from ${startWords(start)}: ` +
      `${rows.map(({ does, value }) => `${does} wins ${ofHundred(value)}`).join("; ")}.`,
    ...drawn, ...axis,
  );
}

/** Draw how often FINISH must have been tried by each round, for a gamma. */
export function drawControl(svg, width, { gamma }) {
  const most = control(gamma, MOST_ROUNDS) || 1;
  const powers = [1, 10, 100, 1000, 10000, MOST_ROUNDS];
  const counts = powers
    .slice(1)
    .map((rho) => `${whole(forcedTries(gamma, rho))} by round ${whole(rho)}`);
  const { X, Y, back, front, height } = frame(
    width, 222,
    { range: [1, MOST_ROUNDS], log: true, ticks: powers, show: whole, name: "round ρ" },
    { range: [0, most * 1.05], ticks: roundTicks(most, 5), show: few, name: "tries of FINISH" },
    [
      ["finish line right", "tries that are forced, at most one a round"],
      ["now line", "the control function D(ρ) = γ\u00a0ln\u00a0ρ"],
    ],
  );
  const rounds = new Set();
  for (let k = 0; k <= 400; k += 1) rounds.add(Math.round(MOST_ROUNDS ** (k / 400)));
  const steps = [...rounds].map((rho) => [X(rho), Y(forcedTries(gamma, rho))]);
  const smooth = [...rounds].map((rho) => [X(rho), Y(control(gamma, rho))]);
  redraw(
    svg, width, height,
    `The number of tries of FINISH that gamma = ${few(gamma)} asks for: ${counts.join(", ")}.`,
    back,
    make("path", { d: path(smooth), class: "now line" }),
    make("path", { d: path(steps), class: "finish line right" }),
    front,
  );
}

/** Draw the share of wins so far beside the exact chance, and where it lies in most runs. */
export function drawShares(svg, width, shares, exact) {
  const most = Math.max(20, shares.length);
  const { X, Y, back, front, height } = frame(
    width, 142,
    { range: [0, most], ticks: roundTicks(most, 5), show: whole, name: "cases" },
    { range: [0, 1], ticks: [0, 0.5, 1], name: "share won" },
    [["won-line", "share won"], ["now line", `exact chance ${percent(exact)}`]],
  );
  const every = Math.ceil(shares.length / 400);
  const kept = shares
    .map((share, k) => [k + 1, share])
    .filter(([n]) => n % every === 0 || n === shares.length);
  const edge = (sign) =>
    Array.from({ length: 101 }, (_, k) => {
      const n = Math.max((most * k) / 100, 1);
      const share = exact + sign * 1.96 * Math.sqrt((exact * (1 - exact)) / n);
      return [X(n), Y(Math.min(Math.max(share, 0), 1))];
    });
  redraw(
    svg, width, height,
    (shares.length
      ? `After ${whole(shares.length)} cases the share of wins is ${percent(shares.at(-1))}; `
      : "No case has ended yet; ") + `the exact chance to win is ${percent(exact)}.`,
    back,
    make("path", { d: `${path([...edge(1), ...edge(-1).reverse()])}Z`, class: "band" }),
    make("path", { d: `M${X(0)} ${Y(exact)}H${X(most)}`, class: "now line" }),
    make("path", { d: path(kept.map(([n, share]) => [X(n), Y(share)])), class: "won-line" }),
    front,
  );
}
