// A learner that plays case by case beside somebody who knows the chances.

import { boundary, control, gapAt, optimalThreshold, startMean } from "./exact.js";
import { counted, drawWins, listenToLuck, tellWalk } from "./explorer-race.js";
import { frame, make, path, redraw, roomFor, shorten, text } from "./explorer-svg.js";
import { Words, few, ofHundred, percent, sentence, whole } from "./explorer-words.js";
import { Learner, Race, always } from "./learner.js";

const AT_ONCE = [1, 10, 100, 1000];
const WIDEST_MAP = 340;

const find = (id) => document.getElementById(id);
const put = (id, words) => {
  find(id).textContent = words;
};

/** The section on the page; `change` takes over what the reader changes of the page's state. */
export class LearnerSection {
  constructor(change) {
    this.played = "";
    for (const cases of AT_ONCE) {
      find(`learner-${cases}`).addEventListener("click", () => this.play(cases));
    }
    find("learner-again").addEventListener("click", () => this.begin());
    listenToLuck("learner-luck", change);
  }

  /** Follow the page's state; what was played stays unless it depends on what has changed. */
  take(state) {
    const words = new Words(state);
    const { goal, pC, pF, start, gamma, luck } = state;
    Object.assign(this, { words, problem: { goal, pC, pF, start }, gamma, luck });
    for (const cases of AT_ONCE) put(`learner-${cases}`, counted(cases, words));
    put("learner-one", words.one);
    put("learner-up-name", words.upChance);
    put("learner-won-name", words.winChance);
    find("learner-luck").value = luck;
    const now = JSON.stringify([this.problem, gamma, luck]);
    if (now === this.played) this.show();
    else this.begin();
    this.played = now;
  }

  begin() {
    const { problem, gamma, luck } = this;
    this.learner = new Learner(problem, gamma, luck);
    this.race = new Race(problem, luck, [this.learner, always(optimalThreshold(problem))]);
    this.otherwise = []; // the learner's thresholds where somebody who knows chose another
    this.show();
  }

  play(cases) {
    for (let k = 0; k < cases; k += 1) {
      this.race.play(1);
      const [chosen, right] = this.race.last.map(({ threshold }) => threshold);
      if (chosen !== right) this.otherwise.push(chosen);
    }
    this.show();
  }

  show() {
    const { race, learner, words } = this;
    const { n, next } = learner;
    const [first] = race.last;
    put("learner-last", first ? `${sentence(words.one)} ${whole(race.count)}, ` +
      `${words.shortPolicy(first.threshold)}: ${tellWalk(first, words)}` : "");
    put("learner-next", `For ${words.one} ${whole(n.rho)} it chooses: ` +
      `${words.shortPolicy(next.threshold)}.`);
    put("learner-why", whyWords(learner, words));
    this.showCounts(n);
    put("learner-said", compareWords(race, this.otherwise, words));
    put("learner-symbols", symbols(learner));
    drawBelief(find("learner-map"), this.problem, n, words);
    drawWins(find("learner-wins"), race, words, [
      { look: "player learner-getbe-sm", name: "the learner" },
      { look: "player learner-oracle", name: "somebody who knows the chances" },
    ]);
  }

  showCounts(n) {
    const { words, problem } = this;
    put("learner-up", `${sentence(going(words))} moved up ${timesOf(n.cUp, n.c)}.`);
    put("learner-won", `${sentence(finishing(words))} worked ${timesOf(n.fGoal, n.f)}.`);
    put("learner-up-now", percent(n.cUp / n.c));
    put("learner-won-now", percent(n.fGoal / n.f));
    put("learner-up-true", percent(problem.pC));
    put("learner-won-true", percent(problem.pF));
  }
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
      `${times(n.f)}, and it wants ${whole(wanted)} tries by now.`,
    "looks worse": `${sentence(finish)} looks worse: ${counts}. It has tried it ${times(n.f)}, ` +
      "which is enough for now.",
  }[next.why];
}

/** Compare the learner with somebody who knows the chances. */
function compareWords({ count, problem, wins }, otherwise, words) {
  if (!count) return `No ${words.one} has been played yet.`;
  const [learned, known] = wins.map((won) => whole(won.at(-1)));
  const chose = otherwise.length
    ? `It chose otherwise for ${whole(otherwise.length)} of them. On average that costs ` +
      `${few(costOf(problem, otherwise))} wins; all else is luck.`
    : "It has made the same choices so far.";
  return `After ${counted(count, words)}, the learner has won ${learned} and somebody who knows ` +
    `the chances ${known}. ${chose}`;
}

/** Compute how many wins some choices cost on average. */
function costOf(problem, thresholds) {
  const { goal, start } = problem;
  const gap = (threshold) => startMean(goal, start, (s) => gapAt(problem, threshold, s));
  return [...new Set(thresholds)].reduce((sum, threshold) =>
    sum + gap(threshold) * thresholds.filter((one) => one === threshold).length, 0);
}

/** Write what the learner knows in the paper's symbols. */
function symbols({ goal, gamma, n, next }) {
  const estimate = n.cUp / n.c;
  return `GETBE-SM, round ρ = ${whole(n.rho)}: N_C = ${whole(n.c)}, N_C^u = ${whole(n.cUp)}, ` +
    `p̂_C = ${few(estimate)}, B(p̂_C) = ${few(boundary(goal, estimate))}; N_F = ${whole(n.f)}, ` +
    `N_F^G = ${whole(n.fGoal)}, p̂_F = ${few(n.fGoal / n.f)}; D(ρ) = γ ln ρ = ` +
    `${few(control(gamma, n.rho))} with γ = ${few(gamma)}; threshold ${next.threshold}.`;
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
    make("circle", { cx: X(x), cy: Y(y), r: 5, class: "belief learner-getbe-sm" }),
  );
}
