// Two rules that play the same cases on the same luck, side by side.

import { gapAt, optimalThreshold, startMean, valueAt } from "./exact.js";
import { USUAL, playedThreshold, readNumber } from "./explorer-state.js";
import { frame, make, path, redraw, roomFor, roundTicks, text } from "./explorer-svg.js";
import { Words, ofHundred, sentence, whole } from "./explorer-words.js";
import { Race, always } from "./learner.js";

const PLAYERS = ["A", "B"];
const USUAL_PACE = { cases: 1, every: 250 }; // milliseconds
const STILL = { cases: 8, every: 2000 }; // as fast, for those who want little motion
const CELL = 18;
const SHOWN = 24; // of the latest cases, at most

const find = (id) => document.getElementById(id);
const put = (id, words) => {
  find(id).textContent = words;
};

/** The section on the page; `change` takes over what the reader changes of the page's state. */
export class RaceSection {
  constructor(change) {
    Object.assign(this, { timer: 0, played: "" });
    const rules = PLAYERS.map((player) => find(`race-rule-${player}`));
    for (const rule of rules) {
      rule.addEventListener("change", () =>
        change({ race: rules.map(({ value }) => value).join("-") }));
    }
    find("race-play").addEventListener("click", () => this.toggle());
    find("race-one").addEventListener("click", () => this.play(1));
    find("race-many").addEventListener("click", () => this.play(100));
    find("race-again").addEventListener("click", () => this.begin());
    listenToLuck("race-luck", change);
  }

  /** Follow the page's state; what was played stays unless it depends on what has changed. */
  take(state) {
    this.words = new Words(state);
    const best = optimalThreshold(state);
    const thresholdOf = (rule) => playedThreshold({ ...state, threshold: rule }, best);
    const { goal, pC, pF, start, luck } = state;
    this.rules = state.race.split("-");
    this.problem = { goal, pC, pF, start };
    Object.assign(this, { luck, thresholds: this.rules.map(thresholdOf) });
    this.nameRules(thresholdOf);
    find("race-luck").value = luck;
    const now = JSON.stringify([this.problem, luck, this.thresholds]);
    if (now === this.played) this.show();
    else this.begin();
    this.played = now;
  }

  /** Write what can be chosen in the problem's own words. */
  nameRules(thresholdOf) {
    PLAYERS.forEach((player, k) => {
      const rule = find(`race-rule-${player}`);
      for (const option of rule.options) {
        const name = this.words.shortPolicy(thresholdOf(option.value));
        option.textContent = option.value === "best" ? `the best: ${name}` : name;
      }
      rule.value = this.rules[k];
    });
    put("race-one", `One ${this.words.one}`);
    put("race-many", `100 ${this.words.many}`);
  }

  begin() {
    this.halt();
    this.race = new Race(this.problem, this.luck, this.thresholds.map(always));
    this.show();
  }

  halt() {
    clearInterval(this.timer);
    this.timer = 0;
  }

  /** Play many cases at once, and stop. */
  play(cases) {
    this.halt();
    this.race.play(cases);
    this.show();
  }

  /** Play on and on, or stop. */
  toggle() {
    if (this.timer) {
      this.halt();
    } else {
      const pace = matchMedia("(prefers-reduced-motion: reduce)").matches ? STILL : USUAL_PACE;
      this.timer = setInterval(() => {
        this.race.play(pace.cases);
        this.show();
      }, pace.every);
    }
    this.show();
  }

  show() {
    const { race, words, thresholds } = this;
    const names = thresholds.map((threshold) => words.shortPolicy(threshold));
    put("race-play", this.timer ? "Pause" : "Play");
    for (const id of ["race-said", "race-walks"]) {
      find(id).setAttribute("aria-live", this.timer ? "off" : "polite");
    }
    PLAYERS.forEach((player, k) => {
      put(`race-name-${player}`, names[k]);
      put(`race-won-${player}`, whole(race.wins[k].at(-1)));
      put(`race-walk-${player}`, race.count ? `${player}: ${tellWalk(race.last[k], words)}` : "");
    });
    put("race-number", race.count ? `${sentence(words.one)} ${whole(race.count)}:` : "");
    put("race-said", countWords(race, words));
    put("race-exact", exactWords(race.problem, thresholds, words));
    drawLatest(find("race-latest"), race, words);
    drawWins(find("race-wins"), race, words, thresholds.map((threshold, k) => ({
      look: `${threshold ? "finish" : "continue"} line ${k ? "second" : "first"}`,
      name: `${PLAYERS[k]}: ${names[k]}`,
    })));
  }
}

/** Let a field choose the luck. */
export function listenToLuck(id, change) {
  find(id).addEventListener("change", ({ target }) =>
    change({ luck: readNumber("luck", target.value, USUAL) }));
}

