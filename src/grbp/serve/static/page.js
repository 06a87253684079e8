// What every page does: ask before it records, send until it is answered, say what happened, and show
// what others record.

import { follow } from "./follow.js";
import { deliver, drop, entries, now, put } from "./outbox.js";
import { renew, typedElsewhere, unfold } from "./renewal.js";

const SAID = "grbp-said";
const SHOWN_FOR = 15_000;
const TRY_AGAIN = 5_000;
const PATIENCE = 30_000;
const SHOW_AGAIN = 1_000;
const SPARED = 5; // How many times as long as a page takes nothing is asked of the server.
const find = (id) => document.getElementById(id);
const { actor = "", study = "", id = "", caseName = "case" } = document.body.dataset;

// Times in the reader's own zone. Until this script runs, a press would send a form by itself: nothing
// recorded, and a token in the address. So the buttons come disabled.
const clock = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
function prepare(root) {
  for (const time of root.querySelectorAll("time")) {
    const date = new Date(time.dateTime);
    if (Number.isNaN(date.getTime())) continue;
    time.title = time.textContent;
    time.textContent = clock.format(date);
  }
  for (const button of root.querySelectorAll("button[disabled]")) button.disabled = false;
}

function say(text) {
  const place = find("said");
  place.textContent = text;
  place.hidden = false;
  place.focus();
}

function leave(address, text) {
  sessionStorage.setItem(SAID, text);
  if (address === location.pathname) location.reload();
  else location.assign(address);
}

const before = sessionStorage.getItem(SAID);
if (before) {
  sessionStorage.removeItem(SAID);
  say(before);
}

// What a form says, as the body of a request.
function bodyOf(form, button) {
  const body = {};
  for (const [name, value] of new FormData(form, button)) {
    const field = form.querySelector(`[name="${name}"]`);
    const { kind } = field.dataset;
    const text = value.trim();
    if (kind === "flag") body[name] = true;
    else if (text === "" && kind === "erasable") body[name] = null;
    else if (text === "") continue;
    else if (kind === "time") body[name] = new Date(text).toISOString();
    else if (kind === "json") body[name] = JSON.parse(text);
    else if (kind === "list" || (kind === "words" && text.includes(","))) {
      body[name] = text.split(",").map((one) => one.trim()).filter(Boolean);
    } else body[name] = kind === "number" || field.type === "submit" ? Number(text) : text;
  }
  for (const { name, dataset } of form.querySelectorAll("[data-last]")) {
    if (body[name]) body[dataset.last] = body[name].length - 1; // Whoever names the states counts them.
  }
  return Object.assign(body, JSON.parse(button?.dataset.also ?? "{}"));
}

const filled = (text, values) => text.replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);

const dialog = find("confirm");
let asked = null;

function ask(form, button) {
  const body = bodyOf(form, button);
  const { said, note = "" } = button?.dataset.said ? button.dataset : form.dataset;
  const when = body.observed ? ` It happened on ${clock.format(new Date(body.observed))}.` : "";
  const { send: url, done, then = "" } = form.dataset;
  const code = body.code ? ` Code: ${body.code}.` : "";
  asked = { url, body, done, then, said: filled(said ?? "", body) + code + when, actor, id, page: location.pathname, seen: seen() };
  if (!said) return record(); // What is soon mended is not asked for.
  find("confirm-said").textContent = asked.said;
  find("confirm-note").textContent = news.hidden ? note : `${news.firstChild.textContent} ${note}`;
  hold(false);
  dialog.showModal();
  find("confirm-yes").focus();
}

// While an entry is on its way, the question stays.
function hold(busy) {
  dialog.classList.toggle("busy", busy);
  find("confirm-yes").disabled = busy;
  find("confirm-no").disabled = busy;
}

async function record() {
  if (!asked) return;
  const entry = put(asked);
  asked = null;
  hold(true);
  find("confirm-note").textContent = "Recording …";
  await send(entry);
}

// An entry is sent in the name of whoever made it, to the study in which it was made.
const ours = (entry) => entry.actor === actor && entry.id === id;

function waiting(entry, error, seconds) {
  if (dialog?.open) dialog.close();
  const place = find("outbox");
  const words = document.createElement("p");
  const strong = document.createElement("b");
  strong.textContent = "Not recorded yet: ";
  words.append(strong, `“${entry.said}”`);
  const why = document.createElement("p");
  if (entry.actor !== actor) {
    why.textContent = `This was entered by ${entry.actor}, and you are ${actor}. Sign in as ${entry.actor} to record it.`;
  } else if (entry.id !== id) {
    why.textContent = entry.page === location.pathname ? "This was entered in another study of the same name." : "It is sent from the page where it was entered. ";
    const link = document.createElement("a");
    link.href = entry.page;
    link.textContent = "Go there";
    if (entry.page !== location.pathname) why.append(link);
  } else if (error?.status === 401) {
    why.textContent = "Your session has ended. Sign in again, and it will be recorded. ";
    const link = document.createElement("a");
    link.href = `/sign-in?next=${encodeURIComponent(location.pathname)}`;
    link.textContent = "Sign in";
    why.append(link);
  } else {
    const reason = error?.status ? error.message : "the server cannot be reached";
    why.textContent = `It is kept in this browser, and sent again in ${seconds} s or when you come back (${reason}).`;
  }
  const buttons = document.createElement("p");
  buttons.className = "buttons";
  if (ours(entry)) buttons.append(action("Try now", now));
  buttons.append(action("Give up", () => giveUp(entry)));
  place.replaceChildren(words, why, buttons);
  place.hidden = false;
  block();
}

