// The closed forms of the problem, as grbp.theory has them: nothing here overflows or cancels.
//
// A problem is { goal, pC, pF }. Chances follow from log r with r = (1-p)/p, because both 1 - r and
// r^n lose everything in floating point. The two differences that must survive cancellation, from
// the boundary and along it, are taken in wide numbers: m * 2^e with a BigInt m of 256 bits.

const CERTAIN = 1e4; // a finite stand-in for |log r| = infinity: exp(-1e4) is exactly 0
const TIE = 8 * Number.EPSILON; // p_F this near to the boundary counts as on it

/** Compute log r with r = (1-p)/p; around 1/2 through 1 - 2p, which is exact. */
export function logFailureRatio(p) {
  return p >= 0.25 && p <= 0.75 ? 2 * Math.atanh(1 - 2 * p) : Math.log1p(-p) - Math.log(p);
}

/** Compute the chance to reach n before 0 from i: (1 - r^i)/(1 - r^n), and i/n if r = 1. */
export function hit(i, n, logR) {
  const a = Math.min(Math.abs(logR), CERTAIN);
  const climb = a === 0 ? i / n : Math.expm1(-i * a) / Math.expm1(-n * a);
  return logR > 0 ? climb * Math.exp(-(n - i) * a) : climb;
}

/** Compute B(p_C), the chance to win from state 1 by continuing. */
export function boundary(goal, pC) {
  return goal === 2 ? pC : hit(1, goal, logFailureRatio(pC));
}

/** Compute p_F - B(p_C) to all digits where the two are near; 0 where they are a tie. */
export function excess({ goal, pC, pF }) {
  const b = wideBoundary(goal, wide(pC));
  const difference = minus(wide(pF), b);
  return compare(absolute(difference), times(wide(TIE), b)) <= 0 ? 0 : narrow(difference);
}

/** Return the threshold of the best policy: 1 where FINISH is right in state 1, else 0. */
export function optimalThreshold(problem) {
  return excess(problem) >= 0 ? 1 : 0;
}

/** Compute V(s), the chance to win from s if one finishes in the states up to a threshold. */
export function valueAt({ goal, pC, pF }, threshold, s) {
  if (s <= threshold) return pF;
  const logR = logFailureRatio(pC);
  const up = hit(s - threshold, goal - threshold, logR);
  return threshold === 0 ? up : up + pF * hit(goal - s, goal - threshold, -logR);
}

/** Compute V*(s) - V(s), what a threshold loses against the best policy from s; never negative. */
export function gapAt(problem, threshold, s) {
  const { goal, pC, pF } = problem;
  const logR = logFailureRatio(pC);
  const over = excess(problem);
  if (threshold === 0) return over >= 0 ? over * hit(goal - s, goal - 1, -logR) : 0;
  const stop = Math.min(s, threshold);
  const climb = hit(stop - 1, goal - 1, logR);
  // What FINISH loses where the policy stops, as a sum of positive terms.
  const lost = over >= 0 ? (1 - pF) * climb : hit(goal - 1, goal, -logR) * climb - over;
  return s <= threshold ? lost : hit(goal - s, goal - threshold, -logR) * lost;
}

/** Compute the mean of a quantity over the first state: one state, or "uniform" over all. */
export function startMean(goal, start, at) {
  if (start !== "uniform") return at(start);
  let total = 0;
  for (let s = 1; s < goal; s += 1) total += at(s);
  return total / (goal - 1);
}

/** Compute V(s) of every state, if the chances differ by state and one finishes where `stops` says.
 *
 * A chain is { pC, pF } with one chance for each state from 1 on. Nothing is subtracted.
 */
export function chainValues({ pC, pF }, stops) {
  let [won, lost] = [0, 1]; // how a case ends that goes below this state and does not come back
  const climbs = pC.map((up, k) => {
    const down = 1 - up;
    const leave = up + down * (won + lost);
    if (stops[k]) [won, lost] = [pF[k], 1 - pF[k]];
    else if (leave > 0) [won, lost] = [(down * won) / leave, (down * lost) / leave];
    else [won, lost] = [0, 1]; // to and fro for ever, which never wins
    return { up: stops[k] || leave === 0 ? 0 : up / leave, won };
  });
  const values = [];
  for (const { up, won: before } of climbs.reverse()) {
    values.unshift(before + up * (values[0] ?? 1));
  }
  return values;
}

/** Find where the best policy of a chain finishes; ties go to FINISH.
 *
 * At first every state finishes, and no longer does so where going on to the next ones that do is
 * better. That only makes going on better elsewhere, so nothing is taken back. A stop knows its
 * reward, and the log of the chance to cross to it from the stop below, and back.
 */
