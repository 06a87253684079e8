// Hear of every entry of a study while somebody looks at the page: over a stream or, where the server
// has no place for one more, by asking. A page that nobody sees holds no connection.

const ASK_AGAIN = 2_000;
const TRY_AGAIN = 30_000;

// Call `hear` with each entry after the last one that is known, and `ended` if nobody is signed in any more.
export function follow(study, last, hear, ended) {
  let source = null;
  let timer = 0;
  let turn = 0; // What was begun in an earlier turn says nothing any more.

  function take(event) {
    if (event.seq <= last) return;
    last = event.seq;
    hear(event);
  }

  function begin() {
    stop();
    if (document.hidden) return;
    source = new EventSource(`${study}/events.ndjson?after=${last}&follow=3600`);
    source.addEventListener("message", ({ data }) => take(JSON.parse(data)));
    source.addEventListener("error", ({ target }) => {
      if (target === source && target.readyState === EventSource.CLOSED) ask(turn, Date.now() + TRY_AGAIN);
    });
  }

  function stop() {
    turn += 1;
    clearTimeout(timer);
    source?.close();
    source = null;
  }

  async function ask(mine, until) {
    let pause = ASK_AGAIN;
    try {
      const answer = await fetch(`${study}/events?after=${last}&limit=100`);
      if (mine !== turn) return;
      if (answer.status === 401) return ended();
      if (answer.ok) (await answer.json()).items.forEach(take);
    } catch {
      pause = TRY_AGAIN; // The server cannot be reached.
    }
    if (mine !== turn) return;
    timer = setTimeout(() => (Date.now() < until ? ask(mine, until) : begin()), pause);
  }

  document.addEventListener("visibilitychange", begin);
  addEventListener("pagehide", stop);
  begin();
}
