// Chances that differ by state: their sliders, the best policy, and what the best threshold loses.

import { bestStops, chainValues, startMean } from "./exact.js";
import { chainOf, ownNames } from "./explorer-state.js";
import { frame, make, path, redraw, shorten, text } from "./explorer-svg.js";
import { ofHundred } from "./explorer-words.js";

const ROUNDING = 64 * Number.EPSILON; // values this near to each other are the same

/** An example: the nearer a kick, the surer. */
export const FIELD_GOALS = {
  goal: 6, pC: 0.5, start: "uniform", own: { pF1: 0.01, pF2: 0.02, pF3: 0.1, pF4: 0.76, pF5: 0.93 },
};

/** Solve a chain: its best policy, the best of the thresholds from the start, and what that loses.
 *
 * Where the best policy is a threshold, that one is taken; else the lowest of equally good ones.
 */
export function solveChain(state) {
  const { goal, start } = state;
  const chain = chainOf(state);
  const mean = (values) => startMean(goal, start, (s) => values[s - 1]);
  const stops = bestStops(chain);
  const values = chainValues(chain, stops);
  const policies = Array.from({ length: goal }, (_, tau) => stops.map((_, k) => k < tau));
  const same = policies.findIndex((policy) => policy.every((stop, k) => stop === stops[k]));
  const reached = policies.map((policy) => mean(chainValues(chain, policy)));
  const most = Math.max(...reached) * (1 - ROUNDING);
  const threshold = same >= 0 ? same : reached.findIndex((value) => value >= most);
  const thresholdValues = chainValues(chain, policies[threshold]);
  const lost = values.map((value, k) => {
    const less = value - thresholdValues[k];
    return less > ROUNDING * value ? less : 0;
  });
  return { stops, isThreshold: same >= 0, values, threshold, thresholdValues, lost, mean };
}

/** Say what is best, and what the best rule of one threshold loses. */
export function chainWords({ start }, solved, words) {
  const { stops, isThreshold, values, threshold, thresholdValues, lost, mean } = solved;
  const does = finishWords(stops, words);
  const simple = thresholdWords(threshold, stops.length, words);
  const [right, less] = [ofHundred(mean(values)), ofHundred(mean(thresholdValues))];
  const of = `of 100 ${words.many} from ${words.start(start)} ${words.win}`;
  if (isThreshold) return `The best rule is simple: ${does}. With it, ${right} ${of}.`;
  if (mean(lost) === 0) {
    return `The best rule: ${does}. With it, ${right} ${of}. A simple rule is as good: ${simple}.`;
  }
  return `The best rule: ${does}. With it, ${right} ${of}. With the best simple rule, ${simple}, ` +
    `${less} do, ${ofHundred(mean(lost))} fewer.`;
}

/** Say where a policy finishes. */
function finishWords(stops, words) {
  const states = stops.flatMap((stop, k) => (stop ? [k + 1] : []));
  const finish = words.does("finish");
  if (states.length === 0) return `never ${finish}`;
  if (states.length === stops.length) return `${finish} in every state`;
  const named = words.states.length ? states.map((s) => words.state(s)) : states;
  const [first, last] = [named.slice(0, -1).join(", "), named.at(-1)];
  if (words.states.length) return `${finish} in ${first ? `${first} and ${last}` : last}`;
  return `${finish} in ${first ? `states ${first} and ${last}` : `state ${last}`}`;
}

/** Say where a threshold finishes. */
function thresholdWords(threshold, states, words) {
  return finishWords(Array.from({ length: states }, (_, k) => k < threshold), words);
}

