// Send each entry until the server has answered, also after a reload: it is kept in this browser with a
// key made once, and the server records a key once, however often it comes.

const PLACE = "grbp-outbox";
const PATIENCE = 15_000;
const LONGEST = 30_000;
const FOR_GOOD = new Set([400, 403, 404, 405, 409, 413, 415, 421, 422]);

let memory = []; // Where the browser keeps nothing, an entry lasts as long as its page.

export class Refused extends Error {}

export function entries() {
  try {
    const kept = JSON.parse(localStorage.getItem(PLACE));
    return Array.isArray(kept) ? kept : memory;
  } catch {
    return memory;
  }
}

function keep(list) {
  memory = list;
  try {
    localStorage.setItem(PLACE, JSON.stringify(list));
  } catch {
    localStorage.removeItem(PLACE);
  }
}

function replace(entry, changed) {
  const list = entries().filter((one) => one.key !== entry.key);
  keep(changed ? [...list, changed] : list);
}

export function put(entry) {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const key = "page-" + Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const kept = { ...entry, key, made: new Date().toISOString() };
  replace(kept, kept);
  return kept;
}

export function drop(entry) {
  replace(entry, null);
}

async function problem(answer) {
  try {
    const { detail } = await answer.json();
    return detail || `the server answered ${answer.status}`;
  } catch {
    return `the server answered ${answer.status}`;
  }
}

// Return the answer; throw Refused if it will never be recorded, and another error if it may be later.
async function attempt(entry) {
  const answer = await fetch(entry.url, {
    method: "POST",
    headers: { "Content-Type": "application/json", "Idempotency-Key": entry.key },
    body: JSON.stringify(entry.body),
    signal: AbortSignal.timeout(PATIENCE),
  });
  if (answer.ok) return answer.json();
  const why = await problem(answer);
  const { status } = answer;
  throw Object.assign(FOR_GOOD.has(status) ? new Refused(why) : new Error(why), { status });
}

const running = new Map();

// Send an entry until it is answered. `waiting(entry, error, seconds)` is told of every attempt that failed.
export function deliver(entry, waiting) {
  if (!running.has(entry.key)) {
    running.set(entry.key, again(entry, waiting).finally(() => running.delete(entry.key)));
  }
  return running.get(entry.key);
}

async function again(entry, waiting) {
  for (let pause = 1_000; ; pause = Math.min(2 * pause, LONGEST)) {
    if (!entries().some((one) => one.key === entry.key)) throw new Refused("it was given up");
    try {
      const answer = await attempt(entry);
      drop(entry);
      return answer;
    } catch (error) {
      if (error instanceof Refused) {
        drop(entry);
        throw error;
      }
      waiting(entry, error, pause / 1_000);
      await wake(pause);
    }
  }
}

const sleepers = new Set();

function wake(pause) {
  return new Promise((done) => {
    const go = () => {
      clearTimeout(timer);
      sleepers.delete(go);
      done();
    };
    const timer = setTimeout(go, pause);
    sleepers.add(go);
  });
}

export function now() {
  for (const go of [...sleepers]) go();
}

addEventListener("online", now);
