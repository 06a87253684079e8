// Cases, one after another, under a threshold: the chances made visible. Nothing is drawn here.

import { sentence } from "./explorer-words.js";

/** Return a generator of numbers from 0 to 1: the same ones each time for the same seed. */
export function uniforms(seed) {
  let a = seed;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Cases of one problem under one threshold, and how they went. */
export class Cases {
  constructor(random, words) {
    Object.assign(this, { random, words });
    this.begin({ goal: 2, pC: 0.5, pF: 0.5 }, 0, 1);
  }

  /** Forget all cases and open the first of another problem. */
  begin(problem, threshold, start) {
    Object.assign(this, { problem, threshold, start });
    Object.assign(this, { count: 0, won: 0, steps: 0, shares: [] });
    this.open();
  }

  open() {
    const states = this.problem.goal - 1;
    this.state = this.start === "uniform" ? 1 + Math.floor(this.random() * states) : this.start;
    this.trail = [{ to: this.state }];
  }

  get over() {
    return this.state === 0 || this.state === this.problem.goal;
  }

  /** Return what the threshold does in the present state. */
  get action() {
    return this.state <= this.threshold ? "finish" : "continue";
  }

  /** Draw what comes next, without doing it: a new case, or a move of this one. */
  next() {
    const { goal, pC, pF } = this.problem;
    const from = this.state;
    if (this.over) return { kind: "open", from, to: from };
    const kind = this.action;
    if (kind === "finish") return { kind, from, to: this.random() < pF ? goal : 0 };
    return { kind, from, to: this.random() < pC ? from + 1 : from - 1 };
  }

  /** Do what was drawn, and count. */
  apply({ kind, to }) {
    if (kind === "open") {
      this.open();
      return;
    }
    this.state = to;
    this.steps += 1;
    this.trail.push({ kind, to });
    if (!this.over) return;
    this.count += 1;
    this.won += to === 0 ? 0 : 1;
    this.shares.push(this.won / this.count);
  }

  /** Play until so many more cases have ended. */
  play(cases) {
    const enough = this.count + cases;
    while (this.count < enough) this.apply(this.next());
  }

  /** Say what became of the present case so far. */
  get story() {
    const { words, trail } = this;
    const told = trail.map(({ kind, to }) =>
      (kind === "finish" ? `${words.action(kind)} → ${words.brief(to)}` : words.brief(to)));
    if (told.length > 14) told.splice(6, told.length - 12, "…");
    const number = this.over ? this.count : this.count + 1;
    const steps = trail.length - 1;
    const after = ` after ${steps} step${steps === 1 ? "" : "s"}`;
    const end = this.over ? `: ${words.ended(this.state)}${after}` : "";
    return `${sentence(words.one)} ${number}: ${told.join(" → ")}${end}.`;
  }
}
