// The explorer: sliders, the link that stands for them, and the pictures that follow them.

import {
  boundary, forcedTries, gapAt, nearest, optimalThreshold, startMean, valueAt,
} from "./exact.js";
import {
  FIELD_GOALS, chainRows, chainWords, drawChain, setFaders, solveChain,
} from "./explorer-by-state.js";
import { Cases, uniforms } from "./explorer-cases.js";
import { Chain, Player } from "./explorer-chain.js";
import { LearnerSection } from "./explorer-learner.js";
import { STORIES, Score, TOUR } from "./explorer-lessons.js";
import { drawControl, drawCosts, drawMap, drawShares, drawValues } from "./explorer-pictures.js";
import { RaceSection } from "./explorer-race.js";
import { copyField, embedCode } from "./explorer-share.js";
import {
  LARGEST_BY_STATE, NUMBERS, PROBLEM, USUAL, chainOf, playedThreshold, readLink, readNumber,
  tellStory, within, writeLink,
} from "./explorer-state.js";
import { download, roomFor } from "./explorer-svg.js";
import { Words, few, fitLabels, ofHundred, percent, sentence, whole } from "./explorer-words.js";

const STEP = 0.01; // of the point on the map, by an arrow key
const FAR = 10; // as many steps with Shift
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowDown: [0, -1], ArrowUp: [0, 1] };

const find = (id) => document.getElementById(id);
const put = (id, words) => {
  find(id).textContent = words;
};
const putAll = (name, words) => {
  for (const place of document.getElementsByClassName(name)) place.textContent = words;
};
const room = (id) => roomFor(find(id));

let state = readLink(location.hash);
let words = new Words(state);
let wished = state.start; // the start that was chosen, although a smaller goal may not have it
let best = 0;
let toNumbers = null;
let played = "";
let later = 0;
let said = 0;

const score = new Score();
const cases = new Cases(uniforms(2), words);
const chain = new Chain(find("chain"));
const player = new Player(cases, chain, showCases);
const sections = [new RaceSection(change), new LearnerSection(change)];

/** Show everything for the present state; a field that is being typed in is left alone. */
function show(typed = null) {
  best = optimalThreshold(state);
  cases.words = words = new Words(state);
  showView();
  showWords();
  showControls(typed);
  showVerdict();
  showQuestion();
  drawValues(find("values"), room("values"), state, best, words);
  toNumbers = drawMap(find("map"), room("map"), state, best, words);
  drawCosts(find("costs"), room("costs"), state, best, words);
  drawControl(find("control"), room("control"), state, words);
  showTable();
  showStates();
  showGamma();
  for (const section of sections) section.take(state);
  beginCases();
}

/** Show the whole page, a larger one with fewer words, or a part for another page. */
function showView() {
  document.documentElement.dataset.view = state.view;
  document.documentElement.toggleAttribute("data-asking", asking());
  find("projector").setAttribute("aria-pressed", state.view === "projector");
  find("whole").href = writeLink({ ...state, view: "" });
}

/** Return whether a question waits for its answer, so that nothing may show it. */
function asking() {
  return state.predict > 0 && !score.find(question());
}

/** Return the problem that is asked about. */
function question() {
  const { goal, pC, pF } = state;
  return { goal, pC, pF };
}

/** Write the names of things wherever they stand. */
function showWords() {
  const { story } = state;
  const told = story !== "" && words.states.length > 0;
  find("lead").hidden = told;
  find("setting").hidden = !told;
  put("setting", told ? STORIES[story].words : "");
  for (const link of find("stories").querySelectorAll("a")) {
    link.href = writeLink(storyState(link.dataset.story));
    link.hidden = link.dataset.story === "" && words.states.length === 0;
    link.toggleAttribute("aria-current", told && link.dataset.story === story);
  }
  put("labels-said", fitLabels(state).why.join(" "));
  putAll("many", words.many);
  putAll("finish-name", words.action("finish"));
  putAll("name-up", words.upChance);
  putAll("name-wins", words.winChance);
  put("name-pC", words.upChance);
  put("name-pF", words.winChance);
  put("name-goal", words.label(state.goal) ? `the goal, ${words.goal}` : "the goal");
  put("name-start", `where ${words.any} starts`);
  for (const key of Object.keys(NUMBERS)) {
    const name = document.querySelector(`label[for=${key}]`).textContent.trim();
    find(`${key}-number`).setAttribute("aria-label", `${name}, as a number`);
  }
  put("title-chain", `One ${words.one} after another`);
  put("words-best", `the best: ${words.policy(best)}`);
  put("words-0", words.policy(0));
  put("words-1", words.policy(1));
  put("words-all", words.policy(2));
  put("name-won", words.ended(state.goal));
  put("name-lost", words.ended(0));
  put("head-0", words.shortPolicy(0));
  put("head-1", words.shortPolicy(1));
  put("value-words", `A state is worth the chance to ${words.win} from it. Above ${words.state(1)} ` +
    `it is never better to ${words.does("finish")}: who goes on comes through ${words.state(1)} ` +
    `before ${words.deadEnd}, and has that choice there, too. So only two rules can be best. The ` +
    "upright line marks the first state.");
  put("map-words", `On the thick curve, to ${words.does("continue")} all the way from ` +
    `${words.state(1)} wins as often as to ${words.does("finish")} there. So it is right to ` +
    `${words.policy(1)} if the point lies on the curve or above it.`);
}

