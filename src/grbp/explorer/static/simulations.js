// What the explorer has where a server is behind it: simulations, and the verdicts on the paper.

import { optimalThreshold } from "./exact.js";
import { readLink } from "./explorer-state.js";
import { download } from "./explorer-svg.js";
import { whole } from "./explorer-words.js";
import { drawRegret, regretRows } from "./simulation-picture.js";

const OFTEN = 150; // milliseconds between two questions how far it is
const PATIENCE = 20; // questions without an answer before one gives up
const SHOWN = 4; // learners that are shown at once
const CHOSEN = 2; // of those, the learners that are chosen at first
const JOBS = "/api/explore/simulations";

const find = (id) => document.getElementById(id);
const put = (id, words) => {
  find(id).textContent = words;
};

let running = null; // the simulation that runs: its address, and what it is of
let shown = null; // what the picture shows, and what it is of

/** Make an element with words or other elements in it. */
function element(tag, attributes, ...children) {
  const made = Object.assign(document.createElement(tag), attributes);
  made.append(...children);
  return made;
}

/** Ask the server; what it refuses is an error with its sentence. */
async function ask(address, options = {}) {
  const answer = await fetch(address, options);
  if (answer.status === 204) return null;
  const said = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(said.detail), { refused: answer.status });
  return said;
}

function say(words, refused = false) {
  find("simulation-said").classList.toggle("refusal", refused);
  put("simulation-said", words);
}

/** Return what the sliders say now. */
function sliders() {
  return readLink(new URL(find("link").value).hash);
}

/** Say the problem of a simulation in a line. */
function facts({ state, rounds, replicas, seed }) {
  const { goal, pC, pF, start } = state;
  const from = start === "uniform" ? "in any state" : start;
  return `G = ${goal}, p_C = ${pC}, p_F = ${pF}, start ${from}; ` +
    `${whole(replicas)} replicas of ${whole(rounds)} rounds, seed ${seed}`;
}

/** Offer the learners. */
function offer({ learners, most_learners, most_rounds, most_replicas, allowed, missing }) {
  learners.forEach(({ name, summary, gamma }, k) => {
    const box = element("input", {
      type: "checkbox", name: "learner", value: name, checked: k < CHOSEN,
    });
    if (gamma !== null) box.dataset.gamma = gamma;
    find(k < SHOWN ? "simulation-first" : "simulation-others").append(
      element("label", {}, box, element("code", {}, name),
        element("span", { className: "soft" }, summary)),
    );
  });
  find("simulation-rounds").max = most_rounds;
  find("simulation-replicas").max = most_replicas;
  put("simulation-limits", `At most ${most_learners} learners, ${whole(most_rounds)} rounds and ` +
    `${whole(most_replicas)} replicas. Learners with a γ take it from the slider.`);
  if (missing) lack(sentence({ refused: true, message: missing }));
  if (!allowed) {
    lack("Simulations, and the verdicts on the paper, are for those who have signed in here. ");
    find("simulation-missing").append(element("a", { href: "/sign-in?next=%2Fexplore" }, "Sign in"));
    find("claims").hidden = true;
  }
}

/** Say why nothing can be simulated. */
function lack(words) {
  put("simulation-missing", words);
  find("simulation-missing").hidden = false;
  find("simulation-form").hidden = true;
}

/** Return the learners that are chosen, each with the gamma of the slider if it has one. */
function chosen({ gamma }) {
  const usual = (own) => own === undefined || Number(own) === gamma;
  return [...document.querySelectorAll("input[name=learner]:checked")].map(({ value, dataset }) =>
    usual(dataset.gamma) ? value : `${value}:gamma=${gamma}`);
}

/** Begin a simulation, and follow it. */
async function simulate() {
  if (running) return;
  const state = sliders();
  const learners = chosen(state);
  const [rounds, replicas, seed] = ["rounds", "replicas", "seed"].map((name) =>
    Number(find(`simulation-${name}`).value));
  if (learners.length === 0) {
    say("No learner is chosen: choose one or more.", true);
    return;
  }
  running = { state, learners, rounds, replicas, seed, address: null, asked: null };
  const mine = running;
  busy(true);
  say("");
  follow({ learner: learners[0], done: 0, total: replicas, curves: [] });
  try {
    const body = {
      goal: state.goal, p_c: state.pC, p_f: state.pF, start: state.start,
      learners, rounds, replicas, seed,
    };
    const begun = await ask(JOBS, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
    });
    mine.address = `${JOBS}/${begun.id}`;
    if (running === mine) await watch(mine);
    else await ask(mine.address, { method: "DELETE" }); // it was cancelled before it had a number
  } catch (error) {
    if (running === mine) say(sentence(error), true);
  }
  if (running === mine) {
    running = null;
    busy(false);
  }
}

/** Ask how far a simulation is until it has ended; a question may get lost on the way. */
async function watch(mine) {
  let lost = 0;
  while (running === mine) {
    await new Promise((done) => setTimeout(done, OFTEN));
    if (running !== mine) return;
    let job;
    try {
      mine.asked = ask(mine.address);
      job = await mine.asked;
      lost = 0;
    } catch (error) {
      lost += 1;
      if (error.refused || lost > PATIENCE) throw error;
      continue;
    }
    if (running !== mine) return;
    follow(job);
    if (job.curves.length > 0) showResult(job, mine);
    if (job.status === "failed") throw Object.assign(new Error(job.detail), { refused: true });
    if (job.status === "done") {
      say(`Done: ${job.curves.length === 1 ? "1 learner" : `${job.curves.length} learners`}.`);
      return;
    }
  }
}