function action(text, done) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = text;
  button.addEventListener("click", done);
  return button;
}

function giveUp(entry) {
  if (!confirm("Stop sending this entry? Unless it has arrived already, it will not be recorded.")) return;
  drop(entry);
  find("outbox").hidden = true;
  leave(location.pathname, "It will not be sent again. If it had already reached the server, it is recorded all the same: check what is shown here.");
}

// While something of this page waits, nothing else is entered on it.
function block() {
  const busy = entries().some((one) => one.page === location.pathname);
  for (const button of document.querySelectorAll("form[data-send] button")) button.disabled = busy;
}

const refusal = find("refusal");
const toSentence = (text) => text[0].toUpperCase() + text.slice(1) + (text.endsWith(".") ? "" : ".");

// Say why an entry was not recorded: most often a colleague was first.
async function refuse(entry, error) {
  const first = error.status === 409 ? await findFirst(entry) : null;
  const who = first?.dataset.who === actor ? "You" : `Your colleague ${first?.dataset.who}`;
  find("refusal-said").textContent = first
    ? `${who} already recorded: ${first.querySelector(".what").textContent} Your entry was not recorded.`
    : toSentence(error.message);
  find("refusal-title").textContent = first ? "This is already recorded" : "This was not recorded";
  find("refusal-note").textContent = entry.said && `Your entry: “${entry.said}”`;
  find("refusal-back").hidden = Boolean(first);
  find("refusal-show").hidden = !first;
  find("refusal-show").textContent = `Show the ${caseName}`;
  find("refusal-show").onclick = () => {
    refusal.close();
    if (entry.page === location.pathname) show(true);
    else location.assign(entry.page);
  };
  dialog.close();
  refusal.showModal();
}

// Find what was recorded first since the page was shown on which an entry was made.
async function findFirst({ page, seen: last }) {
  try {
    const rows = (await load(page)).querySelectorAll("tr[data-seq]:not(.void)");
    return [...rows].filter((row) => Number(row.dataset.seq) > last).at(-1) ?? null;
  } catch {
    return null;
  }
}

async function send(entry) {
  let answer;
  try {
    answer = await deliver(entry, waiting);
  } catch (error) {
    find("outbox").hidden = true;
    block();
    await refuse(entry, error);
    return;
  }
  const twice = answer.replayed ? ` This had been recorded before (event ${answer.event}); nothing was recorded twice.` : "";
  const done = filled(entry.done, answer) + twice;
  const target = { case: `${entry.page}/cases/${answer.case}`, study: `/studies/${encodeURIComponent(answer.study)}` };
  if (entry.page === location.pathname) leave(target[entry.then] ?? entry.page, done);
  else {
    find("outbox").hidden = true;
    say(`${done} (${entry.said})`);
  }
}

document.addEventListener("submit", (event) => {
  const { form = event.target } = event;
  if (form.dataset.send) {
    event.preventDefault();
    if (!dialog.open) ask(form, event.submitter);
  }
});
find("refusal-back")?.addEventListener("click", () => refusal.close());
find("confirm-yes")?.addEventListener("click", record);
find("confirm-no")?.addEventListener("click", () => dialog.close());
dialog?.addEventListener("close", () => { asked = null; });
dialog?.addEventListener("cancel", (event) => {
  if (dialog.classList.contains("busy")) event.preventDefault();
});

// What an earlier page could not send.
for (const entry of dialog ? entries() : []) {
  if (ours(entry)) send(entry);
  else waiting(entry, null, 0);
}

// What others record shows by itself. Where that changes a form in which something was typed, it is
// offered; while a question is open, it waits.
const seen = () => Number(document.body.dataset.events);
const news = find("news");
let heard = 0; // The number of the last entry.
let latest = null; // The last entry that this page is about.
let timer = 0;
let free = 0; // From when on a page may be asked for again.

function hear(event) {
  const [, here] = location.pathname.match(/\/cases\/(\d+)$/) ?? [];
  if (!here || !event.case || event.case === Number(here)) latest = event;
  heard = event.seq;
  showSoon();
}

function showSoon() {
  clearTimeout(timer);
  timer = setTimeout(show, Math.max(0, free - Date.now()));
}

