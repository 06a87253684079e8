// The state of the sliders, and the link that stands for it.

export const LARGEST_GOAL = 50;
export const LARGEST_BY_STATE = 12; // the largest goal whose states may have chances of their own
export const THRESHOLDS = ["best", "0", "1", "all"];
export const USUAL = {
  goal: 4, pC: 0.45, pF: 0.3, start: 2, gamma: 15, threshold: "best", own: {},
};

/** The numbers of the state: their names in a link, their limits, and whether they are whole. */
export const NUMBERS = {
  goal: { name: "G", least: 2, most: () => LARGEST_GOAL, whole: true },
  pC: { name: "pC", least: 0, most: () => 1 },
  pF: { name: "pF", least: 0, most: () => 1 },
  start: { name: "start", least: 1, most: (state) => state.goal - 1, whole: true },
  gamma: { name: "gamma", least: 0, most: () => 100 },
};

/** Return the number that a text stands for within its limits, or what there was if it is none. */
export function readNumber(key, text, state) {
  const { least, most, whole } = NUMBERS[key];
  const value = Number(text);
  if (String(text).trim() === "" || !Number.isFinite(value)) return state[key];
  return Math.min(Math.max(whole ? Math.round(value) : value, least), most(state));
}

/** Return a state within all limits: a smaller goal may push the start down. */
export function within(state) {
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
  for (const [key, { name }] of Object.entries(NUMBERS)) {
    if (given.has(name)) state[key] = readNumber(key, given.get(name), state);
  }
  if (given.get("start") === "uniform") state.start = "uniform";
  if (THRESHOLDS.includes(given.get("threshold"))) state.threshold = given.get("threshold");
  const read = (key) => ownNames(state, key)
    .map((name) => [name, readNumber(key, given.get(name) ?? "", {})])
    .filter(([, value]) => value !== undefined);
  state.own = Object.fromEntries([...read("pC"), ...read("pF")]);
  return within(state);
}

/** Return the link that stands for a state. */
export function writeLink(state) {
  const pairs = Object.entries(NUMBERS).map(([key, { name }]) => [name, state[key]]);
  const own = [...ownNames(state, "pC"), ...ownNames(state, "pF")]
    .filter((name) => name in state.own)
    .map((name) => [name, state.own[name]]);
  return `#${new URLSearchParams([...pairs, ["threshold", state.threshold], ...own])}`;
}
