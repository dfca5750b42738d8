// The form of search, models to compare and filters. Each control is named as the part of the address that it sets.
"use strict";
{
  const { el } = loom;
  const MOST_IN_NAME = 80;
  // Values of a label that are chosen from a list; of more, one is found by what is typed of it.
  const MOST_IN_LIST = 30;
  const short = (text) => (text.length > MOST_IN_NAME ? `${text.slice(0, MOST_IN_NAME)}…` : text);
  const option = (value, text) => el("option", { value }, short(text));
  const models = () => loom.release.models.map(({ name, label }) => option(name, label));

  const field = (id, label, className, ...controls) =>
    el("div", { className }, el("label", { htmlFor: id }, label), controls);
  const select = (name, label, ...options) =>
    field(name, label, "field line", el("select", { name, id: name }, options));
  const typed = (name, label, values) => {
    // An id with a space is several to some readers.
    const list = `values-${encodeURIComponent(name)}`;
    return field(
      name,
      label,
      "field line",
      el("input", { name, id: name, list, placeholder: `any of ${values.length}` }),
      el(
        "datalist",
        { id: list },
        [...values, loom.NONE].map((value) => el("option", { value })),
      ),
    );
  };
  // The value that is meant by what was typed of it; null where it is none or several, which is said.
  const meant = ({ value, list, name }) => {
    const values = [...list.options].map((each) => each.value);
    if (value === "" || values.includes(value)) return value;
    const like = values.filter((each) => each.toLowerCase().includes(value.toLowerCase()));
    if (like.length === 1) return like[0];
    const some = like.length ? `${loom.count(like.length, "value")}: choose one of them` : "no value";
    loom.toast(`“${short(value)}” is in ${loom.labelName(name)} ${some}.`);
    return null;
  };
  const number = (name, label) =>
    field(name, label, "field", el("input", { type: "number", name, id: name, step: "any", inputmode: "decimal" }));
  const group = (legend, ...fields) =>
    el("fieldset", {}, el("legend", {}, legend), el("div", { className: "fields" }, fields));

  const SCALE = ({ low, high }) => (low === null || high === null ? "" : `, ${low} to ${high}`);
  const scoreChoice = () => {
    const options = loom.scored.map((each, place) => option(String(place), loom.shownText(each)));
    return field("scored", "Shown", "field line", el("select", { id: "scored", "data-value": "" }, options));
  };
  const LENGTHS = [
    ["turns", "turns"],
    ["images", "images"],
    ["question_length", "characters of questions"],
    ["reference_length", "characters of references"],
  ];
  const lengths = () => [
    ...LENGTHS.filter(([name]) => loom.hasColumn({ kind: "count", name })).map(([name, text]) =>
      option(name, text),
    ),
    ...loom.release.models
      .filter((_, model) => loom.hasColumn({ kind: "length", model }))
      .map(({ name, label }) => option(`answer:${name}`, `answer of ${label}`)),
  ];
  const STATUS = {
    refused: "refused",
    truncated: "cut off by the token limit",
    reasoning_only: "reasoning only",
    empty: "empty",
    failed: "failed",
    not_asked: "not asked",
    answered: "answered",
    given: "given by the benchmark",
  };
  loom.statusText = (status) => (Object.hasOwn(STATUS, status) ? STATUS[status] : status);

  const outcomeText = (outcome) => (outcome === "lost" ? "no answer (refusals aside)" : loom.statusText(outcome));
  // What is said of several models, and how where some are compared.
  const WHOM = {
    [loom.EVERY]: ["every model", "each of"],
    [loom.NO]: ["no model", "none of"],
    [loom.HIGHEST]: ["highest of models", "highest of"],
    [loom.LOWEST]: ["lowest of models", "lowest of"],
  };
  const whom = (of) => {
    const letters = loom.sides().map(({ side }) => side.toUpperCase());
    return letters.length ? `${WHOM[of][1]} ${letters.join(", ")}` : WHOM[of][0];
  };
  const several = (...of) => of.map((each) => option(each, whom(each)));

  const fields = () => {
    const { labels, statuses, columns } = loom.release;
    const has = (kind) => columns.some((column) => column.kind === kind);
    const scored = loom.scored.length > 0;
    return [
      loom.release.models.length > 1 &&
        group(
          "Compare models side by side",
          ["a", "b", "c"].map((side) =>
            select(
              side,
              el("span", {}, "Model ", el("b", { className: `side is-${side}` }, side.toUpperCase())),
              option("", side === "c" ? "none, or a third" : "none"),
              models(),
            ),
          ),
        ),
      scored &&
        group(
          "Scores",
          scoreChoice(),
          select("score.of", "Model", option("", "mean of models"), several(loom.HIGHEST, loom.LOWEST), models()),
          number("score.min", "At least"),
          number("score.max", "At most"),
        ),
      scored &&
        loom.release.models.length > 1 &&
        group(
          "Difference of A and B",
          select(
            "diff.side",
            "Better is",
            option("", "all items"),
            option("a", "A"),
            option("b", "B"),
            option("differ", "one of them"),
            option("equal", "none: equal"),
          ),
          number("diff.min", "By at least"),
        ),
      labels.length > 0 &&
        group(
          "Labels",
          labels.map(({ name, values }) =>
            values.length > MOST_IN_LIST
              ? typed(loom.labelState(name), short(name), values)
              : select(
                  loom.labelState(name),
                  short(name),
                  option("", "any"),
                  values.map((value) => option(value, value || "(empty)")),
                  option(loom.NONE, loom.NONE),
                ),
          ),
        ),
      has("status") &&
        group(
          "Outcome of answers",
          select(
            "outcome",
            "Outcome",
            option("", "any"),
            ["lost", ...statuses].map((outcome) => option(outcome, outcomeText(outcome))),
          ),
          select("outcome.of", "Model", option("", "any model"), several(loom.EVERY, loom.NO), models()),
        ),
      has("disagreement") &&
        group(
          "Judges disagree",
          number("judges.min", "By at least"),
          select("judges.of", "Model", option("", "any model"), models()),
        ),
      group(
        "Length",
        select("length.of", "Of", lengths()),
        number("length.min", "At least"),
        number("length.max", "At most"),
      ),
      el(
        "div",
        { className: "check" },
        el("input", { type: "checkbox", name: "note", id: "note", value: "1" }),
        el("label", { htmlFor: "note" }, "Only with a note of mine"),
      ),
      el(
        "p",
        {},
        el("button", { id: "clear", onclick: () => loom.changed(loom.withoutFilters()) }, "Clear filters"),
      ),
    ];
  };

  const controls = () => [...loom.byId("filters").elements].filter((control) => control.name);
  const fillOrders = () => {
    loom
      .byId("sort")
      .replaceChildren(...loom.orders().map(({ name, text }) => option(name || "release", text)));
    loom.byId("sort").value = loom.order().name || "release";
  };

  // Show in the form what the address says.
  loom.fillForm = () => {
    for (const control of controls()) {
      if (control.name === "sort") continue;
      if (control.type === "checkbox") control.checked = loom.get(control.name) === control.value;
      else if (control.type !== "search" || control.value !== loom.get("q"))
        control.value = loom.get(control.name);
      if (control.tagName === "SELECT" && control.selectedIndex < 0) control.selectedIndex = 0;
    }
    fillOrders();
    for (const name of ["outcome.of", "score.of"])
      for (const each of loom.byId(name)?.options ?? [])
        if (Object.hasOwn(WHOM, each.value)) each.textContent = whom(each.value);
    const shown = loom.shown();
    if (shown) loom.byId("scored").value = String(loom.scored.indexOf(shown));
    const scale = shown ? SCALE(loom.metric(shown.metric)) : "";
    for (const name of ["score.min", "score.max"])
      if (loom.byId(name)) loom.byId(name).title = `A number${scale}`;
    const n = loom.filtersOn().filter((name) => name !== "q").length;
    loom.byId("n-filters").textContent = n ? `(${n} on)` : "";
    loom.byId("clear").disabled = !loom.filtersOn().length;
    for (const name of ["diff.side", "diff.min"]) {
      const control = loom.byId(name);
      if (control) control.disabled = loom.sides().length < 2;
    }
  };

  // Say beside each outcome how many items it finds, where the filters are seen.
  let counting = 0;
  loom.showOutcomes = async () => {
    const control = loom.byId("outcome");
    if (!control || !loom.byId("more").open) return;
    const mine = (counting += 1);
    const countOf = await loom.countOutcomes();
    if (mine !== counting) return;
    for (const each of control.options)
      if (each.value) each.textContent = `${outcomeText(each.value)} (${countOf(each.value).toLocaleString("en")})`;
  };

  // What is on, each with a button that takes it away.
  const WORDS = {
    q: "search",
    image: "image",
    outcome: "outcome",
    "score.min": "score ≥",
    "score.max": "score ≤",
    "diff.side": "better",
    "diff.min": "difference ≥",
    "judges.min": "judges differ by ≥",
    "length.min": "≥",
    "length.max": "≤",
    note: "with a note",
  };
  const said = (name) => {
    const value = loom.get(name);
    if (name.startsWith(loom.labelState(""))) return `${loom.labelName(name)}: ${value}`;
    if (name === "note") return WORDS.note;
    if (name === "image") return `${WORDS.image} ${value.slice(0, 12)}`;
    if (name === "q") {
      const { words, prefix } = loom.queryOf(value);
      const where = loom.get("in") ? "search in answers" : WORDS.q;
      return words.length || prefix !== null ? `${where} ${value}` : `no word to search for in ${value}`;
    }
    if (name === "diff.side")
      return (
        { a: "A is better", b: "B is better", equal: "A and B equal", differ: "A and B differ" }[value] || value
      );
    const of = loom.get(`${name.split(".")[0]}.of`);
    const who = Object.hasOwn(WHOM, of) ? whom(of) : of;
    if (name === "outcome")
      return `${who || "any model"}: ${value === "lost" ? "no answer" : loom.statusText(value)}`;
    if (name.startsWith("score.")) return `${who || "mean"}: ${WORDS[name]} ${value}`;
    if (name.startsWith("length."))
      return `${(LENGTHS.find(([of]) => of === (loom.get("length.of") || "turns")) || [0, loom.get("length.of")])[1]} ${WORDS[name]} ${value}`;
    return `${WORDS[name]} ${value}`;
  };
  loom.showChips = () => {
    loom
      .byId("chips")
      .replaceChildren(
        ...loom
          .filtersOn()
          .map((name) =>
            el(
              "button",
              { className: "filter", onclick: () => loom.changed({ [name]: null }) },
              el("span", { className: "unseen" }, "Remove filter: "),
              el("bdi", {}, short(said(name))),
              el("span", { "aria-hidden": "true" }, " ×"),
            ),
          ),
      );
  };

  const RESTING = 20;
  loom.makeForm = () => {
    loom.byId("fields").replaceChildren(...fields().filter((field) => field));
    const form = loom.byId("filters");
    form.addEventListener("submit", (event) => event.preventDefault());
    const changesOf = (control) => {
      if (control.id === "scored") {
        const { metric, judge } = loom.scored[Number(control.value)];
        const first = control.value === "0";
        return {
          metric: first ? null : loom.metric(metric).name,
          judge: first ? null : loom.judgeTitle(judge),
        };
      }
      if (control.list) {
        const value = meant(control);
        return value === null ? {} : { [control.name]: value };
      }
      const value = control.type === "checkbox" && !control.checked ? "" : control.value;
      const ended = ["a", "b"].includes(control.name) && !value;
      return {
        ...(ended ? loom.UNCOMPARED : {}),
        [control.name]: value,
      };
    };
    // What is typed counts when the keys rest, or with what is chosen next.
    const waited = new Set();
    let waiting;
    const take = (...controls) => {
      clearTimeout(waiting);
      const changes = [...waited, ...controls].map(changesOf);
      waited.clear();
      loom.changed(Object.assign({}, ...changes));
    };
    form.addEventListener("input", ({ target }) => {
      if (!["search", "number"].includes(target.type)) return;
      // While the keys rest the words of the search are loaded.
      if (target.name === "q") loom.warm(target.value);
      waited.add(target);
      clearTimeout(waiting);
      waiting = setTimeout(take, RESTING);
    });
    form.addEventListener("change", ({ target }) => take(target));
    for (const name of ["sort", "view"])
      loom.byId(name).addEventListener("change", ({ target }) => take(target));
    if (loom.release.models.length > 1) loom.byId("more-title").textContent = "Compare and filter";
    loom.byId("more").open = matchMedia("(min-width: 1100px)").matches;
    loom.byId("more").addEventListener("toggle", () => loom.showOutcomes().catch(loom.failed));
  };
}