async function load(address) {
  const answer = await fetch(address, { headers: { Accept: "text/html" } });
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  prepare(page);
  return page;
}

const busy = () => document.querySelector("dialog[open]") !== null;

async function show(wanted = false) {
  if (busy()) return;
  const began = Date.now();
  free = began + PATIENCE;
  let page;
  try {
    page = await load(location.href);
  } catch {
    free = Date.now() + TRY_AGAIN;
    showSoon();
    return;
  }
  free = Date.now() + Math.max(SHOW_AGAIN, SPARED * (Date.now() - began));
  if (heard > Number(page.body.dataset.events)) showSoon();
  const newer = page.getElementById("content");
  if (busy()) return;
  if (!newer) return sayEnded();
  if (Number(page.body.dataset.events) < seen()) return; // It was overtaken.
  if (page.body.dataset.actor !== actor || page.body.dataset.id !== id) {
    return offer(`This page is that of ${page.body.dataset.actor} now. `, () => location.reload());
  }
  const present = find("content");
  unfold(present, newer);
  if (!wanted && typedElsewhere(present, newer)) {
    return offer(`${describe(latest)} What you have typed stays. `, () => show(true));
  }
  const left = renew(present, newer);
  document.title = page.title;
  document.body.dataset.events = page.body.dataset.events;
  block();
  document.dispatchEvent(new Event("renewed"));
  const typed = left.length ? ` You had typed: ${left.map((text) => `“${text}”`).join(", ")}.` : "";
  news.hidden = true;
  if (wanted) say(describe(latest) + typed);
  else if (latest || typed) announce(describe(latest) + typed);
  latest = null;
}

function describe(event) {
  if (!event) return "Something new was recorded.";
  const who = event.who === actor ? "You" : event.who;
  const where = event.case && !location.pathname.endsWith(`/cases/${event.case}`) ? ` for ${caseName} ${event.case}` : "";
  return event.what ? `${who} recorded${where}: ${event.what}` : `${who} recorded something new${where}.`;
}

let fading = 0;
function announce(text, lasts = SHOWN_FOR) {
  news.hidden = false;
  news.replaceChildren(text);
  clearTimeout(fading);
  if (lasts < Infinity) fading = setTimeout(() => { news.hidden = true; }, lasts);
}

function offer(text, done) {
  announce(text, Infinity);
  news.append(action("Show it", done));
}

function sayEnded() {
  announce("Your session has ended, and nothing new is shown here. ", Infinity);
  const link = document.createElement("a");
  link.href = `/sign-in?next=${encodeURIComponent(location.pathname)}`;
  link.textContent = "Sign in";
  news.append(link);
  document.addEventListener("visibilitychange", () => { news.hidden = true; }, { once: true });
}

for (const question of document.querySelectorAll("dialog")) {
  question.addEventListener("close", () => { if (heard > seen()) showSoon(); });
}
if (study) follow(study, seen(), hear, sayEnded);
addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});

// Sign in and out.
async function signIn(token) {
  const place = find("sign-in-error");
  place.hidden = true;
  try {
    const answer = await fetch("/api/session", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ token }),
    });
    const said = await answer.json();
    if (answer.ok) return location.replace(find("sign-in").dataset.next);
    place.textContent = answer.status === 401 ? "This token is unknown, has expired or was revoked." : said.detail;
  } catch {
    place.textContent = "The server cannot be reached. Try again.";
  }
  place.hidden = false;
  find("token").focus();
}

// The address that a server prints at its first start carries a token. It does not stay in the
// address bar; and where a page of another site has led here, somebody has to press the button.
function takeToken() {
  const carried = "#token=";
  if (!location.hash.startsWith(carried)) return;
  const token = location.hash.slice(carried.length);
  history.replaceState(null, "", location.pathname + location.search);
  find("token").value = token;
  if (find("sign-in").dataset.led === "here") signIn(token);
}
if (find("sign-in")) {
  takeToken();
  addEventListener("hashchange", takeToken);
}
find("sign-in")?.addEventListener("submit", (event) => {
  event.preventDefault();
  signIn(find("token").value.trim());
});
find("sign-out")?.addEventListener("click", async () => {
  const answer = await fetch("/api/session", { method: "DELETE" });
  await answer.text();
  location.assign("/sign-in");
});

// Check the whole study.
document.addEventListener("click", async ({ target }) => {
  if (target.id !== "verify") return;
  target.disabled = true;
  const place = find("verified");
  place.textContent = "Checking …";
  try {
    const answer = await fetch(target.dataset.url, { method: "POST" });
    const found = await answer.json();
    if (!answer.ok) place.textContent = found.detail;
    else if (found.ok) place.textContent = `The log is intact: ${found.events} entries, and each fits the one before.`;
    else place.textContent = `Something is wrong: ${found.problems.join(" ")}`;
  } catch {
    place.textContent = "The server cannot be reached. Try again.";
  }
  target.disabled = false;
});

prepare(document);
block();
