// A learner that plays case by case beside somebody who knows the chances.

import { boundary, control, gapAt, optimalThreshold, startMean } from "./exact.js";
import { counted, drawWins, listenToLuck, showLuck, tellWalk } from "./explorer-race.js";
import { frame, make, path, redraw, roomFor, shorten, text } from "./explorer-svg.js";
import { Words, few, ofHundred, percent, sentence, whole } from "./explorer-words.js";
import { Learner, Race, always } from "./learner.js";

const AT_ONCE = [1, 10, 100, 1000];
const WIDEST_MAP = 340;

const find = (id) => document.getElementById(id);
const put = (id, words) => {
  find(id).textContent = words;
};

/** Let the section follow the page's state; return what shows it. `change` takes over changes. */
export function mountLearner(change) {
  let [race, learner, words, now, played] = [null, null, null, null, ""];
  let otherwise = []; // the thresholds of the learner that somebody who knows did not choose

  const begin = () => {
    const { goal, pC, pF, start, gamma, luck } = now;
    const problem = { goal, pC, pF, start };
    learner = new Learner(problem, gamma, luck);
    race = new Race(problem, luck, [learner, always(optimalThreshold(problem))]);
    otherwise = [];
  };

  const show = () => {
    const { n, next } = learner;
    put("learner-next", `For ${words.one} ${whole(n.rho)} it chooses: ` +
      `${words.shortPolicy(next.threshold)}.`);
    put("learner-why", whyWords(learner, words));
    put("learner-up", `${sentence(going(words))} moved up ${timesOf(n.cUp, n.c)}.`);
    put("learner-won", `${sentence(finishing(words))} worked ${timesOf(n.fGoal, n.f)}.`);
    put("learner-up-now", percent(n.cUp / n.c));
    put("learner-won-now", percent(n.fGoal / n.f));
    put("learner-up-true", percent(now.pC));
    put("learner-won-true", percent(now.pF));
    put("learner-last", race.count ? `${sentence(words.one)} ${whole(race.count)}, ` +
      `${words.shortPolicy(race.last[0].threshold)}: ${tellWalk(race.last[0], words)}` : "");
    put("learner-said", beside(race, otherwise, words));
    showSymbols(learner);
    drawBelief(find("learner-map"), now, n, words);
    drawWins(find("learner-wins"), race, words, [
      { look: "learns", name: "the learner" },
      { look: "knows", name: "somebody who knows the chances" },
    ]);
  };

  for (const cases of AT_ONCE) {
    find(`learner-${cases}`).addEventListener("click", () => {
      for (let k = 0; k < cases; k += 1) {
        race.play(1);
        const [chosen, right] = race.last.map(({ threshold }) => threshold);
        if (chosen !== right) otherwise.push(chosen);
      }
      show();
    });
  }
  find("learner-again").addEventListener("click", () => {
    begin();
    show();
  });
  listenToLuck("learner-luck", change);

  return (state) => {
    now = state;
    words = new Words(state);
    for (const cases of AT_ONCE) put(`learner-${cases}`, counted(cases, words));
    put("learner-one", words.one);
    put("learner-up-name", words.upChance);
    put("learner-won-name", words.winChance);
    showLuck("learner-luck", state);
    const { goal, pC, pF, start, gamma, luck } = state;
    const key = JSON.stringify([goal, pC, pF, start, gamma, luck]);
    if (key !== played) begin();
    played = key;
    show();
  };
}

/** Name what one does by continuing. */
function going(words) {
  return words.actions.length ? words.action("continue") : "continuing";
}

/** Name what one does by finishing. */
function finishing(words) {
  return words.actions.length ? words.action("finish") : "finishing";
}

function times(count) {
  return `${whole(count)} time${count === 1 ? "" : "s"}`;
}

function timesOf(count, all) {
  return `${whole(count)} of ${times(all)}`;
}

