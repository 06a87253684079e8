// The chain of states, and the case that walks on it.

import { make, redraw, shorten, text, widthOf } from "./explorer-svg.js";
import { percent, sentence } from "./explorer-words.js";

const HEIGHT = 190;
const BASE = 130;
const LINE = 17; // between two rows of words
const LEAST = 40; // the room below which a word is not worth writing

/** A picture of the chain; it knows where each state lies, and moves the case between them. */
export class Chain {
  constructor(svg) {
    this.svg = svg;
    this.moves = make("g");
    this.token = make("g", { class: "token" });
  }

  /** Draw the states, coloured by what the threshold does in them. */
  draw(width, cases) {
    const { goal } = cases.problem;
    this.width = width;
    this.gap = (width - 60) / goal;
    this.x = (s) => 30 + this.gap * s;
    this.radius = Math.min(Math.max(this.gap * 0.38, 2.4), 22);
    const widest = widthOf(String(goal)) + 6;
    const inside = 2 * this.radius >= widest;
    const every = [1, 2, 5, 10, 25].find((step) => step * this.gap >= widest) ?? goal;
    const parts = [make("path", { d: `M${this.x(0)} ${BASE}H${this.x(goal)}`, class: "rail" })];
    const ends = { 0: "dead", [goal]: "goal" };
    for (let s = 0; s <= goal; s += 1) {
      const look = ends[s] ?? (s <= cases.threshold ? "finish" : "continue");
      const r = ends[s] ? Math.max(this.radius, 9) : this.radius;
      parts.push(make("circle", { cx: this.x(s), cy: BASE, r, class: `state ${look}` }));
      const named = s === goal || (s % every === 0 && goal - s >= every) || s === 0;
      if (inside) parts.push(text(this.x(s), BASE + 5, String(s), { class: "middle number" }));
      else if (named) parts.push(text(this.x(s), BASE + 30, String(s), { class: "middle" }));
    }
    const y = BASE + (inside ? this.radius + 22 : 48);
    const rows = this.nameStates(cases.words, y);
    parts.push(...rows.flat());
    this.token.replaceChildren(make("circle", { r: Math.max(this.radius * 0.62, 6) }));
    const height = Math.max(HEIGHT, y + LINE * rows.length - 8);
    redraw(this.svg, width, height, "", ...parts, this.moves, this.token);
    this.settle(cases);
  }

  /** Write the words of the states below them: beside those of the ends, or in two rows below. */
  nameStates(words, y) {
    const goal = words.goalState;
    const states = Array.from({ length: goal - 1 }, (_, k) => k + 1).filter((s) => words.label(s));
    const name = (s, row, room) => text(
      this.x(s), y + LINE * row, shorten(words.label(s), room, "soft"), { class: "middle soft" });
    const [dead, won] = [words.label(0) || "dead end", words.label(goal) || "goal"]
      .map((label) => shorten(label, this.width / 2 - 20, "soft"));
    const ends = [
      text(this.x(0) - 24, y, dead, { class: "start soft" }),
      text(this.x(goal) + 24, y, won, { class: "end soft" }),
    ];
    const widest = Math.max(0, ...states.map((s) => widthOf(words.label(s), "soft"))) + 8;
    const outer = Math.max(widthOf(dead, "soft"), widthOf(won, "soft")) - 24;
    if (widest <= this.gap && outer + widest / 2 <= this.gap) {
      return [[...ends, ...states.map((s) => name(s, 0, widest))]];
    }
    const room = 2 * this.gap - 8;
    if (room < LEAST) return [ends];
    const row = (odd) => states.filter((s) => s % 2 === odd).map((s) => name(s, 2 - odd, room));
    return [ends, row(1), row(0)];
  }