/** Tell a walk: the states one after another, what ended it, and how. */
export function tellWalk({ trail, f }, words) {
  const told = trail.map((state) => words.brief(state));
  if (f) told.splice(-1, 0, words.action("finish"));
  if (told.length > 12) told.splice(5, told.length - 10, "…");
  const end = trail.at(-1);
  return `${told.join(" → ")}${words.label(end) ? "" : `: ${words.ended(end)}`}.`;
}

/** Say how far the two have come. */
function countWords({ count, wins }, words) {
  if (!count) return `No ${words.one} has been played yet.`;
  const [a, b] = wins.map((won) => won.at(-1));
  const ahead = a === b
    ? "They are level."
    : `${a > b ? "A" : "B"} is ${whole(Math.abs(a - b))} ahead.`;
  return `After ${counted(count, words)}, A has won ${whole(a)} and B ${whole(b)}. ${ahead}`;
}

/** Write how many cases there are. */
export function counted(count, words) {
  return `${whole(count)} ${count === 1 ? words.one : words.many}`;
}

/** Say what the difference is in the long run; it follows from the gaps, which do not cancel. */
function exactWords(problem, thresholds, words) {
  const mean = (at, threshold) =>
    startMean(problem.goal, problem.start, (s) => at(problem, threshold, s));
  const [a, b] = thresholds.map((threshold) => ofHundred(mean(valueAt, threshold)));
  const [lostA, lostB] = thresholds.map((threshold) => mean(gapAt, threshold));
  const of = `of 100 ${words.many} from ${words.start(problem.start)}`;
  if (thresholds[0] === thresholds[1]) {
    return `Both follow the same rule here. In the long run each wins ${a} ${of}.`;
  }
  const wins = `In the long run, A wins ${a} and B ${b} ${of}`;
  if (lostA === lostB) return `${wins}: there is no difference.`;
  const [ahead, more] = lostA < lostB ? ["A", lostB - lostA] : ["B", lostA - lostB];
  return `${wins}: ${ahead} wins ${ofHundred(more)} more.`;
}

/** Draw the latest cases as columns: a tick for each player that won, and a mark if only one did. */
function drawLatest(svg, race, words) {
  const width = roomFor(svg);
  const room = Math.min(Math.floor((width - CELL) / CELL), SHOWN);
  const first = Math.max(race.count - room + 1, 1);
  const X = (number) => CELL + 6 + (number - first) * CELL;
  const parts = PLAYERS.map((player, k) =>
    text(2, 17 + k * CELL, player, { class: "start strong" }));
  const ends = { "true,true": 0, "false,false": 0, "true,false": 0, "false,true": 0 };
  for (let number = first; number <= race.count; number += 1) {
    const won = race.outcome(number);
    ends[won] += 1;
    won.forEach((one, k) => {
      const [x, y] = [X(number), 5 + k * CELL];
      const box = { x, y, width: CELL - 3, height: CELL - 3 };
      parts.push(make("rect", { ...box, class: one ? "cell goal" : "cell" }));
      if (one) parts.push(make("path", { d: `M${x + 3} ${y + 8}l3 3.5l6 -7.5`, class: "tick" }));
    });
    const x = X(number) + (CELL - 3) / 2;
    if (won[0] !== won[1]) parts.push(make("path", { d: `M${x} 45l-5 8h10Z`, class: "foot" }));
  }
  const said = `Of the latest ${counted(Math.min(race.count, room), words)} both won ` +
    `${ends["true,true"]}, neither won ${ends["false,false"]}, only A won ${ends["true,false"]}, ` +
    `and only B won ${ends["false,true"]}.`;
  redraw(svg, width, 58, race.count ? said : `No ${words.one} has been played yet.`, ...parts);
}

/** Draw the wins so far of all players, as lines that grow. */
export function drawWins(svg, race, words, lines) {
  const { count, wins } = race;
  const width = roomFor(svg);
  const most = Math.max(20, count);
  const high = Math.max(5, ...wins.map((won) => won.at(-1)));
  const { X, Y, back, front, height } = frame(
    width, 150,
    { range: [0, most], ticks: roundTicks(most, 5), show: whole, name: words.many },
    { range: [0, high], ticks: roundTicks(high, 3), show: whole, name: "won so far" },
    lines.map(({ look, name }) => [look, name]),
  );
  const every = Math.ceil(count / 400) || 1;
  const line = (won, k) => {
    const kept = won.map((value, n) => [X(n), Y(value)])
      .filter((_, n) => n % every === 0 || n === count);
    return make("path", { d: path(kept), class: lines[k].look });
  };
  const said = wins.map((won, k) => `${lines[k].name} has won ${whole(won.at(-1))}`).join("; ");
  redraw(
    svg, width, height, `Wins after ${counted(count, words)}. ${said}.`,
    back, ...wins.map(line), front,
  );
}
