// The form of search, models to compare and filters. Each control is named as the part of the address that it sets.
"use strict";
{
  const { el } = loom;
  const MOST_IN_NAME = 80;
  const short = (text) => (text.length > MOST_IN_NAME ? `${text.slice(0, MOST_IN_NAME)}…` : text);
  const option = (value, text) => el("option", { value }, short(text));
  const models = () => loom.release.models.map(({ name }) => option(name, name));

  const select = (name, label, ...options) =>
    el(
      "div",
      { className: "field line" },
      el("label", { htmlFor: name }, label),
      el("select", { name, id: name }, options),
    );
  const number = (name, label) =>
    el(
      "div",
      { className: "field" },
      el("label", { htmlFor: name }, label),
      el("input", { type: "number", name, id: name, step: "any", inputmode: "decimal" }),
    );
  const group = (legend, ...fields) =>
    el("fieldset", {}, el("legend", {}, legend), el("div", { className: "fields" }, fields));

  const SCALE = ({ low, high }) => (low === null || high === null ? "" : `, ${low} to ${high}`);
  const scoreChoice = () => {
    const texts = loom.scored.map((each) => loom.shownText(each));
    return el(
      "div",
      { className: "field line" },
      el("label", { htmlFor: "scored" }, "Shown"),
      el(
        "select",
        { id: "scored", "data-value": "" },
        loom.scored.map((each, place) => option(String(place), texts[place])),
      ),
    );
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
      .map(({ name }) => option(`answer:${name}`, `answer of ${name}`)),
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
          select("score.of", "Model", option("", "mean of models"), models()),
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
            select(
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
            option("lost", "no answer (any reason)"),
            statuses.map((status) => option(status, loom.statusText(status))),
          ),
          select("outcome.of", "Model", option("", "any model"), models()),
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
        el(
          "button",
          { type: "button", id: "clear", onclick: () => loom.changed({ ...loom.withoutFilters() }) },
          "Clear filters",
        ),
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

  // What is on, each with a button that takes it away.
  const WORDS = {
    q: "search",
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
    if (name === "q") {
      const { words, prefix } = loom.queryOf(value);
      return words.length || prefix !== null ? `${WORDS.q} ${value}` : `no word to search for in ${value}`;
    }
    if (name === "diff.side")
      return (
        { a: "A is better", b: "B is better", equal: "A and B equal", differ: "A and B differ" }[value] || value
      );
    if (name === "outcome")
      return `${loom.get("outcome.of") || "any model"}: ${value === "lost" ? "no answer" : loom.statusText(value)}`;
    if (name.startsWith("score.")) return `${loom.get("score.of") || "mean"}: ${WORDS[name]} ${value}`;
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
              { type: "button", className: "filter", onclick: () => loom.changed({ [name]: null }) },
              el("span", { className: "unseen" }, "Remove filter: "),
              el("bdi", {}, short(said(name))),
              el("span", { "aria-hidden": "true" }, " ×"),
            ),
          ),
      );
  };

  const RESTING = 50;
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
      const value = control.type === "checkbox" && !control.checked ? "" : control.value;
      const ended = ["a", "b"].includes(control.name) && !value;
      return {
        ...(ended ? { sort: null, "diff.side": null, "diff.min": null } : {}),
        [control.name]: value,
      };
    };
    // What is typed counts when the keys rest, or with what is chosen next.
    const typed = new Set();
    let waiting;
    const take = (...controls) => {
      clearTimeout(waiting);
      const changes = [...typed, ...controls].map(changesOf);
      typed.clear();
      loom.changed(Object.assign({}, ...changes));
    };
    form.addEventListener("input", ({ target }) => {
      if (!["search", "number"].includes(target.type)) return;
      typed.add(target);
      clearTimeout(waiting);
      waiting = setTimeout(take, RESTING);
    });
    form.addEventListener("change", ({ target }) => take(target));
    loom.byId("sort").addEventListener("change", ({ target }) => take(target));
    if (loom.release.models.length > 1) loom.byId("more-title").textContent = "Compare and filter";
    loom.byId("more").open = matchMedia("(min-width: 1100px)").matches;
  };
}
