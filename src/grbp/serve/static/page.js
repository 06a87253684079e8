// What every page does: ask before it records, send until it is answered, say what happened.

import { deliver, drop, entries, now, put } from "./outbox.js";

const SAID = "grbp-said";
const LOOK_AGAIN = 20_000;
const find = (id) => document.getElementById(id);
const { actor = "", study = "", events = "0", id = "" } = document.body.dataset;

// Times in the reader's own zone.
const clock = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
for (const time of document.querySelectorAll("time")) {
  const date = new Date(time.dateTime);
  if (Number.isNaN(date.getTime())) continue;
  time.title = time.textContent;
  time.textContent = clock.format(date);
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
    else if (text === "") continue;
    else if (kind === "time") body[name] = new Date(text).toISOString();
    else if (kind === "json") body[name] = JSON.parse(text);
    else if (kind === "list") body[name] = text.split(",").map((one) => one.trim()).filter(Boolean);
    else body[name] = kind === "number" || field.type === "submit" ? Number(text) : text;
  }
  return body;
}

const filled = (text, values) => text.replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);

const dialog = find("confirm");
let asked = null;

function ask(form, button) {
  const body = bodyOf(form, button);
  const { said, note = "" } = button?.dataset.said ? button.dataset : form.dataset;
  const when = body.observed ? ` It happened on ${clock.format(new Date(body.observed))}.` : "";
  const { send: url, done, then = "" } = form.dataset;
  asked = { url, body, done, then, said: filled(said, body) + when, actor, id, page: location.pathname };
  find("confirm-said").textContent = asked.said;
  find("confirm-note").textContent = note;
  find("confirm-error").hidden = true;
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

async function send(entry) {
  let answer;
  try {
    answer = await deliver(entry, waiting);
  } catch (error) {
    find("outbox").hidden = true;
    block();
    const place = find("confirm-error");
    place.textContent = `This was refused, and nothing is recorded: ${error.message}.`;
    place.hidden = false;
    find("confirm-said").textContent = entry.said;
    find("confirm-note").textContent = "";
    hold(false);
    find("confirm-yes").disabled = true;
    if (!dialog.open) dialog.showModal();
    find("confirm-no").focus();
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
  } else if (form.dataset.go) {
    event.preventDefault();
    location.assign(form.dataset.go + new FormData(form).get("number"));
  }
});
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

// Somebody else may have recorded something meanwhile.
async function look() {
  if (document.hidden || dialog?.open || !find("news").hidden) return;
  try {
    const answer = await fetch(study);
    const status = answer.ok ? await answer.json() : {};
    if (status.events > Number(events)) {
      find("news").replaceChildren("Something has been recorded meanwhile. ", action("Show it", () => location.reload()));
      find("news").hidden = false;
    }
  } catch {
    // The next look may find out.
  }
}
if (study) setInterval(look, LOOK_AGAIN);
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
find("verify")?.addEventListener("click", async ({ target }) => {
  target.disabled = true;
  const place = find("verified");
  place.textContent = "Checking …";
  try {
    const answer = await fetch(target.dataset.url, { method: "POST" });
    const found = await answer.json();
    if (!answer.ok) place.textContent = found.detail;
    else if (found.ok) place.textContent = `All is well: ${found.events} entries, and each fits the one before.`;
    else place.textContent = `Something is wrong: ${found.problems.join(" ")}`;
  } catch {
    place.textContent = "The server cannot be reached. Try again.";
  }
  target.disabled = false;
});

// Until here a press would have sent the form by itself: nothing recorded, and a token in the
// address. So the buttons come disabled.
for (const button of document.querySelectorAll("button[disabled]")) button.disabled = false;
block();