/** Cancel the simulation that runs. */
async function cancel() {
  const mine = running;
  if (!mine) return;
  running = null;
  try {
    await mine.asked?.catch(() => {}); // else it might ask for what is gone
    if (mine.address) await ask(mine.address, { method: "DELETE" });
    say("Cancelled.");
  } catch (error) {
    say(sentence(error), true);
  }
  busy(false);
}

function sentence(error) {
  if (!error.refused) return "The server cannot be reached; try it again.";
  if (error.refused === 401) return "This is for those who have signed in on this server.";
  return `${error.message[0].toUpperCase()}${error.message.slice(1)}.`;
}

/** Show that something runs, or that nothing does; the focus stays where one can go on. */
function busy(yes) {
  const held = [find("simulation-run"), find("simulation-cancel")].includes(document.activeElement);
  find("simulation-run").hidden = yes;
  find("simulation-cancel").hidden = !yes;
  find("simulation-progress").hidden = !yes;
  if (held) find(yes ? "simulation-cancel" : "simulation-run").focus();
}

/** Show how far a simulation is. */
function follow({ learner, done, total, curves }) {
  const { learners } = running;
  const now = Math.min(curves.length + 1, learners.length);
  const which =
    learners.length === 1 ? learner : `${learner}, learner ${now} of ${learners.length}`;
  put("simulation-words", done
    ? `${which}: ${whole(done)} of ${whole(total)} replicas`
    : `${which}: getting ready; the first time that takes up to a minute`);
  const part = curves.length < learners.length && done < total ? done / total : 0;
  find("simulation-bar").value = (curves.length + part) / learners.length;
}

/** Show the curves that are there. */
function showResult(job, mine) {
  const changed = shown?.mine !== mine || shown.job.curves.length !== job.curves.length;
  shown = { job, mine };
  if (!changed) return;
  const best = optimalThreshold(mine.state);
  find("simulation-result").hidden = false;
  draw();
  put("simulation-facts", `${facts(mine).replaceAll("_", "")}.`);
  find("simulation-rows").replaceChildren(...regretRows(job, best).map(([name, ...cells]) =>
    element("tr", {}, element("th", { scope: "row" }, name),
      ...cells.map((cell) => element("td", {}, cell)))));
  const belied = job.curves.filter(({ covered }) => !covered).map(({ learner }) => learner);
  put("simulation-covered", belied.length === 0 ? "" : `Not covered: ${belied.join(", ")}. ` +
    "Replicas that are stuck with the wrong threshold, too rare to be seen here, could add more " +
    "than the mean itself.");
  find("simulation-command").replaceChildren(...job.command.split(" ").flatMap((word) =>
    [element("span", { className: "word" }, word), " "]));
}

function draw() {
  if (!shown) return;
  const svg = find("simulation-regret");
  const width = Math.max(svg.parentElement.clientWidth, 260);
  drawRegret(svg, width, shown.job, find("simulation-log").checked);
}

/** Show the verdicts on the paper's claims. */
async function showVerdicts() {
  if (!find("claims-open").open) return;
  put("claims-said", "They are being read …");
  try {
    const { items, tally, legend, missing, made, replicas, command } =
      await ask("/api/explore/verdicts");
    const none = made === null;
    const lacking = [
      none ? "No results are" : `No result of ${missing.join(", ")} is`,
      " on this server. Measure them by ",
      element("code", {}, command), ", which takes some minutes, and open this again.",
    ];
    const many = replicas ? ` Figure 3 has ${whole(replicas)} replicas a curve.` : "";
    const when = none ? "" : `The latest result is of ${made.slice(0, 10)}.${many}`;
    const said = none ? "" : `${tally}. ${when} `;
    find("claims-said").replaceChildren(said, ...(missing.length ? lacking : []));
    find("claims-list").replaceChildren(...items.map((one) => claim(one)));
    put("claims-legend", legend);
  } catch (error) {
    put("claims-said", sentence(error));
  }
}

function claim({ claim: words, where, outcome, evidence, why }) {
  const measured = evidence !== "no data";
  const kind = { held: "held", "did not hold": "not" }[outcome] ?? "open";
  const head = element(
    "p", {},
    element("span", { className: `outcome ${kind}` }, measured ? outcome : "not measured"),
    element("strong", {}, words), " ", element("span", { className: "soft word" }, where),
  );
  const more = [evidence, why].map((one) => element("p", { className: "soft" }, one));
  return element("li", {}, head, ...(measured ? more : []));
}

function listen() {
  find("simulation-form").addEventListener("submit", (event) => {
    event.preventDefault();
    simulate();
  });
  find("simulation-cancel").addEventListener("click", cancel);
  find("simulation-log").addEventListener("change", draw);
  find("claims-open").addEventListener("toggle", showVerdicts);
  for (const button of document.querySelectorAll("button.simulation-file")) {
    button.addEventListener("click", () =>
      download(find("simulation-regret"), button.dataset.kind, "grbp-regret", facts(shown.mine)));
  }
  addEventListener("hashchange", () => {
    if (!shown || running) return;
    const { state } = shown.mine;
    const now = sliders();
    const moved = ["goal", "pC", "pF", "start", "gamma"].some((key) => now[key] !== state[key]);
    say(!moved ? "" :
      "The sliders have moved since; simulate again for where they are now.");
  });
  addEventListener("resize", draw);
  addEventListener("pagehide", () => {
    const mine = running;
    if (!mine?.address) return;
    running = null;
    busy(false); // the Back button may lead here again
    fetch(mine.address, { method: "DELETE", keepalive: true }).catch(() => {});
  });
}

listen();
try {
  offer(await ask("/api/explore"));
} catch (error) {
  lack(sentence(error));
}
find("simulations").dataset.ready = "yes";
