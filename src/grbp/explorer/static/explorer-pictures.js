// The pictures that follow from the sliders alone.

import { boundary, control, forcedTries, gapAt, nearest, startMean, valueAt } from "./exact.js";
import { frame, make, path, redraw, roundTicks, shorten, text, widthOf } from "./explorer-svg.js";
import { few, ofHundred, percent, whole } from "./explorer-words.js";

const QUARTERS = [0, 0.25, 0.5, 0.75, 1];
const OTHER_GOALS = [2, 3, 5, 10, 50];
const MOST_ROUNDS = 100000;

/** Draw the chance to win from every state, under each threshold. */
export function drawValues(svg, width, state, best, words) {
  const { goal, pF, start } = state;
  const states = Array.from({ length: goal - 1 }, (_, k) => k + 1);
  const stride = Math.ceil(goal / 12);
  const ticks = Array.from({ length: goal + 1 }, (_, s) => s).filter((s) => s % stride === 0);
  const named = (threshold) =>
    `${words.shortPolicy(threshold)}${best === threshold ? ": right" : ""}`;
  const { X, Y, back, front, box, height } = frame(
    width, 252,
    { range: [0, goal], ticks, name: "first state" },
    { range: [0, 1], ticks: QUARTERS, name: [`chance to ${words.win}`, "chance to win"] },
    [
      [`continue line${best ? "" : " right"}`, named(0)],
      [`finish line${best ? " right" : ""}`, named(1)],
      ["now line", words.shortPolicy(2)],
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
    `The chance to ${words.win} from each state. From ${words.start(start)}: ` +
      `${words.policy(0)}, ${at(0)}; ${words.policy(1)}, ${at(1)}; ` +
      `${words.policy(2)}, ${percent(pF)}.`,
    back,
    ...(start === "uniform" ? [] : [mark(start)]),
    make("path", { d: `M${X(0)} ${Y(pF)}H${X(goal)}`, class: "now line" }),
    ...(best ? lines : lines.reverse()),
    front,
  );
}

/** Draw the boundary p_F = B(p_C) and the point; return what turns places to numbers. */
export function drawMap(svg, width, state, best, words) {
  const { goal, pC, pF } = state;
  const side = Math.min(width, 560);
  const axis = { range: [0, 1], ticks: QUARTERS };
  const { X, Y, back, front, box, height } = frame(
    side, undefined,
    { ...axis, name: [`${words.upChance} (p_C)`, "chance to move up (p_C)", "up (p_C)"] },
    { ...axis, name: [`${words.winChance} (p_F)`, `${words.action("finish")} (p_F)`] },
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
  const region = (x0, y0, lines, anchor) => lines.map((one, k) => text(
    X(x0), Y(y0) + 17 * k, shorten(one, 0.6 * box.width, "region"), { class: `${anchor} region` }));
  const finish = words.action("finish");
  redraw(
    svg, side, height,
    `The map for a goal of ${goal}. The point lies ` + (best
      ? `on or above the curve: it is right to ${words.policy(1)}. `
      : `below the curve: it is right ${words.policy(0).replace("never", "never to")}. `) +
      `The curve is at ${few(b)} there, and its nearest point is ${few(distance)} away.`,
    make("rect", { ...box, class: "above" }),
    make("path", { d: below, class: "under" }),
    back,
    ...others.map((g) => make("path", { d: path(curve(g)), class: "other" })),
    make("path", { d: path(line), class: "boundary" }),
    text(X(named) + 9, Y(0.4) + 5, `goal ${goal}`, { class: "start curve-name" }),
    ...region(0.035, 0.94, [`${finish} is right`, `in ${words.state(1)}`], "start"),
    ...region(0.965, 0.11, [`never`, finish], "end"),
    make("path", { d: `M${X(pC)} ${Y(pF)}V${Y(b)}`, class: "gap" }),
    make("path", { d: `M${X(pC)} ${Y(pF)}L${X(x)} ${Y(boundary(goal, x))}`, class: "margin" }),
    make("circle", { cx: X(pC), cy: Y(b), r: 3.5, class: "foot" }),
    front,
    make("circle", { cx: X(pC), cy: Y(pF), r: 7, class: "point" }),
  );
  const handle = svg.querySelector(".handle") ?? svg.appendChild(makeHandle());
  const told = `${words.upChance} ${percent(pC)}, ${words.winChance} ${percent(pF)}`;
  const now = { cx: X(pC), cy: Y(pF), "aria-valuenow": pC, "aria-valuetext": told };
  for (const [name, value] of Object.entries(now)) handle.setAttribute(name, value);
  const part = (value) => Math.min(Math.max(Math.round(value * 100) / 100, 0), 1);
  return (place) => ({
    pC: part((place.x - box.x) / box.width),
    pF: part(1 - (place.y - box.y) / box.height),
  });
}

/** Make what holds the point of the map, for a finger and for the keyboard. */
function makeHandle() {
  return make("circle", {
    r: 24, id: "point", class: "handle", tabindex: "0", role: "slider", "aria-label": "The point",
    "aria-valuemin": 0, "aria-valuemax": 1,
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
export function drawCosts(svg, width, state, best, words) {
  const { goal, start } = state;
  const mean = (at, threshold) => startMean(goal, start, (s) => at(state, threshold, s));
  const thresholds = [best, 1 - best, ...(goal > 2 ? [goal - 1] : [])];
  const right = mean(valueAt, best);
  const X = (share) => 2 + (width - 4) * share;
  const rows = thresholds.map((threshold, k) => {
    const value = mean(valueAt, threshold);
    const lost = mean(gapAt, threshold);
    const does = words.shortPolicy(threshold);
    const fewer = lost ? `${ofHundred(lost)} fewer` : "no fewer";
    const number = `${ofHundred(value)} won${k === 0 ? "" : `, ${fewer}`}`;
    return { value, lost, does, name: k === 0 ? `right: ${does}` : does, number };
  });
  // The number stands beside its words, or below them where there is no room.
  const beside = rows.every(({ name, number }) =>
    widthOf(name, "strong") + widthOf(number) + 16 <= width);
  const tall = beside ? 62 : 80;
  const drawn = rows.map(({ value, lost, name, number }, k) => {
    const y = 8 + tall * k;
    const bar = (from, to, look) =>
      make("rect", { x: X(from), y: y + tall - 42, width: X(to) - X(from), height: 22, class: look });
    return make(
      "g", {},
      text(2, y + 12, shorten(name, width - 4, "strong"), { class: "strong" }),
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
    `Of 100 ${words.many} from ${words.start(start)}: ` +
      `${rows.map(({ does, value }) => `${does}, ${ofHundred(value)} won`).join("; ")}.`,
    ...drawn, ...axis,
  );
}

/** Draw how often FINISH must have been tried by each round, for a gamma. */
export function drawControl(svg, width, { gamma }, words) {
  const most = control(gamma, MOST_ROUNDS) || 1;
  const powers = [1, 10, 100, 1000, 10000, MOST_ROUNDS];
  const counts = powers
    .slice(1)
    .map((rho) => `${whole(forcedTries(gamma, rho))} by ${words.one} ${whole(rho)}`);
  const tries = [`tries of ${words.action("finish")}`, "tries"];
  const { X, Y, back, front, height } = frame(
    width, 222,
    { range: [1, MOST_ROUNDS], log: true, ticks: powers, show: whole, name: words.many },
    { range: [0, most * 1.05], ticks: roundTicks(most, 5), show: few, name: tries },
    [
      ["finish line right", `tries that are forced, at most one with each ${words.one}`],
      ["now line", "the control function D(ρ) = γ\u00a0ln\u00a0ρ"],
    ],
  );
  const rounds = new Set();
  for (let k = 0; k <= 400; k += 1) rounds.add(Math.round(MOST_ROUNDS ** (k / 400)));
  const steps = [...rounds].map((rho) => [X(rho), Y(forcedTries(gamma, rho))]);
  const smooth = [...rounds].map((rho) => [X(rho), Y(control(gamma, rho))]);
  redraw(
    svg, width, height,
    `The number of tries of ${words.action("finish")} that are forced: ${counts.join(", ")}.`,
    back,
    make("path", { d: path(smooth), class: "now line" }),
    make("path", { d: path(steps), class: "finish line right" }),
    front,
  );
}

/** Draw the share of wins so far beside the exact chance, and where it lies in most runs. */
export function drawShares(svg, width, shares, exact, words) {
  const most = Math.max(20, shares.length);
  const { X, Y, back, front, height } = frame(
    width, 142,
    { range: [0, most], ticks: roundTicks(most, 5), show: whole, name: words.many },
    { range: [0, 1], ticks: [0, 0.5, 1], name: "share so far" },
    [["won-line", "share so far"], ["now line", `exact chance ${percent(exact)}`]],
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
      ? `After ${whole(shares.length)} ${words.many} the share so far is ${percent(shares.at(-1))}; `
      : `No ${words.one} has ended yet; `) +
      `the exact chance to ${words.win} is ${percent(exact)}.`,
    back,
    make("path", { d: `${path([...edge(1), ...edge(-1).reverse()])}Z`, class: "band" }),
    make("path", { d: `M${X(0)} ${Y(exact)}H${X(most)}`, class: "now line" }),
    make("path", { d: path(kept.map(([n, share]) => [X(n), Y(share)])), class: "won-line" }),
    front,
  );
}