export function bestStops({ pC, pF }) {
  const kept = [{ state: 0, reward: 0 }];
  [...pF, 1].forEach((reward, k) => {
    let last = { state: k + 1, reward, rising: 0, falling: 0 };
    while (kept.length > 1) {
      const here = kept.at(-1);
      const joined = joinOver(kept.at(-2), here, last, pC[here.state - 1]);
      if (!joined) break;
      kept.pop();
      last = joined;
    }
    kept.push(last);
  });
  return pF.map((_, k) => kept.some(({ state }) => state === k + 1));
}

/** Return the stop above as a neighbour of the one below, if it is better to go on from here. */
function joinOver(below, here, above, up) {
  const ways = [Math.log(up) + above.rising, Math.log1p(-up) + here.falling];
  const gains = [above.reward - here.reward, below.reward - here.reward];
  const size = Math.max(...ways.filter((_, k) => gains[k] !== 0));
  if (size === -Infinity) return null; // there is nothing to gain or lose: a tie
  const [rise, fall] = gains.map((gain, k) => (gain === 0 ? 0 : Math.exp(ways[k] - size) * gain));
  if (rise + fall <= TIE * (Math.abs(rise) + Math.abs(fall))) return null;
  const most = Math.max(...ways);
  const leave = most + Math.log(Math.exp(ways[0] - most) + Math.exp(ways[1] - most));
  const rising = here.rising + ways[0] - leave;
  return { ...above, rising, falling: above.falling + ways[1] - leave };
}

/** Compute D(rho) = gamma ln(rho), how often FINISH must have been tried before round rho. */
export function control(gamma, rho) {
  return gamma * Math.log(rho);
}

/** Count the rounds up to rho that are forced if FINISH is tried in no other: at most one each. */
export function forcedTries(gamma, rho) {
  return Math.min(rho - 1, Math.ceil(control(gamma, rho)));
}

/** Find the point of the boundary that is nearest to a problem, and the distance: the margin. */
export function nearest(problem) {
  const { goal, pC, pF } = problem;
  if (excess(problem) === 0) return { x: pC, distance: 0 };
  if (goal === 2) return { x: (pC + pF) / 2, distance: Math.abs(pC - pF) / Math.SQRT2 };
  const squared = (x) => (x - pC) ** 2 + (boundary(goal, x) - pF) ** 2;
  const found = GRID.map(squared);
  const least = found.reduce((a, b) => Math.min(a, b));
  const inside = (x) => Math.min(Math.max(x, 2 ** -60), 1 - 2 ** -53);
  // Right next to the curve nothing is as near as p_C itself, or, where B(x) is nearly x, as p_F.
  const starts = [inside(pC), inside(pF)];
  found.forEach((d, k) => {
    const low = !(found[k - 1] < d) && !(found[k + 1] < d);
    const ends = [GRID[Math.max(k - 1, 0)], GRID[Math.min(k + 1, GRID.length - 1)]];
    if (low && d <= 4 * least + 1e-3) starts.push(descend(squared, ...ends));
  });
  const points = starts.map((start) => polished(problem, start));
  return points.reduce((a, b) => (b.distance < a.distance ? b : a));
}

/** Points of [0, 1], evenly spaced and, towards 1/2, ever denser on both sides. */
const GRID = (() => {
  const points = new Set([0.5]);
  for (let k = 0; k <= 800; k += 1) points.add(k / 800);
  for (let k = 0; k < 600; k += 1) {
    const near = 0.25 * 1e-17 ** (k / 599);
    points.add(0.5 - near).add(0.5 + near);
  }
  return [...points].sort((a, b) => a - b);
})();

/** Return the minimiser of the squared distance between two points, by ever finer grids. */
function descend(squared, left, right) {
  for (;;) {
    const x = Array.from({ length: 33 }, (_, k) => left + ((right - left) * k) / 32);
    const d = x.map(squared);
    const k = d.indexOf(Math.min(...d));
    if (right - left <= 1e-9 * right) return x[k];
    [left, right] = [x[Math.max(k - 1, 0)], x[Math.min(k + 1, 32)]];
  }
}

/** Compute the distance at the stationary point next to start, by Newton's method in wide numbers.
 *
 * A step that does not bring the curve nearer is not taken, so the ends of the curve are safe.
 */
function polished({ goal, pC, pF }, start) {
  const [c, f] = [wide(pC), wide(pF)];
  const squared = (at) => {
    const [across, along] = [minus(at, c), minus(wideBoundary(goal, at), f)];
    return plus(times(across, across), times(along, along));
  };
  const inside = (at) => at.m > 0n && compare(at, ONE) < 0;
  let x = wide(start);
  let least = squared(x);
  for (let step = 0; step < 6 && inside(x); step += 1) {
    const [b, slope, bend] = curve(goal, x);
    const off = minus(b, f);
    const curvature = plus(ONE, plus(times(slope, slope), times(off, bend)));
    if (curvature.m <= 0n) break;
    const moved = minus(x, over(plus(minus(x, c), times(off, slope)), curvature));
    if (moved.m < 0n || compare(moved, ONE) > 0) break;
    const d = squared(moved);
    if (compare(d, least) >= 0) break;
    [x, least] = [moved, d];
  }
  return { x: narrow(x), distance: narrowRoot(least) };
}

