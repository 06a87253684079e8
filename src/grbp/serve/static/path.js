// Look back along the path of the estimates: a slider, the keyboard or the pointer chooses a moment.

const place = document.getElementById("path");
const clock = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const share = (one) => (one.estimate === null ? "unknown" : `${(100 * one.estimate).toFixed(1)} %`);
const said = (one) => `${share(one)} (${(100 * one.low).toFixed(1)} to ${(100 * one.high).toFixed(1)} %)`;

async function begin() {
  const answer = await fetch(place.dataset.url);
  if (!answer.ok) return;
  const { items } = await answer.json();
  const slider = document.getElementById("moment");
  const words = document.getElementById("then");
  slider.max = items.length - 1;
  slider.value = items.length - 1;
  const first = items[0].event;
  const span = items.at(-1).event - first || 1;

  function show() {
    const one = items[Number(slider.value)];
    const even = place.querySelector(".line.even") ? `, B(p_C) ${said(one.boundary)}` : "";
    words.textContent = `After entry ${one.event}, ${clock.format(new Date(one.recorded))}, ${one.cases} `
      + `${one.cases === 1 ? "case" : "cases"} opened: p_C ${said(one.p_c)}, p_F ${said(one.p_f)}${even}.`;
    for (const picture of place.querySelectorAll("svg")) {
      const x = Number(picture.dataset.left) + (Number(picture.dataset.width) * (one.event - first)) / span;
      const cursor = picture.querySelector(".cursor");
      cursor.setAttribute("x1", x);
      cursor.setAttribute("x2", x);
    }
  }

  for (const picture of place.querySelectorAll("svg")) {
    picture.addEventListener("pointermove", (event) => {
      const box = picture.getBoundingClientRect();
      const at = ((event.clientX - box.left) / box.width) * picture.viewBox.baseVal.width;
      const share = (at - Number(picture.dataset.left)) / Number(picture.dataset.width);
      const wanted = first + span * Math.min(Math.max(share, 0), 1);
      let best = 0;
      items.forEach((one, i) => {
        if (Math.abs(one.event - wanted) < Math.abs(items[best].event - wanted)) best = i;
      });
      slider.value = best;
      show();
    });
  }
  slider.addEventListener("input", show);
  document.getElementById("look").hidden = false;
  show();
}

if (place) begin();
