// Look back along the path of the estimates: a slider, the keyboard or the pointer chooses a moment.

const find = (id) => document.getElementById(id);
const clock = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const share = (one) => (one.estimate === null ? "unknown" : `${(100 * one.estimate).toFixed(1)} %`);
const said = (one) => `${share(one)} (${(100 * one.low).toFixed(1)} to ${(100 * one.high).toFixed(1)} %)`;
const span = () => items.at(-1).event - items[0].event || 1;

let items = [];
let chosen = null; // The entry after which somebody looks back, or null for the latest.

async function begin() {
  if (!find("path")) return;
  const answer = await fetch(find("path").dataset.url);
  if (!answer.ok) return;
  ({ items } = await answer.json());
  show();
}

// Find the place of the moment that is nearest to an entry.
function nearest(event) {
  const far = items.map((one) => Math.abs(one.event - event));
  return far.indexOf(Math.min(...far));
}

function show() {
  if (!items.length || !find("path")) return;
  const place = chosen === null ? items.length - 1 : nearest(chosen);
  find("moment").max = items.length - 1;
  find("moment").value = place;
  find("look").hidden = false;
  const one = items[place];
  const { p_c: up, p_f: won, boundary, unit, units } = find("path").dataset;
  const even = find("path").querySelector(".line.even") ? `, ${boundary} ${said(one.boundary)}` : "";
  find("then").textContent = `After entry ${one.event}, ${clock.format(new Date(one.recorded))}, ${one.cases} `
    + `${one.cases === 1 ? unit : units}. ${up}: ${said(one.p_c)}. ${won}: ${said(one.p_f)}${even}.`;
  for (const picture of find("path").querySelectorAll("svg")) {
    const x = Number(picture.dataset.left) + (Number(picture.dataset.width) * (one.event - items[0].event)) / span();
    const cursor = picture.querySelector(".cursor");
    cursor.setAttribute("x1", x);
    cursor.setAttribute("x2", x);
  }
}

function choose(place) {
  chosen = place === items.length - 1 ? null : items[place].event;
  show();
}

document.addEventListener("pointermove", ({ target, clientX }) => {
  const picture = target.closest?.("#path svg");
  if (!picture || !items.length) return;
  const box = picture.getBoundingClientRect();
  const at = ((clientX - box.left) / box.width) * picture.viewBox.baseVal.width;
  const part = (at - Number(picture.dataset.left)) / Number(picture.dataset.width);
  choose(nearest(items[0].event + span() * Math.min(Math.max(part, 0), 1)));
});
document.addEventListener("input", ({ target }) => {
  if (target.id === "moment") choose(Number(target.value));
});
document.addEventListener("renewed", () => {
  show();
  begin();
});
begin();
