// The state of the sliders, and the link that stands for it.

export const LARGEST_GOAL = 50;
export const THRESHOLDS = ["best", "0", "1", "all"];
export const USUAL = { goal: 4, pC: 0.45, pF: 0.3, start: 2, gamma: 15, threshold: "best" };

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

/** Return the state that a link stands for; whatever it leaves out or garbles is as usual. */
export function readLink(hash) {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const state = { ...USUAL };
  for (const [key, { name }] of Object.entries(NUMBERS)) {
    if (given.has(name)) state[key] = readNumber(key, given.get(name), state);
  }
  if (given.get("start") === "uniform") state.start = "uniform";
  if (THRESHOLDS.includes(given.get("threshold"))) state.threshold = given.get("threshold");
  return within(state);
}

/** Return the link that stands for a state. */
export function writeLink(state) {
  const pairs = Object.entries(NUMBERS).map(([key, { name }]) => [name, state[key]]);
  return `#${new URLSearchParams([...pairs, ["threshold", state.threshold]])}`;
}