/** Return the state that a story begins with; without a story, the usual one. */
function storyState(story) {
  const { view, gamma } = state;
  return story ? tellStory(story, state) : { ...USUAL, view, gamma };
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
  put("now", `up ${percent(state.pC)}, ${words.action("finish")} ${percent(state.pF)}, ` +
    `goal ${state.goal}`);
  find("link").value = location.href.split("#")[0] + writeLink(state);
}

function showVerdict() {
  const { goal, pC, pF, start } = state;
  const mean = (at, threshold) => startMean(goal, start, (s) => at(state, threshold, s));
  const lost = mean(gapAt, 1 - best);
  const { distance } = nearest(state);
  const from = `${words.many} from ${words.start(start)}`;
  find("verdict").className = best ? "finish" : "continue";
  const does = words.does(best ? "finish" : "continue");
  let right = `In ${words.state(1)}, it is right to ${does}.`;
  let cost = `After the wrong choice, ${ofHundred(lost)} fewer of 100 ${from} ${words.win}.`;
  if (distance === 0) {
    right = `In ${words.state(1)}, both choices are equally good.`;
    cost = "No choice is wrong here.";
  } else if (lost === 0) {
    cost = `As many ${from} ${words.win} after either choice.`;
  }
  put("right", right);
  put("chances-name", `Chance to ${words.win} from ${words.state(1)}`);
  put("name-finish", words.action("finish"));
  put("name-boundary", `${words.action("continue")} all the way`);
  put("cost-words", cost);
  for (const name of ["number", "exact"]) put(`${name}-finish`, percent(pF));
  for (const name of ["number", "exact"]) put(`${name}-boundary`, percent(boundary(goal, pC)));
  put("number-threshold", distance === 0 ? "0 and 1" : best);
  put("number-value", percent(mean(valueAt, best)));
  put("number-cost", percent(lost));
  put("number-margin", few(distance));
  put("choice-words", distance === 0
    ? "On the curve neither choice costs anything."
    : `The wrong choice in ${words.state(1)} costs ${ofHundred(gapAt(state, 1 - best, 1))} wins of ` +
      `100 there, the dotted line on the map. From a state further up it costs less, because many ` +
      `${words.many} never come down that far.`);
  if (!asking()) announce(`${right} ${cost}`);
}

/** Ask what is right, or say how good the answer was. */
function showQuestion() {
  const { predict, seed, goal, pC, pF } = state;
  find("question").hidden = predict === 0;
  put("predict-start", score.answers.size ? "More questions" : "Guess first");
  if (!predict) return;
  const { action, off } = score.find(question()) ?? {};
  const answered = action !== undefined;
  const [go, end] = ["continue", "finish"].map((kind) => words.action(kind));
  put("question-title", `Question ${predict}`);
  put("question-words", `Between ${words.deadEnd} and ${words.goal} there ` +
    `${goal === 2 ? "is 1 state" : `are ${goal - 1} states`}. With “${go}” ${words.any} moves one ` +
    `state up in ${few(100 * pC)} of 100 steps, else one down. With “${end}” it ${words.wins} in ` +
    `${few(100 * pF)} of 100, else it ${words.label(0) ? `ends in ${words.deadEnd}` : "loses"}.`);
  put("question-asks", `${sentence(end)} or ${go} in ${words.state(1)}?`);
  put("answer-finish", sentence(end));
  put("answer-continue", sentence(go));
  put("question-said", answered ? answerWords(action, off) : "");
  put("score", score.words);
  put("question-seed", `List ${seed}: everybody who has this link has the same questions.`);
  for (const id of ["question-words", "question-asks", "answers"]) find(id).hidden = answered;
  find("question-next").hidden = !answered;
}

