// Show a newer version of a page in place of the present one: only what differs is touched, and what
// somebody has typed, chosen, unfolded or reached stays.

const FIELDS = "form :is(input:not([type=hidden]), select, textarea)";
const REACHED = "a[href], button, summary, input, select, textarea";

// Name each part by what it says, the second of its kind after the first.
function name(parts, say) {
  const named = new Map();
  for (const part of parts) {
    let key = say(part);
    while (named.has(key)) key += " again";
    named.set(key, part);
  }
  return named;
}

const nameForms = (root) => name(root.querySelectorAll("form[data-send]"), (form) => form.dataset.send);
const nameFolds = (root) => name(root.querySelectorAll("details"), (fold) => fold.firstElementChild.textContent);
const nameFields = (root) => name(root.querySelectorAll(FIELDS), (field) => [
  field.form.dataset.send, field.name, field.labels[0]?.textContent,
].join(" "));
const nameReached = (root) => name(root.querySelectorAll(REACHED), (part) => [
  part.nodeName, part.id, part.getAttribute("href"), part.textContent.trim(),
].join(" "));

// What was typed or chosen in a field, or null.
function readTyped(field) {
  if (field.type === "checkbox") return field.checked === field.defaultChecked ? null : field.checked;
  if (field.nodeName !== "SELECT") return field.value === field.defaultValue ? null : field.value;
  const first = [...field.options].find((option) => option.defaultSelected) ?? field.options[0];
  return first?.selected ? null : field.value;
}

function write(field, value) {
  const how = field.type === "checkbox" ? "checked" : "value";
  const before = field[how];
  field[how] = value;
  const taken = field[how] === value;
  if (!taken) field[how] = before;
  for (let fold = field.closest("details"); taken && fold; fold = fold.parentElement.closest("details")) fold.open = true;
  return taken;
}

// Unfold in the newer version what is unfolded now.
export function unfold(now, newer) {
  const folds = nameFolds(now);
  for (const [key, fold] of nameFolds(newer)) fold.open = folds.get(key)?.open ?? fold.open;
}

// Whether something was typed into a form that means something else in the newer version.
export function typedElsewhere(now, newer) {
  const forms = nameForms(newer);
  return [...nameForms(now)].some(([key, form]) => (
    [...form.elements].some((field) => field.matches(FIELDS) && readTyped(field) !== null)
    && !(forms.has(key) && form.isEqualNode(forms.get(key)))
  ));
}

// Show the newer version; return the texts that have no place in it.
export function renew(now, newer) {
  const typed = [...nameFields(now)].map(([key, field]) => [key, field, readTyped(field)]).filter((one) => one[2] !== null);
  const reached = [...nameReached(now)].find(([, part]) => part === document.activeElement);
  change(now, newer);
  const fields = nameFields(now);
  const left = typed.filter(([key, field, value]) => {
    const place = fields.get(key);
    return place !== field && !(place && write(place, value));
  });
  if (reached && !reached[1].isConnected) nameReached(now).get(reached[0])?.focus({ preventScroll: true });
  return left.map(([, , value]) => value).filter((value) => typeof value === "string");
}

function change(now, newer) {
  if (now.isEqualNode(newer)) return;
  if (now.nodeName !== newer.nodeName || now.nodeName === "FORM") {
    now.replaceWith(newer);
  } else if (now.nodeType === Node.TEXT_NODE) {
    now.data = newer.data;
  } else if (!now.matches("output, [role=status]")) { // Scripts write there.
    for (const { name: key } of [...now.attributes]) if (!newer.hasAttribute(key)) now.removeAttribute(key);
    for (const { name: key, value } of newer.attributes) if (now.getAttribute(key) !== value) now.setAttribute(key, value);
    changeInside(now, [...now.childNodes], [...newer.childNodes]);
  }
}

// Leave the parts that are the same as before, and change what lies between them.
function changeInside(place, now, newer) {
  let [first, next] = [0, 0];
  newer.forEach((part, k) => {
    if (part.nodeType !== Node.ELEMENT_NODE) return;
    const same = now.findIndex((one, i) => i >= first && one.isEqualNode(part));
    if (same < 0) return;
    fill(place, now.slice(first, same), newer.slice(next, k), now[same]);
    [first, next] = [same + 1, k + 1];
  });
  fill(place, now.slice(first), newer.slice(next), null);
}

function fill(place, now, newer, before) {
  if (now.length === newer.length) return now.forEach((part, k) => change(part, newer[k]));
  for (const part of newer) place.insertBefore(part, before);
  for (const part of now) part.remove();
}
