// Two rules that play the same cases on the same luck, side by side.

import { gapAt, optimalThreshold, startMean, valueAt } from "./exact.js";
import { playedThreshold, readNumber } from "./explorer-state.js";
import { frame, make, path, redraw, roomFor, roundTicks, text } from "./explorer-svg.js";
import { Words, ofHundred, sentence, whole } from "./explorer-words.js";
import { Race, always } from "./learner.js";

const PLAYERS = ["A", "B"];
const PACE = 250; // milliseconds between two cases
const STILL = { every: 2000, cases: 8 }; // for those who want little motion: as many, in fewer steps
const CELL = 18;
const SHOWN = 24; // of the latest cases, at most

const find = (id) => document.getElementById(id);
const put = (id, words) => {
  find(id).textContent = words;
};

/** Let the section follow the page's state; return what shows it. `change` takes over changes. */
export function mountRace(change) {
  let [race, words, thresholds, played, timer] = [null, null, [], "", 0];

  const show = () => {
    const { count, problem, wins } = race;
    const names = thresholds.map((threshold) => words.shortPolicy(threshold));
    put("race-play", timer ? "Pause" : "Play");
    for (const id of ["race-said", "race-walks"]) {
      find(id).setAttribute("aria-live", timer ? "off" : "polite");
    }
    put("race-one", `One ${words.one}`);
    put("race-many", `100 ${words.many}`);
    PLAYERS.forEach((player, k) => {
      put(`race-name-${player}`, names[k]);
      put(`race-won-${player}`, whole(wins[k].at(-1)));
      put(`race-walk-${player}`, count ? `${player}: ${tellWalk(race.last[k], words)}` : "");
    });
    put("race-number", count ? `${sentence(words.one)} ${whole(count)}:` : "");
    put("race-said", countWords(race, words));
    put("race-exact", exactWords(problem, thresholds, words));
    drawLatest(find("race-latest"), race, words);
    drawWins(find("race-wins"), race, words, thresholds.map((threshold, k) => ({
      look: `${threshold ? "finish" : "continue"} line ${k ? "second" : "first"}`,
      name: `${PLAYERS[k]}: ${names[k]}`,
    })));
  };

  const halt = () => {
    clearInterval(timer);
    timer = 0;
  };

  const play = (cases) => {
    race.play(cases);
    show();
  };

  const toggle = () => {
    if (timer) {
      halt();
    } else {
      const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
      timer = setInterval(() => play(still ? STILL.cases : 1), still ? STILL.every : PACE);
    }
    show();
  };

  const begin = (state) => {
    halt();
    const { goal, pC, pF, start } = state;
    race = new Race({ goal, pC, pF, start }, state.luck, thresholds.map(always));
  };

  const select = (player) => find(`race-rule-${player}`);
  for (const player of PLAYERS) {
    select(player).addEventListener("change", () =>
      change({ race: PLAYERS.map((one) => select(one).value).join("-") }));
  }
  find("race-play").addEventListener("click", toggle);
  for (const [id, cases] of [["race-one", 1], ["race-many", 100]]) {
    find(id).addEventListener("click", () => {
      halt();
      play(cases);
    });
  }
  listenToLuck("race-luck", change);

  let now = null;
  find("race-again").addEventListener("click", () => {
    begin(now);
    show();
  });
  return (state) => {
    now = state;
    words = new Words(state);
    const best = optimalThreshold(state);
    const rules = state.race.split("-");
    thresholds = rules.map((rule) => playedThreshold({ ...state, threshold: rule }, best));
    PLAYERS.forEach((player, k) => {
      for (const option of select(player).options) {
        const threshold = playedThreshold({ ...state, threshold: option.value }, best);
        const name = words.shortPolicy(threshold);
        option.textContent = option.value === "best" ? `the best: ${name}` : name;
      }
      select(player).value = rules[k];
    });
    showLuck("race-luck", state);
    const { goal, pC, pF, start, luck } = state;
    const key = JSON.stringify([goal, pC, pF, start, luck, thresholds]);
    if (key !== played) begin(state);
    played = key;
    show();
  };
}

/** Let a field choose the luck. */
export function listenToLuck(id, change) {
  find(id).addEventListener("change", ({ target }) =>
    change({ luck: readNumber("luck", target.value, { luck: 1 }) }));
}

/** Show the luck in its field. */
export function showLuck(id, { luck }) {
  find(id).value = luck;
}

/** Tell a walk: the states one after another, what ended it, and how. */
export function tellWalk({ trail, f }, words) {
  const told = trail.map((state) => words.brief(state));
  if (f) told.splice(-1, 0, words.action("finish"));
  if (told.length > 12) told.splice(5, told.length - 10, "…");
  return `${told.join(" → ")}: ${words.ended(trail.at(-1))}.`;
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

/** Draw the latest cases as columns: a tick for each player that won, and a mark if one alone did. */
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