/** Say how good an answer was. */
function answerWords(action, off) {
  const over = ofHundred(Math.abs(state.pF - boundary(state.goal, state.pC)));
  const chosen = `you chose ${words.action(action)}, and`;
  return off
    ? `Not this time: ${chosen} were ${over} points off.`
    : `Right: ${chosen} the other choice is ${over} points worse.`;
}

function answer(action) {
  score.keep(question(), action);
  show();
  find("question-next").focus();
}

/** Ask a question, and lead those who listen to it. */
function ask(changes) {
  change({ ...changes, tour: 0 });
  find("question-title").focus();
}

/** Show the step of the tour right above the place that it is about. */
function showTour(moved = true) {
  const { tour } = state;
  const step = TOUR[tour - 1];
  const card = find("tour");
  for (const place of document.querySelectorAll(".pointed")) place.classList.remove("pointed");
  card.hidden = !step;
  if (!step) return;
  const picture = find(step.at).querySelector(".picture");
  (picture ?? find(step.at)).classList.add("pointed");
  (picture ?? document.querySelector("main")).before(card);
  put("tour-title", `Step ${tour} of ${TOUR.length}: ${step.title}`);
  put("tour-words", step.words);
  find("tour-back").hidden = tour === 1;
  find("tour-next").hidden = tour === TOUR.length;
  if (moved) {
    find("tour-title").focus();
    card.scrollIntoView({ block: "start" });
  }
}

/** Go to a step of the tour, which sets the sliders; 0 ends it. */
function goToStep(tour) {
  if (tour === 0) change({ tour, predict: 0 });
  else take({ ...readLink(`#tour=${tour}`), view: state.view });
  commit();
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
    head.textContent = words.brief(k + 1);
    const cells = [0, 1, best].map((threshold) => {
      const cell = document.createElement("td");
      cell.textContent = percent(valueAt(state, threshold, k + 1));
      return cell;
    });
    row.append(head, ...cells);
    return row;
  });
  find("value-rows").replaceChildren(...rows);
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
  put("states-words", chainWords(state, solved, words));
  find("states-rows").replaceChildren(...chainRows(state, solved, words));
  drawChain(find("states"), room("states"), state, solved, words);
}

function changeStates(changes) {
  change(changes);
  announce(find("states-words").textContent);
}

function showGamma() {
  const { gamma, goal, start } = state;
  const finish = words.action("finish");
  const tries = [10, 100, 1000, 10000].map((rho) =>
    `${whole(forcedTries(gamma, rho))} times by ${words.one} ${whole(rho)}`);
  put("gamma-counts", `A learner to whom “${finish}” always looks bad has tried it ` +
    `${tries.join(", ")}.`);
  if (best) {
    put("gamma-cost", `With these sliders it is right to ${words.policy(1)}. A learner that knows ` +
      "this does so by itself, so hardly any try has to be forced, and much of it costs little.");
    return;
  }
  const cost = startMean(goal, start, (s) => gapAt(state, goal - 1, s));
  put("gamma-cost", `With these sliders “${finish}” is never right, so every try is paid for: from ` +
    `${words.start(start)} it costs ${ofHundred(cost)} wins of 100 tries. By ${words.one} 1,000 ` +
    `that is about ${few(forcedTries(gamma, 1000) * cost)} wins lost. To try less costs less, but ` +
    "what one knows then rests on fewer tries, and may be wrong for longer.");
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
  drawShares(find("shares"), room("shares"), cases.shares, exact, words);
}

/** Take over a change, and write it into the address when the hand has come to rest. */
function change(changes, typed = null) {
  wished = changes.start ?? wished;
  // Who moves the problem has left the question about it.
  if (PROBLEM.some((key) => key in changes)) changes = { predict: 0, ...changes };
  state = within({ ...state, start: wished, ...changes });
  if (state.predict) wished = state.start;
  show(typed);
  if ("tour" in changes) showTour(false);
  clearTimeout(later);
  later = setTimeout(commit, 350);
}

