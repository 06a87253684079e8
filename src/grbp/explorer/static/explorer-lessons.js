// To teach with: stories, the steps of a tour, and questions to answer before the page does.

import { boundary, excess } from "./exact.js";
import { uniforms } from "./explorer-cases.js";

const GOALS_ASKED = [3, 8]; // with a goal of 2 one would only compare two numbers

/** Stories by their names in a link: what they set, and two sentences. */
export const STORIES = {
  ward: {
    title: "a ward",
    sets: { goal: 4, pC: 0.45, pF: 0.3, start: 2 },
    states: "dead,severe,moderate,mild,home",
    actions: "medication,surgery",
    cases: "patient",
    words: "A patient has been admitted, and every day is a choice. Medication makes the patient a " +
      "little better or a little worse; surgery heals or kills.",
  },
  machine: {
    title: "a machine",
    sets: { goal: 4, pC: 0.55, pF: 0.35, start: 2 },
    states: "scrap,failing,rough,fair,as new",
    actions: "a small repair,an overhaul",
    cases: "machine",
    words: "A machine runs badly. A small repair makes it run a little better or a little worse; " +
      "an overhaul makes it as new or ruins it.",
  },
  negotiation: {
    title: "a negotiation",
    sets: { goal: 5, pC: 0.5, pF: 0.25, start: 2 },
    states: "broken off,cold,cautious,open,close,signed",
    actions: "another talk,a final offer",
    cases: "negotiation",
    words: "Two sides want a contract. Another talk brings them a little nearer or drives them a " +
      "little apart; a final offer is signed or ends everything.",
  },
  football: {
    title: "field goals",
    sets: {
      goal: 6, pC: 0.5, pF: 0.01, start: 3, own: { pF2: 0.02, pF3: 0.1, pF4: 0.76, pF5: 0.93 },
    },
    states: "ball lost,own 20,own 40,midfield,their 30,their 10,touchdown",
    actions: "a run,a kick",
    cases: "attack",
    words: "A football team moves up the field, and from far away a kick hardly ever goes in. Near " +
      "the goal it nearly always does, so look at “When the states are not alike” below.",
  },
  gambler: {
    title: "a gambler",
    sets: { goal: 5, pC: 0.49, pF: 0.2, start: 2 },
    states: "broke,one coin,two coins,three coins,four coins,five coins",
    actions: "a small bet,one bold bet",
    cases: "evening",
    words: "A gambler needs five coins before the night is over. A small bet wins or loses one " +
      "coin; one bold bet wins all that is missing, or loses everything.",
  },
};

/** Steps of the tour: what each sets, what it points at, and what it says. */
export const TOUR = [
  {
    title: "Two chances",
    sets: { goal: 4, pC: 0.45, pF: 0.3, start: 2 },
    at: "verdict",
    words: "In state 1 the next step down is the dead end, so this is where the choice matters. " +
      "Look at the two numbers: the larger one says what is right. Try: lower the chance to win " +
      "if you finish until the answer turns.",
  },
  {
    title: "The odds",
    sets: { goal: 4, pC: 0.65, pF: 0.3, start: 2 },
    at: "panel",
    words: "Now a step goes up more often than down, and it is right never to finish. Look at what " +
      "happens if the goal is far away. Try: move the goal to 50, then the chance to move up to " +
      "a half.",
  },
  {
    title: "Luck",
    sets: { goal: 4, pC: 0.45, pF: 0.3, start: 2 },
    at: "chain-section",
    words: "The chances are exact, but every case is luck. Look at the share won: it wanders, and " +
      "comes to rest. Try: play 100 cases at once, then choose another rule and play again.",
  },
  {
    title: "The map",
    sets: { goal: 4, pC: 0.5, pF: 0.25, start: 2 },
    at: "map-section",
    words: "The point is your problem, and on the thick curve both choices are equally good. Look " +
      "where the point lies now. Try: drag it off the curve, or move it with the arrow keys, and " +
      "read what the wrong choice costs.",
  },
  {
    title: "Now you",
    sets: { predict: 1, seed: 1 },
    at: "question",
    words: "Here the answer is hidden. Say what is right in state 1, and see how far off you were. " +
      "Everybody who opens this step has the same questions.",
  },
];

/** Draw a question of a list: the same one each time for the same seed and number.
 *
 * The two choices lie 2 to 22 points apart, and each is right about as often.
 */
export function drawQuestion(seed, number, goal = null) {
  const random = uniforms(seed);
  let question = null;
  for (let k = 0; k < number; k += 1) {
    const side = random() < 0.5 ? -1 : 1;
    do question = propose(random, goal, side);
    while (question === null);
  }
  return question;
}

/** Propose a problem on one side of the boundary, or none if it would be too easy or too hard. */
function propose(random, given, side) {
  const [least, most] = GOALS_ASKED;
  const goal = given ?? least + Math.floor(random() * (most - least + 1));
  const pC = Math.round(100 * (0.3 + 0.4 * random())) / 100;
  const pF = Math.round(100 * (boundary(goal, pC) + side * (0.03 + 0.18 * random()))) / 100;
  const apart = side * excess({ goal, pC, pF });
  return pF > 0 && pF < 1 && apart >= 0.02 ? { goal, pC, pF, start: 1, own: {} } : null;
}

/** The answers of this visit; a question counts once. */
export class Score {
  constructor() {
    this.answers = new Map();
  }

  /** Return what was answered to a question, if it was. */
  find(question) {
    return this.answers.get(JSON.stringify(question));
  }

  /** Keep the first answer to a question, and how many points it was off. */
  keep(question, action) {
    const over = excess(question); // above 0 it is right to finish
    const off = action === "finish" ? Math.max(-over, 0) : Math.max(over, 0);
    const key = JSON.stringify(question);
    if (!this.answers.has(key)) this.answers.set(key, { action, off });
  }

  get words() {
    const all = [...this.answers.values()];
    if (!all.length) return "";
    const right = all.filter(({ off }) => off === 0).length;
    const lost = all.reduce((total, { off }) => total + off, 0);
    return `So far ${right} of ${all.length} right, ${(100 * lost).toFixed(1)} points off in all.`;
  }
}