/** Draw the values of the best policy and of the best threshold, and below what each does where. */
export function drawChain(svg, width, { goal }, solved, words) {
  const { stops, values, threshold, thresholdValues } = solved;
  const simple = thresholdWords(threshold, stops.length, words);
  const stride = Math.ceil(goal / 12);
  const ticks = Array.from({ length: goal + 1 }, (_, s) => s).filter((s) => s % stride === 0);
  const { X, Y, back, front, height } = frame(
    width, 202,
    { range: [0, goal], ticks, name: "first state" },
    {
      range: [0, 1], ticks: [0, 0.25, 0.5, 0.75, 1],
      name: [`chance to ${words.win}`, "chance to win"],
    },
    [["won-line", "best rule"], ["now line", `best simple rule: ${simple}`]],
  );
  const line = (of, look) =>
    make("path", { d: path(of.map((value, k) => [X(k + 1), Y(value)])), class: look });
  const dot = (value, k) => make("circle", { cx: X(k + 1), cy: Y(value), r: 3.5, class: "won" });
  const radius = Math.min((X(1) - X(0)) * 0.42, 15);
  const [go, end] = ["continue", "finish"].map((kind) => words.action(kind));
  const key = `best rule (F: ${end}, C: ${go})`;
  const policy = (name, finishes, y) => [
    text(2, y, shorten(name, width - 4, "strong"), { class: "strong" }),
    ...finishes.flatMap((finish, k) => [
      make("circle", {
        cx: X(k + 1), cy: y + 13 + radius, r: radius, class: `state ${finish ? "finish" : "continue"}`,
      }),
      text(X(k + 1), y + 18 + radius, finish ? "F" : "C", { class: "middle strong" }),
    ]),
  ];
  const below = height + 52 + 2 * radius;
  redraw(
    svg, width, below + 22 + 2 * radius,
    `The chance to ${words.win} from each state. The best rule: ${finishWords(stops, words)}. ` +
      `The best simple rule: ${simple}.`,
    back,
    line(thresholdValues, "now line"),
    line(values, "won-line"),
    ...values.map(dot),
    front,
    ...policy(key, stops, height + 18),
    ...policy("best simple rule", stops.map((_, k) => k < threshold), below),
  );
}

/** Return the rows of the table: a first state each, and the mean over all. */
export function chainRows({ goal }, { stops, values, thresholdValues, lost }, words) {
  const average = (of) => startMean(goal, "uniform", (s) => of[s - 1]);
  const numbers = [values, thresholdValues, lost];
  const rows = stops.map((stop, k) => {
    const action = words.action(stop ? "finish" : "continue");
    return row(words.brief(k + 1), action, numbers.map((of) => of[k]));
  });
  return [...rows, row("mean", null, numbers.map(average))];
}

function row(name, action, numbers) {
  const [made, head, chosen] = ["tr", "th", "td"].map((tag) => document.createElement(tag));
  head.scope = "row";
  head.textContent = name;
  chosen.textContent = action ?? "";
  const cells = numbers.map((value) =>
    Object.assign(document.createElement("td"), { textContent: ofHundred(value) }));
  made.append(head, chosen, ...cells);
  return made;
}

/** Set the sliders of one kind of chance, and make them anew where the goal has changed. */
export function setFaders(box, state, key, moved) {
  const names = ownNames(state, key);
  if (box.children.length !== names.length) {
    box.replaceChildren(...names.map((name, k) => fader(name, key, k + 1, moved)));
  }
  chainOf(state)[key].forEach((value, k) => {
    const [shown, slider] = box.children[k].children;
    // As fine as the slider is, and short enough for a phone.
    shown.textContent = String(Number(value.toFixed(2))).replace(/^0\./, ".");
    slider.value = value;
  });
}

/** Make a slider that stands upright, with its number above and its state below. */
function fader(name, key, s, moved) {
  const [made, shown, slider, below] = ["div", "output", "input", "span"].map((tag) =>
    document.createElement(tag));
  Object.assign(slider, { type: "range", id: name, min: 0, max: 1, step: 0.01 });
  slider.setAttribute("aria-label", `p ${key.at(-1)} in state ${s}`);
  slider.setAttribute("aria-orientation", "vertical");
  slider.addEventListener("input", () => moved(name, Number(slider.value)));
  shown.htmlFor = name;
  shown.setAttribute("aria-live", "off"); // the slider itself says it
  below.textContent = s;
  made.append(shown, slider, below);
  return made;
}
