// The state of the page, and the link that stands for it.

import { STORIES, TOUR, drawQuestion } from "./explorer-lessons.js";
import { fitLabels } from "./explorer-words.js";

export const LARGEST_GOAL = 50;
export const LARGEST_BY_STATE = 12; // the largest goal whose states may have chances of their own
export const THRESHOLDS = ["best", "0", "1", "all"];
export const PROBLEM = ["goal", "pC", "pF", "start", "own"]; // what a question asks about
export const VIEWS = ["projector", "embed"];
export const USUAL = {
  goal: 4, pC: 0.45, pF: 0.3, start: 2, gamma: 15, threshold: "best", own: {},
  labels: { states: [], actions: [], cases: [] },
  view: "", story: "", tour: 0, predict: 0, seed: 1, luck: 8, race: "0-best",
};

/** The numbers of the state: their names in a link, their limits, and whether they are whole. */
export const NUMBERS = {
  goal: { name: "G", least: 2, most: () => LARGEST_GOAL, whole: true },
  pC: { name: "pC", least: 0, most: () => 1 },
  pF: { name: "pF", least: 0, most: () => 1 },
  start: { name: "start", least: 1, most: (state) => state.goal - 1, whole: true },
  gamma: { name: "gamma", least: 0, most: () => 100 },
};

/** The whole numbers without a slider: a step of the tour, a question, its seed, and the luck. */
const EXTRAS = {
  tour: { least: 0, most: () => TOUR.length, whole: true },
  predict: { least: 0, most: () => 999, whole: true },
  seed: { least: 0, most: () => 2 ** 32 - 1, whole: true },
  luck: { least: 1, most: () => 9999, whole: true },
};
const LABELS = { states: "states", actions: "actions", cases: "case" };

/** Return the number that a text stands for within its limits, or what there was if it is none. */
export function readNumber(key, text, state) {
  const { least, most, whole } = NUMBERS[key] ?? EXTRAS[key];
  const value = Number(text);
  if (String(text).trim() === "" || !Number.isFinite(value)) return state[key];
  return Math.min(Math.max(whole ? Math.round(value) : value, least), most(state));
}

/** Return a state within all limits: a smaller goal may push the start down.
 *
 * A question sets the problem; its goal is drawn, too, unless the states have words.
 */
export function within(state) {
  if (state.predict) {
    const named = fitLabels(state).fit.states.length > 0;
    return { ...state, ...drawQuestion(state.seed, state.predict, named ? state.goal : null) };
  }
  const start = state.start === "uniform" ? state.start : readNumber("start", state.start, state);
  return { ...state, start };
}

/** Return the threshold that the cases are played with; `best` is the optimal one. */
export function playedThreshold(state, best) {
  return { best, 0: 0, 1: 1, all: state.goal - 1 }[state.threshold];
}

/** Name the chances of one kind, pC or pF, that the states may have of their own, in their order. */
export function ownNames({ goal }, key) {
  const states = goal <= LARGEST_BY_STATE ? goal - 1 : 0;
  return Array.from({ length: states }, (_, k) => `${key}${k + 1}`);
}

/** Return the chances by state: its own, or else the common one. */
export function chainOf(state) {
  const of = (key) => ownNames(state, key).map((name) => state.own[name] ?? state[key]);
  return { pC: of("pC"), pF: of("pF") };
}

/** Return the state that a link stands for; whatever it leaves out or garbles is as usual. */
export function readLink(hash) {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const state = { ...USUAL };
  const take = (key, name) => {
    if (given.has(name)) state[key] = readNumber(key, given.get(name), state);
  };
  take("tour", "tour");
  Object.assign(state, TOUR[state.tour - 1]?.sets);
  for (const [key, { name }] of Object.entries(NUMBERS)) take(key, name);
  for (const key of Object.keys(EXTRAS)) take(key, key);
  if (given.get("start") === "uniform") state.start = "uniform";
  if (THRESHOLDS.includes(given.get("threshold"))) state.threshold = given.get("threshold");
  const rules = given.get("race")?.split("-") ?? [];
  if (rules.length === 2 && rules.every((rule) => THRESHOLDS.includes(rule))) {
    state.race = rules.join("-");
  }
  if (VIEWS.includes(given.get("view"))) state.view = given.get("view");
  if (Object.hasOwn(STORIES, given.get("story"))) state.story = given.get("story");
  const read = (key) => ownNames(state, key)
    .map((name) => [name, readNumber(key, given.get(name) ?? "", {})])
    .filter(([, value]) => value !== undefined);
  state.own = Object.fromEntries([...read("pC"), ...read("pF")]);
  state.labels = readLabels((name) => given.get(name));
  return within(state);
}

/** Return the words for states, actions and cases; those between commas, without spaces around. */
function readLabels(get) {
  const split = (name) => (get(name) ?? "").split(",").map((word) => word.trim());
  const given = (words) => (words.join("") ? words : []);
  return Object.fromEntries(
    Object.entries(LABELS).map(([key, name]) => [key, given(split(name))]));
}

/** Return the state that a story begins with. */
export function tellStory(story, { view, gamma }) {
  const told = STORIES[story];
  const labels = readLabels((name) => told[{ case: "cases" }[name] ?? name]);
  return { ...USUAL, view, gamma, ...told.sets, labels, story };
}

/** Return the link that stands for a state; what is as usual beside the sliders is left out. */
export function writeLink(state) {
  const pairs = Object.entries(NUMBERS).map(([key, { name }]) => [name, state[key]]);
  const own = [...ownNames(state, "pC"), ...ownNames(state, "pF")]
    .filter((name) => name in state.own)
    .map((name) => [name, state.own[name]]);
  const { fit } = fitLabels(state);
  const labels = Object.entries(LABELS)
    .filter(([key]) => fit[key].length)
    .map(([key, name]) => `&${name}=${fit[key].map(encodeURIComponent).join(",")}`);
  const usual = { ...USUAL, ...TOUR[state.tour - 1]?.sets, tour: 0 };
  const rest = ["story", "view", "race", ...Object.keys(EXTRAS)]
    .filter((key) => state[key] !== usual[key])
    .map((key) => [key, state[key]]);
  const numbers = new URLSearchParams([...pairs, ["threshold", state.threshold], ...own]);
  const more = rest.length ? `&${new URLSearchParams(rest)}` : "";
  return `#${numbers}${labels.join("")}${more}`;
}
