// How numbers are written, and in which words a problem is told.

const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** Write a number with few digits; a very small one with a power of ten. */
export function few(value, digits = 3) {
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size < 1e-4) {
    const [m, e] = value.toExponential(1).split("e-");
    return `${m}·10⁻${[...e].map((digit) => RAISED[Number(digit)]).join("")}`;
  }
  return String(Number(value.toPrecision(digits)));
}

/** Write a share as a number of 100: with one decimal, or as small as it is. */
export function ofHundred(share) {
  const value = 100 * share;
  return value > 0 && value < 0.05 ? few(value, 2) : value.toFixed(1);
}

/** Write a share in percent. */
export function percent(share) {
  return `${ofHundred(share)}\u00a0%`;
}

/** Write a whole number with commas between thousands. */
export function whole(value) {
  return value.toLocaleString("en-US");
}

const LONGEST_LABEL = 40;

/** Return the labels of a link that fit its goal, and in one sentence each why others do not. */
export function fitLabels({ goal, labels }) {
  const { states, actions, cases } = labels;
  const short = (words) => words.every((word) => word.length <= LONGEST_LABEL);
  const differ = (words) => {
    const folded = words.filter(Boolean).map((word) => word.toLowerCase());
    return new Set(folded).size === folded.length;
  };
  const refusals = {
    states: [
      [states.length !== goal + 1, `${counted(states.length, "state")}, but a goal of ${goal} ` +
        `needs ${goal + 1} names, from 0 to ${goal}`],
      [!differ(states), "two states by the same word"],
      [!short(states), `a state by more than ${LONGEST_LABEL} letters`],
    ],
    actions: [
      [actions.length !== 2 || actions.includes(""), `${counted(actions.length, "action")}, but ` +
        "there are two"],
      [!differ(actions), "both actions by the same word"],
      [!short(actions), `an action by more than ${LONGEST_LABEL} letters`],
    ],
    cases: [
      [cases.length > 2 || cases.includes(""), "cases by something other than one word, and " +
        "perhaps one for several"],
      [!short(cases), `cases by more than ${LONGEST_LABEL} letters`],
    ],
  };
  const fit = { states: [], actions: [], cases: [] };
  const why = [];
  for (const [key, given] of Object.entries({ states, actions, cases })) {
    const found = given.length && refusals[key].find(([unfit]) => unfit);
    if (found) why.push(`The link names ${found[1]}; these names are left out.`);
    else fit[key] = given;
  }
  return { fit, why };
}

function counted(number, word) {
  return `${number} ${word}${number === 1 ? "" : "s"}`;
}

/** What a problem is told in: the words of its link, or else the usual ones. */
export class Words {
  constructor(state) {
    const { states, actions, cases } = fitLabels(state).fit;
    const [one, many] = cases.length ? cases : ["case", "cases"];
    Object.assign(this, { goalState: state.goal, states, actions });
    Object.assign(this, { one, many: many ?? plural(one) });
  }

  /** Name some case. */
  get any() {
    return `${/^[aeiou]/i.test(this.one) ? "an" : "a"} ${this.one}`;
  }

  /** Return the word for a state, or "" if there is none. */
  label(s) {
    return this.states[s] ?? "";
  }

  /** Name a state, with its number on the same line. */
  state(s) {
    return this.label(s) ? `${this.label(s)}\u00a0(${s})` : `state\u00a0${s}`;
  }

  /** Name a state where it is plain that it is one. */
  brief(s) {
    return this.label(s) ? this.state(s) : String(s);
  }

  /** Name an action, "continue" or "finish". */
  action(kind) {
    return this.actions[kind === "finish" ? 1 : 0] ?? kind;
  }

  /** Say what one does with an action. */
  does(kind) {
    return this.actions.length ? `choose ${this.action(kind)}` : kind;
  }

  get goal() {
    return this.label(this.goalState) ? this.state(this.goalState) : "the goal";
  }

  get deadEnd() {
    return this.label(0) ? this.state(0) : "the dead end";
  }

  get win() {
    return this.label(this.goalState) ? `reach ${this.goal}` : "win";
  }

  get wins() {
    return this.label(this.goalState) ? `reaches ${this.goal}` : "wins";
  }

  /** Name the chance that a step goes up. */
  get upChance() {
    const up = this.actions.length ? `that ${this.action("continue")} moves up` : "to move up";
    return `chance ${up}`;
  }

  /** Name the chance to win by a finish. */
  get winChance() {
    const own = this.actions.length || this.label(this.goalState);
    return own ? `chance that ${this.action("finish")} ${this.wins}` : "chance to win if you finish";
  }

  /** Name how a case ended. */
  ended(s) {
    if (s === this.goalState) return this.label(s) ? this.goal : "won";
    return this.label(s) ? this.deadEnd : "lost";
  }

  /** Say where a case starts. */
  start(start) {
    return start === "uniform" ? "a state drawn evenly" : this.state(start);
  }

  /** Say what one does with a threshold. */
  policy(threshold) {
    if (threshold === 0) return `never ${this.does("finish")}`;
    const all = threshold > 1 ? "at once, in every state" : `in ${this.state(1)}`;
    return `${this.does("finish")} ${all}`;
  }

  /** The same in a few words, for a picture. */
  shortPolicy(threshold) {
    const finish = this.action("finish");
    if (threshold === 0) return `never ${finish}`;
    return `${finish} ${threshold > 1 ? "at once" : `in ${this.state(1)}`}`;
  }
}

/** Return the plural of an English word. */
function plural(word) {
  if (/[^aeiou]y$/i.test(word)) return `${word.slice(0, -1)}ies`;
  return /(s|x|z|ch|sh)$/i.test(word) ? `${word}es` : `${word}s`;
}

/** Begin a sentence. */
export function sentence(words) {
  return words[0].toUpperCase() + words.slice(1);
}
