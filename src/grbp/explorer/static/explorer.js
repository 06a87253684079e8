// The explorer: sliders, the link that stands for them, and the pictures that follow them.

import {
  boundary, forcedTries, gapAt, nearest, optimalThreshold, startMean, valueAt,
} from "./exact.js";
import {
  FIELD_GOALS, chainRows, chainWords, drawChain, setFaders, solveChain,
} from "./explorer-by-state.js";
import { Cases, uniforms } from "./explorer-cases.js";
import { Chain, Player } from "./explorer-chain.js";
import { drawControl, drawCosts, drawMap, drawShares, drawValues } from "./explorer-pictures.js";
import {
  LARGEST_BY_STATE, NUMBERS, chainOf, playedThreshold, readLink, readNumber, within, writeLink,
} from "./explorer-state.js";
import { download } from "./explorer-svg.js";
import { few, ofHundred, percent, startWords, thresholdWords, whole } from "./explorer-words.js";

const find = (id) => document.getElementById(id);
const put = (id, words) => {
  find(id).textContent = words;
};

let state = readLink(location.hash);
let wished = state.start; // the start that was chosen, although a smaller goal may not have it
let best = 0;
let toNumbers = null;
let played = "";
let later = 0;
let said = 0;

const cases = new Cases(uniforms(2));
const chain = new Chain(find("chain"));
const player = new Player(cases, chain, showCases);

/** Return the width that a picture has on the page. */
function room(id) {
  return Math.max(find(id).parentElement.clientWidth, 260);
}

/** Show everything for the present state; a field that is being typed in is left alone. */
function show(typed = null) {
  best = optimalThreshold(state);
  showControls(typed);
  showVerdict();
  drawValues(find("values"), room("values"), state, best);
  toNumbers = drawMap(find("map"), room("map"), state, best);
  drawCosts(find("costs"), room("costs"), state, best);
  drawControl(find("control"), room("control"), state);
  showTable();
  showStates();
  showGamma();
  beginCases();
}

function showControls(typed) {
  for (const [key, { most }] of Object.entries(NUMBERS)) {
    const uniform = state[key] === "uniform";
    for (const input of [find(key), find(`${key}-number`)]) {
      input.max = most(state);
      input.disabled = uniform;
      if (!uniform && input !== typed) input.value = state[key];
    }
  }
  find("uniform").checked = state.start === "uniform";
  find(`threshold-${state.threshold}`).checked = true;
  put("now", `G ${state.goal}, pC ${few(state.pC)}, pF ${few(state.pF)}, ` +
    `start ${state.start === "uniform" ? "any" : state.start}, γ ${few(state.gamma)}`);
  put("words-best", `the best one, here ${best}`);
  put("words-all", `${state.goal - 1}: finish at once, in every state`);
  find("link").value = location.href.split("#")[0] + writeLink(state);
}

function showVerdict() {
  const { goal, pC, pF, start } = state;
  const mean = (at, threshold) => startMean(goal, start, (s) => at(state, threshold, s));
  const lost = mean(gapAt, 1 - best);
  const { distance } = nearest(state);
  const from = startWords(start);
  find("verdict").className = best ? "finish" : "continue";
  let right = best ? "FINISH is right." : "CONTINUE is right: never finish.";
  let plainly = `The best threshold is ${best}: ${thresholdWords(best, goal)}.`;
  let cost = `${best ? "Never finishing" : "Finishing in state 1"} wins ${ofHundred(lost)} fewer ` +
    `of 100 cases from ${from}.`;
  if (distance === 0) {
    right = "both choices are equally good.";
    plainly = "Thresholds 0 and 1 win equally often; 1 is taken to be the best.";
    cost = "The problem lies on the boundary.";
  } else if (lost === 0) {
    cost = `From ${from}, both choices win equally often.`;
  }
  put("right", `In state 1, ${right}`);
  put("right-words", plainly);
  put("cost-words", cost);
  put("number-finish", percent(pF));
  put("number-boundary", percent(boundary(goal, pC)));
  put("number-value", percent(mean(valueAt, best)));
  put("number-cost", ofHundred(lost));
  put("number-margin", few(distance));
  put("choice-words", distance === 0
    ? "On the boundary neither choice in state 1 costs anything."
    : `The wrong choice in state 1 costs ${ofHundred(gapAt(state, 1 - best, 1))} wins of 100 ` +
      "there, the dotted line on the map; from a state further up it costs less, because many " +
      "cases never come down to state 1.");
  announce(`In state 1, ${right} ${cost}`);
}

