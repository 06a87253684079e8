// The paper's learner GETBE-SM, as grbp.learners has it, and players of cases on the same luck.
//
// A problem is { goal, pC, pF, start }. Nothing is shown here.

import { control } from "./exact.js";
import { uniforms } from "./explorer-cases.js";

/** Return the numbers from 0 to 1 that decide a case: the same ones for everybody who plays it. */
export function luck(seed, number) {
  const hash = (x) => Math.floor(uniforms(x)() * 2 ** 32);
  return uniforms(hash(hash(seed) + number));
}

/** Play a case under a threshold: each step takes the next number, whatever is done in it. */
export function playCase({ goal, pC, pF, start }, threshold, random) {
  const first = random(); // drawn for a fixed start, too, so that a step's number is the same
  let state = start === "uniform" ? 1 + Math.floor(first * (goal - 1)) : start;
  const [trail, counts] = [[state], { f: 0, c: 0, cUp: 0 }];
  while (state > 0 && state < goal) {
    const finish = state <= threshold;
    const good = random() < (finish ? pF : pC);
    if (finish) {
      counts.f = 1;
      state = good ? goal : 0;
    } else {
      counts.c += 1;
      counts.cUp += good ? 1 : 0;
      state += good ? 1 : -1;
    }
    trail.push(state);
  }
  return { trail, threshold, won: state === goal, ...counts };
}

/** Return the counters before the first case: each action was tried once, beforehand. */
export function firstCounters({ pC, pF }, random) {
  return { rho: 1, f: 1, fGoal: random() < pF ? 1 : 0, c: 1, cUp: random() < pC ? 1 : 0 };
}

/** Return the counters after a case. */
export function addCase(n, { f, c, cUp, won }) {
  return {
    rho: n.rho + 1, f: n.f + f, fGoal: n.fGoal + (won ? f : 0), c: n.c + c, cUp: n.cUp + cUp,
  };
}

/** Compute 1 + r + ... + r^(n-1) by doubling, step by step as the package does. */
function oddsSum(r, n) {
  let [total, power, bit] = [1, r, 1];
  while (2 * bit <= n) bit *= 2;
  while (bit > 1) {
    bit /= 2;
    [total, power] = [total * (1 + power), power * power];
    if (n & bit) [total, power] = [1 + r * total, power * r];
  }
  return total;
}

/** Choose the threshold of the next case from the counters, and say for what reason. */
export function decide(goal, gamma, n) {
  if (n.cUp <= 0) return { threshold: 1, why: "never up" };
  const right = n.fGoal * oddsSum((n.c - n.cUp) / n.cUp, goal) >= n.f * (1 - 1e-14);
  if (right) return { threshold: 1, why: "looks better" };
  if (n.f < control(gamma, n.rho)) return { threshold: goal - 1, why: "to learn" };
  return { threshold: 0, why: "looks worse" };
}

/** A player that learns: what it has counted, and what it chooses next. */
export class Learner {
  constructor(problem, gamma, seed) {
    Object.assign(this, { goal: problem.goal, gamma, n: firstCounters(problem, luck(seed, 0)) });
  }

  get next() {
    return decide(this.goal, this.gamma, this.n);
  }

  choose() {
    return this.next.threshold;
  }

  learn(played) {
    this.n = addCase(this.n, played);
  }
}

/** A player that always plays the same threshold. */
export function always(threshold) {
  return { choose: () => threshold, learn: () => {} };
}

/** Players of the same cases on the same luck, and what each has won after every case. */
export class Race {
  constructor(problem, seed, players) {
    Object.assign(this, { problem, seed, players, count: 0, last: [] });
    this.wins = players.map(() => [0]);
  }

  /** Play so many more cases. */
  play(cases) {
    for (let k = 0; k < cases; k += 1) {
      this.count += 1;
      this.last = this.players.map((player) => {
        const random = luck(this.seed, this.count);
        const played = playCase(this.problem, player.choose(), random);
        player.learn(played);
        return played;
      });
      this.last.forEach(({ won }, j) => this.wins[j].push(this.wins[j].at(-1) + (won ? 1 : 0)));
    }
  }

  /** Return who won a case: true or false for each player. */
  outcome(number) {
    return this.wins.map((wins) => wins[number] > wins[number - 1]);
  }
}
