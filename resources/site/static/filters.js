// Which items the filters of the address let through, and in which order.
"use strict";
{
  const bound = (name) => {
    const value = loom.get(name);
    return value === "" || !Number.isFinite(Number(value)) ? null : Number(value);
  };
  const within = (values, low, high) => (number) =>
    (low === null || values[number] >= low) && (high === null || values[number] <= high);
  // Values that are missing are in no range.
  const ranged = (values, low, high) => {
    if (!values) return () => false;
    const inside = within(values, low, high);
    return (number) => !Number.isNaN(values[number]) && inside(number);
  };

  // The scores of a model in the metric and by the judge that are shown; null where there are none.
  loom.scoresOf = (model) => {
    const shown = loom.shown();
    return shown ? loom.column({ kind: "score", ...shown, model }) : Promise.resolve(null);
  };
  const everyModel = () => loom.release.models.map((_, model) => model);
  const present = async (columns) => (await Promise.all(columns)).filter((values) => values);
  const columnsOf = (kind, models, more = {}) =>
    present(models.map((model) => loom.column({ kind, model, ...more })));
  const modelsOf = (name) => {
    const model = loom.modelOf(name);
    return loom.get(name) === "" ? everyModel() : model === null ? [] : [model];
  };
  const reduced = (columns, better) => {
    const values = new Float64Array(loom.n).fill(NaN);
    for (const column of columns) {
      for (let number = 0; number < loom.n; number += 1) {
        const value = column[number];
        if (!Number.isNaN(value) && (Number.isNaN(values[number]) || better(value, values[number])))
          values[number] = value;
      }
    }
    return values;
  };
  const disagreement = async (models) => {
    const shown = loom.shown();
    return reduced(
      shown ? await columnsOf("disagreement", models, { metric: shown.metric }) : [],
      (a, b) => a > b,
    );
  };
  const lengths = (of) => {
    const model = loom.release.models.findIndex(({ name }) => `answer:${name}` === of);
    return loom.column(model < 0 ? { kind: "count", name: of } : { kind: "length", model });
  };

  // The largest disagreement of judges on an item: by how much, of which model, and in which turn if known.
  loom.disagreementsOf = async () => {
    const shown = loom.shown();
    if (!shown) return () => null;
    const of = await Promise.all(
      everyModel().map(async (model) => ({
        model,
        values: await loom.column({ kind: "disagreement", metric: shown.metric, model }),
        turns: await loom.column({ kind: "disagreement_turn", metric: shown.metric, model }),
      })),
    );
    return (number) => {
      let widest = null;
      for (const { model, values, turns } of of) {
        const value = values ? values[number] : NaN;
        if (!Number.isNaN(value) && (widest === null || value > widest.value))
          widest = { model, value, turn: turns && !Number.isNaN(turns[number]) ? turns[number] : null };
      }
      return widest;
    };
  };

  // How much better the first of two models is, by item; NaN where one has no score.
  loom.differences = async (a, b) => {
    const shown = loom.shown();
    const [of, than] = await Promise.all([loom.scoresOf(a), loom.scoresOf(b)]);
    const values = new Float64Array(loom.n).fill(NaN);
    if (!of || !than) return values;
    const sign = loom.metric(shown.metric).higher_is_better ? 1 : -1;
    // Sums of decimals are rounded to what a score can differ by.
    for (let number = 0; number < loom.n; number += 1)
      values[number] = Math.round(sign * (of[number] - than[number]) * 1e9) / 1e9;
    return values;
  };
  const SIDES = {
    a: (value) => value > 0,
    b: (value) => value < 0,
    equal: (value) => value === 0,
    differ: (value) => value !== 0,
  };

  // "lost": no answer that could be scored as one.
  const isOutcome = (wanted, status) =>
    wanted === "lost" ? !["answered", "given", "refused"].includes(status) : status === wanted;
  // The turn that the filter of outcomes, or the order by disagreement, is about; null where there is none.
  loom.turnMeant = async (item) => {
    const wanted = loom.get("outcome");
    if (wanted && wanted !== "answered") {
      const of = loom.get("outcome.of");
      const models = [loom.EVERY, loom.NO].includes(of) ? loom.meant() : modelsOf("outcome.of");
      const answers = item.answers.filter(
        ({ model, status }) => models.includes(model) && isOutcome(wanted, status),
      );
      return answers.length ? Math.min(...answers.map(({ turn }) => turn)) : null;
    }
    if (loom.order().name !== "judges") return null;
    return (await loom.disagreementsOf())(item.number)?.turn ?? null;
  };

  const ANSWERED = ["answered", "given"];
  // Whether the answers of an item, a bit for each way in which one of them ended, have an outcome: all are
  // answers, or one ended so.
  const outcomeTest = (wanted) => {
    const bits = (test) => loom.release.statuses.reduce((sum, status, place) => sum + (test(status) ? 2 ** place : 0), 0);
    const answered = bits((status) => ANSWERED.includes(status));
    const found = bits((status) => isOutcome(wanted, status));
    if (wanted === "answered") return (ends) => ends > 0 && (ends & ~answered) === 0;
    // Under a limit, items have no answers.
    if (wanted === "not_asked") return (ends) => ends === 0 || (ends & found) !== 0;
    return (ends) => (ends & found) !== 0;
  };

  // A test of items for each outcome of the models that the address says.
  const outcomes = async () => {
    const of = loom.get("outcome.of");
    const models = [loom.EVERY, loom.NO].includes(of) ? loom.meant() : modelsOf("outcome.of");
    const columns = await columnsOf("status", models);
    return (wanted) => {
      const has = outcomeTest(wanted);
      if (of === loom.NO) return (number) => !columns.some((column) => has(column[number]));
      if (of === loom.EVERY) return (number) => columns.every((column) => has(column[number]));
      return (number) => columns.some((column) => has(column[number]));
    };
  };
  // How many items each outcome would find, as the other filters are: a function of the outcome.
  loom.countOutcomes = async () => {
    const [marks, testOf] = await Promise.all([loom.marks("outcome"), outcomes()]);
    return (wanted) => {
      const test = testOf(wanted);
      return marks.reduce((n, mark, number) => n + (mark && test(number) ? 1 : 0), 0);
    };
  };

  // A test for each filter that is on: whether it lets the item of a number through.
  const makers = {
    q: async (text) => {
      const marks = await loom.search(text);
      return marks && ((number) => marks[number] === 1);
    },
    outcome: async (wanted) => (await outcomes())(wanted),
    score: async () => {
      const model = loom.modelOf("score.of");
      const of = loom.get("score.of");
      let values = null;
      if (of === "") values = await loom.meanScores();
      else if (model !== null) values = await loom.scoresOf(model);
      else if ([loom.HIGHEST, loom.LOWEST].includes(of)) {
        const columns = await present(loom.meant().map(loom.scoresOf));
        values = reduced(columns, (a, b) => (of === loom.HIGHEST ? a > b : a < b));
      }
      return ranged(values, bound("score.min"), bound("score.max"));
    },
    difference: async () => {
      const [first, second] = loom.sides();
      if (!second) return null;
      const values = await loom.differences(first.model, second.model);
      const side = SIDES[loom.get("diff.side")] || (() => true);
      const least = bound("diff.min") ?? 0;
      return (number) =>
        !Number.isNaN(values[number]) && side(values[number]) && Math.abs(values[number]) >= least;
    },
    judges: async () => ranged(await disagreement(modelsOf("judges.of")), bound("judges.min"), null),
    length: async () =>
      ranged(await lengths(loom.get("length.of") || "turns"), bound("length.min"), bound("length.max")),
    image: async (id) => {
      const [images, items] = await Promise.all([loom.images(), loom.column({ kind: "images" })]);
      const place = images.findIndex((image) => image.id === id);
      return (number) => items[number].includes(place);
    },
    note: async () => {
      const noted = loom.notes.all();
      return (number) => noted.has(loom.release.ids[number]);
    },
  };
  const MAKER_OF = {
    "score.min": "score",
    "score.max": "score",
    "diff.side": "difference",
    "diff.min": "difference",
    "judges.min": "judges",
    "length.min": "length",
    "length.max": "length",
  };
  const labelled = (name) => async () => {
    const { labels } = loom.release;
    const label = labels.findIndex((each) => each.name === loom.labelName(name));
    const values = await loom.column({ kind: "label", label });
    const value = loom.get(name);
    const place = label < 0 ? -1 : labels[label].values.indexOf(value);
    // An item without the label has -1; a value that no item has is at no place.
    const wanted = value === loom.NONE ? -1 : place < 0 ? -2 : place;
    return (number) => Boolean(values) && values[number] === wanted;
  };
  loom.NONE = "(none)";

  // A mark for each item that all filters let through; `but` names one that is left out.
  loom.marks = async (but = "") => {
    const on = loom.filtersOn();
    const wanted = new Set(
      on.filter((name) => !loom.labelFilters().includes(name)).map((name) => MAKER_OF[name] || name),
    );
    wanted.delete(but);
    const made = [...wanted].map((name) => makers[name](loom.get(name)));
    const tests = await present([...made, ...loom.labelFilters().map((name) => labelled(name)())]);
    const marks = new Uint8Array(loom.n);
    for (let number = 0; number < loom.n; number += 1)
      marks[number] = tests.every((test) => test(number)) ? 1 : 0;
    return marks;
  };

  loom.meanScores = async () => {
    const columns = await present(
      everyModel()
        .filter((model) => loom.release.models[model].is_model)
        .map(loom.scoresOf),
    );
    const means = new Float64Array(loom.n);
    for (let number = 0; number < loom.n; number += 1) {
      let sum = 0;
      let n = 0;
      for (const column of columns) {
        if (!Number.isNaN(column[number])) {
          sum += column[number];
          n += 1;
        }
      }
      means[number] = n ? sum / n : NaN;
    }
    return means;
  };
  const spread = async () => {
    const columns = await present(everyModel().map(loom.scoresOf));
    const low = reduced(columns, (a, b) => a < b);
    return reduced(columns, (a, b) => a > b).map((value, number) => value - low[number]);
  };
  const of = (name) => async () => {
    const [first, second] = loom.sides();
    const values = second ? await loom.differences(first.model, second.model) : null;
    return (
      values && values.map((value) => (name === "differ" ? Math.abs(value) : name === "a" ? value : -value))
    );
  };

  // Orders by the highest value first, or the lowest where `up`; items without a value come last.
  loom.orders = () => {
    const pair = loom.sides().length > 1;
    const scored = loom.shown() !== null;
    return [
      { name: "", text: "As in the release" },
      ...(pair
        ? [
            { name: "differ", text: "Largest difference of A and B", values: of("differ") },
            { name: "a", text: "A better first", values: of("a") },
            { name: "b", text: "B better first", values: of("b") },
          ]
        : []),
      ...(scored
        ? [
            { name: "hard", text: "Lowest mean score", values: loom.meanScores, up: true },
            { name: "easy", text: "Highest mean score", values: loom.meanScores },
            { name: "spread", text: "Largest spread of models", values: spread },
          ]
        : []),
      ...(loom.release.columns.some(({ kind }) => kind === "disagreement")
        ? [{ name: "judges", text: "Largest disagreement of judges", values: () => disagreement(everyModel()) }]
        : []),
      ...(scored
        ? loom.release.models.flatMap(({ name, label }, model) => [
            { name: `low:${name}`, text: `Lowest score of ${label}`, values: () => loom.scoresOf(model), up: true },
            { name: `high:${name}`, text: `Highest score of ${label}`, values: () => loom.scoresOf(model) },
          ])
        : []),
    ];
  };
  // With two models the differences come first, unless another order is chosen.
  loom.order = () => {
    const orders = loom.orders();
    const name = loom.get("sort") || (loom.sides().length > 1 ? "differ" : "");
    return orders.find((order) => order.name === (name === "release" ? "" : name)) || orders[0];
  };
  loom.sorted = async (marks) => {
    const found = [];
    for (let number = 0; number < loom.n; number += 1) if (marks[number]) found.push(number);
    const { values: valuesOf, up } = loom.order();
    const values = valuesOf && (await valuesOf());
    if (!values) return found;
    const sign = up ? 1 : -1;
    const key = (number) => (Number.isNaN(values[number]) ? Infinity : sign * values[number]);
    return found.sort((a, b) => {
      const [first, second] = [key(a), key(b)];
      return first === second ? a - b : first - second;
    });
  };
}