/** Tell those who listen, when the hand has come to rest. */
function announce(words) {
  clearTimeout(said);
  said = setTimeout(() => put("announce", words), 700);
}

function showTable() {
  const { goal } = state;
  const rows = Array.from({ length: goal - 1 }, (_, k) => {
    const row = document.createElement("tr");
    const head = document.createElement("th");
    head.scope = "row";
    head.textContent = k + 1;
    const cells = [0, 1, best].map((threshold) => {
      const cell = document.createElement("td");
      cell.textContent = percent(valueAt(state, threshold, k + 1));
      return cell;
    });
    row.append(head, ...cells);
    return row;
  });
  find("value-rows").replaceChildren(...rows);
  put("head-best", `best (${best})`);
}

/** Show the chain whose chances differ by state, where its goal is small enough for sliders. */
function showStates() {
  if (!find("states-fold").open) return; // folded there is no width to draw in
  const small = state.goal <= LARGEST_BY_STATE;
  find("states-sliders").hidden = find("states-results").hidden = !small;
  if (!small) {
    put("states-words", `The goal is ${state.goal}. There is a slider for each state up to a goal ` +
      `of ${LARGEST_BY_STATE}.`);
    return;
  }
  for (const key of ["pC", "pF"]) {
    setFaders(find(`faders-${key}`), state, key, (name, value) =>
      changeStates({ own: { ...state.own, [name]: value } }));
  }
  const solved = solveChain(state);
  put("states-words", chainWords(state, solved));
  put("states-head", `threshold ${solved.threshold}`);
  find("states-rows").replaceChildren(...chainRows(state, solved));
  drawChain(find("states"), room("states"), state, solved);
}

function changeStates(changes) {
  change(changes);
  announce(find("states-words").textContent);
}

function showGamma() {
  const { gamma, goal, start } = state;
  const tries = [10, 100, 1000, 10000].map((rho) =>
    `${whole(forcedTries(gamma, rho))} times by round ${whole(rho)}`);
  put("gamma-counts", `With γ = ${few(gamma)}, a learner to whom FINISH always looks bad has ` +
    `tried it ${tries.join(", ")}.`);
  if (best) {
    put("gamma-cost", "With these sliders FINISH is right in state 1. A learner that knows this " +
      "finishes there by itself, so hardly any try has to be forced, and a large γ costs little.");
    return;
  }
  const cost = startMean(goal, start, (s) => gapAt(state, goal - 1, s));
  put("gamma-cost", "With these sliders FINISH is never right, so every try is paid for: from " +
    `${startWords(start)} it costs ${ofHundred(cost)} wins of 100 tries. By round 1,000 that is ` +
    `about ${few(forcedTries(gamma, 1000) * cost)} wins lost. A smaller γ costs less, but what ` +
    "one knows about FINISH then rests on fewer tries, and may be wrong for longer.");
}

/** Begin anew with cases if what they depend on has changed. */
function beginCases() {
  const threshold = playedThreshold(state, best);
  const { goal, pC, pF, start } = state;
  const now = JSON.stringify([goal, pC, pF, start, threshold]);
  if (now !== played) {
    played = now;
    player.halt();
    cases.begin({ goal, pC, pF }, threshold, start);
  }
  chain.draw(room("chain"), cases);
  showCases();
}

function showCases() {
  const exact = startMean(state.goal, state.start, (s) => valueAt(state, cases.threshold, s));
  put("play", player.playing ? "Pause" : "Play");
  put("count", whole(cases.count));
  put("won", whole(cases.won));
  put("lost", whole(cases.count - cases.won));
  put("share", cases.count ? percent(cases.won / cases.count) : "–");
  put("exact", percent(exact));
  find("story").setAttribute("aria-live", player.playing ? "off" : "polite");
  put("story", cases.story);
  drawShares(find("shares"), room("shares"), cases.shares, exact);
}

/** Take over a change, and write it into the address when the hand has come to rest. */
function change(changes, typed = null) {
  wished = changes.start ?? wished;
  state = within({ ...state, start: wished, ...changes });
  show(typed);
  clearTimeout(later);
  later = setTimeout(commit, 350);
}

