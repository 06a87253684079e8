// How numbers are written.

const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** Write a number with few digits; a very small one with a power of ten. */
export function few(value, digits = 3) {
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size < 1e-4) {
    const [m, e] = value.toExponential(1).split("e-");
    return `${m}·10⁻${[...e].map((digit) => RAISED[Number(digit)]).join("")}`;
  }
  return String(Number(value.toPrecision(digits)));
}

/** Write a share as a number of 100: with one decimal, or as small as it is. */
export function ofHundred(share) {
  const value = 100 * share;
  return value > 0 && value < 0.05 ? few(value, 2) : value.toFixed(1);
}

/** Write a share in percent. */
export function percent(share) {
  return `${ofHundred(share)}\u00a0%`;
}

/** Write a whole number with commas between thousands. */
export function whole(value) {
  return value.toLocaleString("en-US");
}

/** Say where a case starts. */
export function startWords(start) {
  return start === "uniform" ? "a state drawn evenly" : `state ${start}`;
}

/** Say what a threshold means. */
export function thresholdWords(threshold, goal) {
  if (threshold === 0) return "never finish";
  if (threshold > 1) return "finish at once, in every state";
  return goal === 2 ? "finish in state 1" : "finish in state 1, continue above it";
}
