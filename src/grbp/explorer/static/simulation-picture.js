// How the regret of learners grows: the picture, and its numbers as rows of a table.

import { frame, make, path, redraw, roundTicks } from "./explorer-svg.js";
import { few, percent, whole } from "./explorer-words.js";

/** Return the class that gives a learner its colour and its dashes, whatever its constants are. */
const look = (learner) => `learner-${learner.split(":")[0]}`;

/** Write a regret with few digits, and one that is large as a whole number. */
export function regretWords(value) {
  return Math.abs(value) >= 1000 ? whole(Math.round(value)) : few(value);
}

/** Return the ticks of rounds: powers of ten, or round numbers. */
function roundsTicks(most, log) {
  if (!log) return roundTicks(most, 6).filter(Number.isInteger);
  return Array.from({ length: Math.floor(Math.log10(most) + 1e-9) + 1 }, (_, k) => 10 ** k);
}

/** Draw the mean regret of every learner by round, with its band. */
export function drawRegret(svg, width, { checkpoints, curves }, log) {
  const rounds = checkpoints.at(-1);
  const most = Math.max(...curves.map(({ mean, high, covered }) =>
    Math.max(...(covered ? high : mean)))) || 1;
  const logged = log && rounds > 1;
  const { X, Y, back, front, height } = frame(
    width, 254,
    {
      range: [logged ? 1 : 0, rounds], log: logged, ticks: roundsTicks(rounds, logged), show: whole,
      name: "round",
    },
    { range: [0, most * 1.04], ticks: roundTicks(most, 5), show: regretWords, name: "mean regret" },
    curves.map(({ learner }) => [`line learner ${look(learner)}`, learner]),
  );
  const origin = logged ? [] : [[X(0), Y(0)]];
  const line = (values) => [
    ...origin, ...values.map((value, k) => [X(checkpoints[k]), Y(Math.max(value, 0))]),
  ];
  const shade = ({ learner, low, high }) => make("path", {
    d: `${path([...line(high), ...line(low).reverse()])}Z`, class: `shade ${look(learner)}`,
  });
  const ends = curves.map(({ learner, mean }) => `${learner} ${regretWords(mean.at(-1))}`);
  redraw(
    svg, width, height,
    `The mean regret of learners by round. After ${whole(rounds)} rounds: ${ends.join(", ")}.`,
    back,
    ...curves.flatMap((curve) => (curve.covered ? [shade(curve)] : [])),
    ...curves.map(({ learner, mean }) =>
      make("path", { d: path(line(mean)), class: `line learner ${look(learner)}` })),
    front,
  );
}

/** Return the rows of the table: each learner's regret at the end, the lowest first. */
export function regretRows({ curves }, best) {
  const sorted = [...curves].sort((a, b) => a.mean.at(-1) - b.mean.at(-1));
  return sorted.map(({ learner, mean, low, high, covered, thresholds }) => [
    learner,
    regretWords(mean.at(-1)),
    covered
      ? `${regretWords(Math.max(low.at(-1), 0))} to ${regretWords(high.at(-1))}`
      : "not covered",
    percent(thresholds[best] ?? 0),
  ]);
}
