// Reads the pane as a whole content: the content that was shown, with every edited value.

/** The value of an element with a path: a text, or what was chosen. */
function valueOf(element, before) {
  if (element.matches("textarea")) {
    // Return unedited texts unchanged, since browsers rewrite line breaks.
    if (element.value === element.defaultValue) return before;
    return element.value === "" && before === null ? null : element.value;
  }
  const chosen = element.querySelector("input:checked");
  if (!chosen) return before;
  return "number" in element.dataset ? Number(chosen.value) : chosen.value;
}

/** Sets the value at an element's path: `question`, `choices.A`, or `scores` and its member. */
function put(content, element) {
  const [key, ...rest] = element.dataset.path.split(".");
  const member = element.dataset.member ?? (rest.length ? rest.join(".") : null);
  if (member === null) content[key] = valueOf(element, content[key]);
  else content[key][member] = valueOf(element, content[key][member]);
}

/** The turns in their order on the page, each with its other keys. */
function turnsOf(list, shown) {
  return [...list.children].filter((turn) => !turn.matches(".removed")).map((turn) => {
    const made = structuredClone(turn.dataset.origin === "" ? {} : shown.turns[Number(turn.dataset.origin)]);
    for (const element of turn.querySelectorAll("[data-path]")) {
      made[element.dataset.path] = valueOf(element, made[element.dataset.path] ?? "");
    }
    return made;
  });
}

/** The content in `pane` now; `shown` is the content it had when the page was loaded. */
export function readContent(pane, shown) {
  const content = structuredClone(shown);
  const list = pane.querySelector("[data-turns]");
  if (list) content.turns = turnsOf(list, shown);
  else for (const element of pane.querySelectorAll("[data-path]")) put(content, element);
  return content;
}

/** The part of `pane` that shows what `path` leads to: ["turns", 1, "answer"], ["choices", "B"]; else null. */
export function partAt(pane, path) {
  const list = pane.querySelector("[data-turns]");
  const within = list ? [...list.children].filter((turn) => !turn.matches(".removed"))[path[1]] : pane;
  const wanted = (list ? path.slice(2) : path).join(".");
  const found = [...(within?.querySelectorAll("[data-path]") ?? [])].find((element) => {
    const { path: own, member } = element.dataset;
    return (member === undefined ? own : `${own}.${member}`) === wanted;
  });
  return found?.closest("[data-part]") ?? null;
}

/** Whether two JSON values are equal, in any order of keys. */
export function same(one, other) {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || !one || !other) return false;
  const keys = Object.keys(one);
  return Array.isArray(one) === Array.isArray(other) && keys.length === Object.keys(other).length &&
    keys.every((key) => key in other && same(one[key], other[key]));
}