/** Compute B(x) and its first two derivatives: B = 1/S(r), S = (1-r^G)/(1-r), r = (1-x)/x. */
function curve(goal, x) {
  if (compare(x, HALF) === 0) x = plus(x, wide(1e-30)); // there the derivatives below are 0/0
  const r = over(minus(ONE, x), x);
  const left = minus(ONE, r);
  const g = wide(goal);
  const top = power(r, goal - 2);
  const s = over(minus(ONE, times(top, times(r, r))), left);
  // S' and S'' from differentiating S (1-r) = 1 - r^G once and twice.
  const s1 = over(minus(s, times(g, times(top, r))), left);
  const s2 = over(minus(times(TWO, s1), times(times(g, wide(goal - 1)), top)), left);
  const b = over(ONE, s);
  const bb = times(b, b);
  const b1 = times(wide(-1), times(s1, bb));
  const b2 = minus(times(TWO, times(times(s1, s1), times(bb, b))), times(s2, bb));
  const r1 = over(wide(-1), times(x, x));
  const r2 = over(TWO, times(x, times(x, x)));
  return [b, times(b1, r1), plus(times(b2, times(r1, r1)), times(b1, r2))];
}

/** Compute B(x) as a wide number. */
function wideBoundary(goal, x) {
  if (x.m === 0n || goal === 2) return x;
  const r = over(minus(ONE, x), x);
  const left = minus(ONE, r);
  return left.m === 0n ? over(ONE, wide(goal)) : over(left, minus(ONE, power(r, goal)));
}

// Wide numbers.

const BITS = 256;

function length(m) {
  return (m < 0n ? -m : m).toString(16).length * 4;
}

function rounded(m, e) {
  const spare = length(m) - BITS;
  return spare > 0 ? { m: m >> BigInt(spare), e: e + spare } : { m, e };
}

/** Return a float as a wide number, exactly. */
function wide(x) {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, x);
  const exponent = (bits.getUint32(0) >>> 20) & 0x7ff;
  const fraction = bits.getBigUint64(0) & ((1n << 52n) - 1n);
  const m = exponent ? fraction | (1n << 52n) : fraction;
  return { m: x < 0 ? -m : m, e: Math.max(exponent, 1) - 1075 };
}

/** Compute x * 2^n where 2^n alone may underflow. */
function scaled(x, n) {
  const half = Math.trunc(Math.max(n, -4000) / 2);
  return x * 2 ** half * 2 ** (Math.max(n, -4000) - half);
}

/** Return the float next to a wide number. */
function narrow({ m, e }) {
  const spare = Math.max(length(m) - 64, 0);
  return scaled(Number(m >> BigInt(spare)), e + spare);
}

/** Return the square root of a wide number as a float, also where the number itself underflows. */
function narrowRoot({ m, e }) {
  const odd = e & 1;
  return scaled(Math.sqrt(Number(m) * 2 ** odd), (e - odd) / 2);
}

function plus(a, b) {
  if (a.m === 0n || b.m === 0n) return a.m === 0n ? b : a;
  const [low, high] = a.e < b.e ? [a, b] : [b, a];
  const apart = high.e + length(high.m) - low.e - length(low.m);
  // What is too small to be seen is left out; aligning it could take all memory.
  if (Math.abs(apart) > BITS + 64) return apart > 0 ? high : low;
  return rounded((high.m << BigInt(high.e - low.e)) + low.m, low.e);
}

function minus(a, b) {
  return plus(a, { m: -b.m, e: b.e });
}

function times(a, b) {
  return rounded(a.m * b.m, a.e + b.e);
}

function over(a, b) {
  const shift = Math.max(BITS + length(b.m) - length(a.m), 0);
  return rounded((a.m << BigInt(shift)) / b.m, a.e - b.e - shift);
}

function power(base, n) {
  let result = ONE;
  for (let k = n; k > 0; k = Math.floor(k / 2)) {
    if (k % 2) result = times(result, base);
    base = times(base, base);
  }
  return result;
}

function absolute(a) {
  return { m: a.m < 0n ? -a.m : a.m, e: a.e };
}

function compare(a, b) {
  const { m } = minus(a, b);
  return m > 0n ? 1 : m < 0n ? -1 : 0;
}

const [HALF, ONE, TWO] = [wide(0.5), wide(1), wide(2)];