/** Say in a sentence why the learner chooses what it chooses. */
function whyWords({ goal, gamma, n, next }, words) {
  const [go, finish] = [going(words), finishing(words)];
  const [wins, goes] = [ofHundred(n.fGoal / n.f), ofHundred(boundary(goal, n.cUp / n.c))];
  const counts = `by its counts it ${words.wins} ${wins} of 100 times from ${words.state(1)}, ` +
    `and ${go} all the way ${goes}`;
  const wanted = Math.ceil(control(gamma, n.rho));
  return {
    "never up": `${sentence(go)} has never moved ${words.any} up so far, so ${finish} in ` +
      `${words.state(1)} looks better.`,
    "looks better": `${sentence(finish)} looks at least as good: ${counts}.`,
    "to learn": `It tries ${finish} to learn: that looks worse, but it has tried it only ` +
      `${times(n.f)}, and it wants ${times(wanted)} before ${words.one} ${whole(n.rho)}.`,
    "looks worse": `${sentence(finish)} looks worse: ${counts}. It has tried it ${times(n.f)}, ` +
      "which is enough for now.",
  }[next.why];
}

/** Compare the learner with somebody who knows the chances. */
function beside({ count, problem, wins }, otherwise, words) {
  if (!count) return `No ${words.one} has been played yet.`;
  const [learned, known] = wins.map((won) => whole(won.at(-1)));
  const costs = new Map(otherwise.map((threshold) => [threshold, 0]));
  for (const threshold of costs.keys()) {
    costs.set(threshold, startMean(problem.goal, problem.start, (s) => gapAt(problem, threshold, s)));
  }
  const cost = otherwise.reduce((sum, threshold) => sum + costs.get(threshold), 0);
  const chose = otherwise.length
    ? `It chose otherwise for ${whole(otherwise.length)} of them. On average that costs ` +
      `${few(cost)} wins; all else is luck.`
    : "It has made the same choices so far.";
  return `After ${counted(count, words)}, the learner has won ${learned} and somebody who knows ` +
    `the chances ${known}. ${chose}`;
}

function showSymbols({ goal, gamma, n, next }) {
  const estimate = n.cUp / n.c;
  put("learner-symbols", `GETBE-SM, round ρ = ${whole(n.rho)}: N_C = ${whole(n.c)}, ` +
    `N_C^u = ${whole(n.cUp)}, p̂_C = ${few(estimate)}, B(p̂_C) = ${few(boundary(goal, estimate))}; ` +
    `N_F = ${whole(n.f)}, N_F^G = ${whole(n.fGoal)}, p̂_F = ${few(n.fGoal / n.f)}; ` +
    `D(ρ) = γ ln ρ = ${few(control(gamma, n.rho))} with γ = ${few(gamma)}; ` +
    `threshold ${next.threshold}.`);
}

/** Draw what the learner believes, and the truth, on a small map with the boundary. */
function drawBelief(svg, { goal, pC, pF }, n, words) {
  const side = Math.min(roomFor(svg), WIDEST_MAP);
  const axis = { range: [0, 1], ticks: [0, 0.5, 1] };
  const { X, Y, back, front, box, height } = frame(
    side, undefined, { ...axis, name: words.upChance }, { ...axis, name: words.winChance },
  );
  const points = Array.from({ length: 201 }, (_, k) => [X(k / 200), Y(boundary(goal, k / 200))]);
  const region = (x, y, threshold, look) =>
    text(x, y, shorten(words.shortPolicy(threshold), box.width - 16, look), { class: look });
  const [x, y] = [n.cUp / n.c, n.fGoal / n.f];
  redraw(
    svg, side, height,
    `What the learner believes is ${words.upChance} ${percent(x)} and ${words.winChance} ` +
      `${percent(y)}; in truth ${percent(pC)} and ${percent(pF)}.`,
    make("rect", { ...box, class: "above" }),
    make("path", { d: `${path(points)}L${X(1)} ${Y(0)}Z`, class: "under" }),
    back,
    make("path", { d: path(points), class: "boundary" }),
    region(box.x + 8, box.y + 18, 1, "start region"),
    region(box.x + box.width - 8, box.y + box.height - 9, 0, "end region"),
    make("path", { d: `M${X(x)} ${Y(y)}L${X(pC)} ${Y(pF)}`, class: "gap" }),
    front,
    make("circle", { cx: X(pC), cy: Y(pF), r: 8, class: "truth" }),
    make("circle", { cx: X(x), cy: Y(y), r: 5, class: "belief" }),
  );
}