function commit() {
  clearTimeout(later);
  if (writeLink(readLink(location.hash)) !== writeLink(state)) location.hash = writeLink(state);
}

function listen() {
  for (const key of Object.keys(NUMBERS)) {
    const take = ({ target }) => change({ [key]: readNumber(key, target.value, state) });
    find(key).addEventListener("input", take);
    const number = find(`${key}-number`);
    number.addEventListener("input", () => {
      const value = readNumber(key, number.value, state);
      if (number.value !== "" && value === Number(number.value)) change({ [key]: value }, number);
    });
    // What is beyond the limits, perhaps on the way to another number, counts when it is done.
    number.addEventListener("change", take);
  }
  find("uniform").addEventListener("change", ({ target }) =>
    change({ start: target.checked ? "uniform" : Math.ceil(state.goal / 2) }));
  for (const choice of document.querySelectorAll("input[name=threshold]")) {
    choice.addEventListener("change", () => change({ threshold: choice.value }));
  }
  find("speed").addEventListener("change", ({ target }) => {
    player.speed = Number(target.value);
    if (player.playing) {
      player.stop();
      player.toggle();
    }
  });
  find("play").addEventListener("click", () => player.toggle());
  find("step").addEventListener("click", () => player.step());
  find("many").addEventListener("click", () => player.many(100));
  find("again").addEventListener("click", () => {
    played = "";
    beginCases();
  });
  find("states-fold").addEventListener("toggle", showStates);
  find("states-kicks").addEventListener("click", () => changeStates(FIELD_GOALS));
  find("states-alike").addEventListener("click", () => changeStates({ own: {} }));
  find("copy").addEventListener("click", copy);
  for (const button of document.querySelectorAll("button[data-picture]")) {
    const { picture, kind } = button.dataset;
    button.addEventListener("click", () =>
      download(find(picture), kind, `grbp-${picture}`, facts(picture)));
  }
  addEventListener("hashchange", () => {
    if (writeLink(readLink(location.hash)) === writeLink(state)) return;
    clearTimeout(later);
    state = readLink(location.hash);
    wished = state.start;
    unfold();
    show();
  });
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth !== width) show(); // on a phone the height changes while one scrolls
    width = innerWidth;
  });
  listenToMap();
}

/** Open the fold of the chances by state if a link has some. */
function unfold() {
  if (Object.keys(state.own).length) find("states-fold").open = true;
}

/** Let the point on the map be dragged; a finger elsewhere on it still scrolls the page. */
function listenToMap() {
  const map = find("map");
  const take = (event) => {
    const box = map.getBoundingClientRect();
    change(toNumbers({ x: event.clientX - box.left, y: event.clientY - box.top }));
  };
  map.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "touch" && !event.target.classList.contains("handle")) return;
    event.preventDefault();
    map.setPointerCapture(event.pointerId);
    take(event);
  });
  map.addEventListener("touchstart", (event) => {
    if (event.target.classList.contains("handle")) event.preventDefault(); // else the page scrolls
  }, { passive: false });
  map.addEventListener("pointermove", (event) => {
    if (map.hasPointerCapture(event.pointerId)) take(event);
  });
}

/** Say below a picture that is taken away what it is of. */
function facts(picture) {
  const { goal, start, gamma } = state;
  const [pC, pF] = picture === "states" ? byState() : [state.pC, state.pF];
  if (picture === "control") return `γ = ${few(gamma)}`;
  const played = { chain: true, shares: true }[picture] ? `, threshold ${cases.threshold}` : "";
  const from = picture === "map" ? "" : `, start ${start === "uniform" ? "in any state" : start}`;
  return `G = ${goal}, p_C = ${pC}, p_F = ${pF}${from}${played}`;
}

/** Write the chances of each state, or the one that all have. */
function byState() {
  const { pC, pF } = chainOf(state);
  return [pC, pF].map((of) => (new Set(of).size === 1 ? of[0] : `(${of.join(" ")})`));
}

async function copy() {
  commit();
  const link = find("link");
  link.select();
  try {
    await navigator.clipboard.writeText(link.value);
    put("copied", "The link is copied.");
  } catch {
    put("copied", "The link is selected: copy it with the keyboard.");
  }
}

listen();
unfold();
show();
document.documentElement.dataset.ready = "yes";