  /** Show the case where it stands, and what can happen to it next. */
  settle(cases) {
    const { problem: { goal, pC, pF }, words: told } = cases;
    const s = cases.state;
    this.at = s;
    this.place(s, s, 0, 0);
    this.moves.replaceChildren();
    if (cases.over) {
      const [out, look] = s === goal ? [24, "end good"] : [-24, "start"];
      const ended = shorten(told.ended(s), this.width - 12, "ending");
      this.moves.append(text(this.x(s) + out, BASE - 36, ended, { class: `ending ${look}` }));
      this.say(cases, `The ${told.one} has ended in ${s === goal ? told.goal : told.deadEnd}`);
      return;
    }
    const finish = cases.action === "finish";
    const [up, down, chance] = finish ? [goal, 0, pF] : [s + 1, s - 1, pC];
    const top = BASE - this.radius - 4;
    const size = Math.min(4, this.gap / 4);
    for (const to of [down, up]) {
      const [a, b] = [this.x(s) + Math.sign(to - s) * size, this.x(to)];
      const high = top - Math.min(finish ? 66 : 26, 10 + Math.abs(b - a));
      const arc = `M${a} ${top}C${a} ${high} ${b} ${high} ${b} ${top}`;
      const tip = `M${b} ${top + 1}l${-size} ${-2 * size}h${2 * size}Z`;
      this.moves.append(
        make("path", { d: arc, class: `arc ${cases.action}` }),
        make("path", { d: tip, class: `tip ${cases.action}` }),
      );
    }
    const ends = [told.label(0) || "loses", told.label(goal) || "wins"];
    const [worse, better] = finish ? ends : ["down", "up"];
    const room = this.width / 2 - 20;
    const words = [[worse, 1 - chance], [better, chance]].map(([word, part]) => {
      const number = ` ${percent(part)}`;
      return shorten(word, room - widthOf(number, "chance"), "chance") + number;
    });
    // The words stand above the case, but never outside of the picture.
    const [left, right] = words.map((one) => widthOf(one, "chance") + 11);
    const middle = Math.min(Math.max(this.x(s), left), this.width - right);
    const y = top - (finish ? 66 : 26) * 0.75 - 12;
    this.moves.append(
      this.nameAction(told.action(cases.action), y - 19, `middle chance ${cases.action}`),
      text(middle - 9, y, words[0], { class: `end chance ${cases.action}` }),
      text(middle + 9, y, words[1], { class: `start chance ${cases.action}` }),
    );
    const says = `the rule says ${told.action(cases.action)}`;
    this.say(cases, `${sentence(told.any)} stands in ${told.state(s)}, and ${says}`);
  }

  /** Write the name of an action above the case, but never outside of the picture. */
  nameAction(name, y, look) {
    const fit = shorten(name, this.width - 4, look);
    const half = widthOf(fit, look) / 2;
    const x = Math.min(Math.max(this.x(this.at), half), this.width - half);
    return text(x, y, fit, { class: look });
  }

  say({ problem: { goal }, threshold, words }, now) {
    const chain = `The states from 0, ${words.deadEnd}, to ${goal}, ${words.goal}. ` +
      `The rule: ${words.policy(threshold)}.`;
    this.svg.setAttribute("aria-label", `${chain} ${now}.`);
  }

  /** Put the case on its way from one state to another: a part of the way, and how high. */
  place(from, to, part, height) {
    const x = this.x(from) + (this.x(to) - this.x(from)) * part;
    const y = BASE - 4 * height * part * (1 - part);
    this.token.setAttribute("transform", `translate(${x.toFixed(2)} ${y.toFixed(2)})`);
  }

  /** Show a move under way; what could have happened stays in sight. */
  travel({ kind, from, to }, part) {
    if (kind !== "open") this.place(from, to, part, kind === "finish" ? 66 : 34);
  }
}

const SMOOTH = 12; // steps a second up to which a move is shown on its way

/** Plays cases, step by step or on and on, and calls back when something has settled. */
export class Player {
  constructor(cases, chain, changed) {
    Object.assign(this, { cases, chain, changed, playing: false, speed: 4, move: null, part: 0 });
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
  }

  /** Stop where the case stands, and forget the move that is under way. */
  halt() {
    this.playing = false;
    cancelAnimationFrame(this.frame);
    Object.assign(this, { move: null, part: 0 });
  }

  /** Finish the move that is under way, and stop. */
  stop() {
    if (this.move) this.cases.apply(this.move);
    this.halt();
    this.chain.settle(this.cases);
    this.changed();
  }

  toggle() {
    if (this.playing) {
      this.stop();
      return;
    }
    this.playing = true;
    this.run();
    this.changed();
  }

  /** Take one step. */
  step() {
    this.stop();
    this.move = this.cases.next();
    this.run();
  }

  /** Play many cases without showing their steps. */
  many(cases) {
    this.stop();
    this.cases.play(cases);
    this.chain.settle(this.cases);
    this.changed();
  }

  run() {
    let before = performance.now();
    const smooth = !this.still.matches && this.speed <= SMOOTH;
    const tick = (now) => {
      this.part += (Math.min(now - before, 100) / 1000) * this.speed;
      before = now;
      let rest = this.part;
      const arrived = rest >= 1;
      while (rest >= 1 && (this.playing || this.move)) {
        if (this.move) this.cases.apply(this.move);
        rest -= 1;
        this.move = this.playing ? this.cases.next() : null;
      }
      this.part = rest;
      if (arrived) {
        this.chain.settle(this.cases);
        this.changed();
      }
      if (!this.move && !this.playing) {
        this.part = 0;
        return;
      }
      this.move ??= this.cases.next();
      if (smooth) this.chain.travel(this.move, this.part);
      this.frame = requestAnimationFrame(tick);
    };
    this.frame = requestAnimationFrame(tick);
  }
}