/** Take over a whole state, as of a link. */
function take(taken) {
  clearTimeout(later);
  const before = state.tour;
  state = taken;
  wished = state.start;
  unfold();
  show();
  showTour(state.tour !== before);
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
  listenToLessons();
  find("projector").addEventListener("click", () =>
    change({ view: state.view === "projector" ? "" : "projector" }));
  find("copy").addEventListener("click", () => copy("link", "Link copied."));
  find("embed").addEventListener("click", () => copy("code", "Code copied."));
  for (const button of document.querySelectorAll("button[data-picture]")) {
    const { picture, kind } = button.dataset;
    button.addEventListener("click", () =>
      download(find(picture), kind, `grbp-${picture}`, facts(picture)));
  }
  addEventListener("hashchange", () => {
    const linked = readLink(location.hash);
    if (writeLink(linked) !== writeLink(state)) take(linked);
  });
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth !== width) show(); // on a phone the height changes while one scrolls
    width = innerWidth;
  });
  listenToMap();
}

function listenToLessons() {
  for (const [story, { title }] of [...Object.entries(STORIES), ["", { title: "no story" }]]) {
    const link = Object.assign(document.createElement("a"), { textContent: title });
    link.dataset.story = story;
    find("stories").append(" ", link);
  }
  find("tour-start").addEventListener("click", () => goToStep(1));
  find("tour-back").addEventListener("click", () => goToStep(state.tour - 1));
  find("tour-next").addEventListener("click", () => goToStep(state.tour + 1));
  find("tour-end").addEventListener("click", () => {
    goToStep(0);
    find("tour-start").focus();
  });
  find("predict-start").addEventListener("click", () => ask({ predict: nextQuestion() }));
  for (const action of ["finish", "continue"]) {
    find(`answer-${action}`).addEventListener("click", () => answer(action));
  }
  find("question-next").addEventListener("click", () => ask({ predict: state.predict + 1 }));
  find("question-list").addEventListener("click", () => ask({ predict: 1, seed: state.seed + 1 }));
  find("question-end").addEventListener("click", () => {
    change({ predict: 0, tour: 0 });
    find("predict-start").focus();
  });
}

/** Return the number of the first question of the list that has no answer yet. */
function nextQuestion() {
  for (let predict = 1; ; predict += 1) {
    const { goal, pC, pF } = within({ ...state, predict });
    if (!score.find({ goal, pC, pF })) return predict;
  }
}

/** Open the fold of the chances by state if a link has some. */
function unfold() {
  if (Object.keys(state.own).length) find("states-fold").open = true;
}

/** Let the point on the map be dragged; a finger elsewhere on it still scrolls the page. */
function listenToMap() {
  const map = find("map");
  const move = (event) => {
    const box = map.getBoundingClientRect();
    const scale = map.viewBox.baseVal.width / box.width;
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    change(toNumbers({ x: x * scale, y: y * scale }));
  };
  map.addEventListener("keydown", (event) => {
    const [right, up] = ARROWS[event.key] ?? [0, 0];
    if (!right && !up) return;
    event.preventDefault();
    const step = STEP * (event.shiftKey ? FAR : 1);
    const beside = (value, by) => Math.min(Math.max(Number((value + by).toFixed(9)), 0), 1);
    change({ pC: beside(state.pC, right * step), pF: beside(state.pF, up * step) });
  });
  map.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "touch" && !event.target.classList.contains("handle")) return;
    event.preventDefault();
    map.setPointerCapture(event.pointerId);
    map.querySelector(".handle").focus();
    move(event);
  });
  map.addEventListener("touchstart", (event) => {
    if (event.target.classList.contains("handle")) event.preventDefault(); // else the page scrolls
  }, { passive: false });
  map.addEventListener("pointermove", (event) => {
    if (map.hasPointerCapture(event.pointerId)) move(event);
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

/** Copy the link or the code, from a field that shows it. */
async function copy(id, copied) {
  commit();
  const hosted = location.protocol.startsWith("http") && !find("home");
  const hash = writeLink({ ...state, view: "embed" });
  find("code").value = embedCode(location.href.split("#")[0], hash, document.title, hosted);
  find("take").hidden = false;
  for (const one of ["link", "code"]) {
    find(one).hidden = find(`${one}-name`).hidden = one !== id;
  }
  const said = await copyField(find(id), copied);
  const beside = hosted || id === "link" ? "" : " Put the file explorer.html beside your page.";
  put("copied", `${said}${beside}`);
}

listen();
unfold();
show();
showTour(state.tour > 0);
document.documentElement.dataset.ready = "yes";
