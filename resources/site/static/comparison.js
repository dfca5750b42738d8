// What the items that are found say of the models that are compared: who is better how often, and by how much.
"use strict";
{
  const { el } = loom;

  // The 0.975 quantile of Student's t, by the expansion of Cornish and Fisher: 2.228 for 10 degrees of freedom.
  const quantile = (degrees) => {
    const z = 1.959964;
    const terms = [
      (z ** 3 + z) / 4,
      (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96,
      (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384,
    ];
    return terms.reduce((sum, term, place) => sum + term / degrees ** (place + 1), z);
  };
  const FEWEST_GROUPS = 5;
  // methods/evaluation/statistics/intervals.py has the formulas.
  const sum = (values) => values.reduce((total, value) => total + value, 0);
  const fit = (clusters) => {
    const n = sum(clusters.map(({ size }) => size));
    const shares = clusters.map(({ size }) => size / n);
    const residuals = clusters.map(({ residual }) => residual / n);
    const squares = residuals.map((residual) => residual ** 2);
    const leverages = shares.map((share) => share ** 2 / (1 - share));
    const crossed = sum(leverages) ** 2 - sum(leverages.map((leverage) => leverage ** 2));
    return {
      error: Math.sqrt(sum(squares.map((square, place) => square / (1 - shares[place])))),
      q: quantile(1 / (sum(shares.map((share) => share ** 2)) + crossed)),
      skewness: sum(residuals.map((residual) => residual ** 3)) / sum(squares) ** 1.5,
    };
  };
  // How far the interval reaches below and above the mean.
  const reaches = (clusters, mean, most) => {
    const { error, q, skewness } = fit(clusters);
    if (error > 1e-9 * Math.max(1, Math.abs(mean)))
      return [-skewness, skewness].map((against) => error * (q + (Math.max(against, 0) * (2 * q ** 2 + 1)) / 6));
    if (!Number.isFinite(most)) return [0, 0];
    // Equal differences: with a pseudo-cluster of mean size at each end of the scale the mean moves to 0.
    const n = sum(clusters.map(({ size }) => size));
    const size = n / clusters.length;
    const moved = (2 * size * mean) / (n + 2 * size);
    const ends = [-most, most].map((end) => ({ size, residual: size * (end - mean + moved) }));
    const all = fit([...clusters.map((cluster) => ({ ...cluster, residual: cluster.size * moved })), ...ends]);
    return [all.error * all.q + moved, all.error * all.q - moved];
  };
  // The mean difference and its 95 % interval, as the leaderboard averages: over turns (micro), over items
  // (macro), or over the values of a label. `weights` are the units of each item, `groups` what belongs together.
  // `most` is the largest difference that the scale allows.
  loom.meanDifference = (differences, numbers, { weights, groups, strata, most }) => {
    const sums = new Map();
    for (const number of numbers) {
      const stratum = strata ? strata[number] : 0;
      const sum = sums.get(stratum) ?? { weight: 0, total: 0 };
      sum.weight += weights[number];
      sum.total += weights[number] * differences[number];
      sums.set(stratum, sum);
    }
    const mean = sum([...sums.values()].map(({ weight, total }) => total / weight)) / sums.size;
    const n = sum(numbers.map((number) => weights[number]));
    const clusters = new Map();
    for (const number of numbers) {
      const ofStratum = n / sums.size / sums.get(strata ? strata[number] : 0).weight;
      const cluster = clusters.get(groups[number]) ?? { size: 0, residual: 0 };
      cluster.size += weights[number];
      cluster.residual += weights[number] * ofStratum * (differences[number] - mean);
      clusters.set(groups[number], cluster);
    }
    const half = clusters.size < FEWEST_GROUPS ? [NaN, NaN] : reaches([...clusters.values()], mean, most);
    return {
      mean,
      low: Math.max(mean - half[0], -most),
      high: Math.min(mean + half[1], most),
      nGroups: clusters.size,
    };
  };
  // How the leaderboard averages the metric that is shown, for two models.
  const averaging = async (first, second) => {
    const shown = loom.shown();
    const { aggregation, low, high } = loom.metric(shown.metric);
    const label = loom.release.labels.findIndex(({ name }) => aggregation.endsWith(` by ${name}`));
    const ones = new Float64Array(loom.n).fill(1);
    const units = (model) => loom.column({ kind: "units", ...shown, model });
    const [of, than] = aggregation === "micro" ? await Promise.all([units(first), units(second)]) : [];
    return {
      weights: of && than ? of.map((n, number) => Math.min(n, than[number])) : ones,
      groups: await loom.column({ kind: "group" }),
      strata: label < 0 ? null : await loom.column({ kind: "label", label }),
      over: of && than ? "turn" : null,
      most: low === null || high === null ? Infinity : high - low,
    };
  };
  // Counts of one pair over the items that are marked; an item without both scores is counted apart.
  loom.countPair = (differences, marks, averaged) => {
    const counts = { a: 0, equal: 0, b: 0, missing: 0, mean: null, n: 0 };
    const numbers = [];
    for (let number = 0; number < loom.n; number += 1) {
      if (!marks[number]) continue;
      const value = differences[number];
      if (Number.isNaN(value)) counts.missing += 1;
      else {
        numbers.push(number);
        counts[value > 0 ? "a" : value < 0 ? "b" : "equal"] += 1;
      }
    }
    if (!numbers.length) return counts;
    const n = averaged.over ? numbers.reduce((sum, number) => sum + averaged.weights[number], 0) : numbers.length;
    const over = loom.count(n, averaged.over ?? "item");
    return { ...counts, over, mean: loom.meanDifference(differences, numbers, averaged) };
  };

  const bar = ({ a, equal, b }, first, second) => {
    const n = a + equal + b;
    const parts = [
      [first.side, a],
      ["equal", equal],
      [second.side, b],
    ].filter(([, part]) => part);
    return el(
      "div",
      { className: "share-bar", "aria-hidden": "true" },
      parts.map(([name, part]) => el("i", { className: `is-${name}`, shade: part / n })),
    );
  };
  // A pair but the first is made the first by its buttons.
  const change = (first, second, side) => ({
    a: loom.release.models[first.model].name,
    b: loom.release.models[second.model].name,
    c:
      loom
        .sides()
        .filter(({ side }) => side !== first.side && side !== second.side)
        .map(({ model }) => loom.release.models[model].name)[0] ?? null,
    "diff.side": side,
    sort: null,
  });
  const interval = ({ low, high, nGroups }) =>
    Number.isNaN(low)
      ? ""
      : ` (95 % interval ${nGroups < 10 ? "~ " : ""}${loom.signed(low)} to ${loom.signed(high)}, ${loom.count(nGroups, "independent group")})`;
  const pair = (first, second, counts) => {
    const [one, two] = [first, second].map(({ side, model }) => ({
      letter: side.toUpperCase(),
      name: loom.label(model),
    }));
    const [front, back] = loom.sides();
    const here = first.side === front.side && second.side === back.side;
    const button = (side, text) =>
      el(
        "button",
        {
          "aria-pressed": String(here && loom.get("diff.side") === side),
          onclick: () =>
            loom.changed(
              here && loom.get("diff.side") === side ? { "diff.side": null } : change(first, second, side),
            ),
        },
        text,
      );
    const n = counts.a + counts.equal + counts.b;
    return el(
      "div",
      { className: "pair" },
      el(
        "p",
        { className: "pair-names" },
        el("b", { className: `side is-${first.side}` }, one.letter),
        " ",
        el("bdi", {}, one.name),
        " ",
        el("span", { className: "note" }, "against"),
        " ",
        el("b", { className: `side is-${second.side}` }, two.letter),
        " ",
        el("bdi", {}, two.name),
      ),
      n > 0 && bar(counts, first, second),
      el(
        "p",
        { className: "pair-counts" },
        button("a", `${one.letter} better ${counts.a}`),
        button("equal", `equal ${counts.equal}`),
        button("b", `${two.letter} better ${counts.b}`),
      ),
      el(
        "p",
        { className: "note" },
        n
          ? `Mean difference ${loom.signed(counts.mean.mean)}${interval(counts.mean)} over ${counts.over}`
          : "No item has scores of both",
        counts.missing ? `; ${loom.count(counts.missing, "item")} without both scores left out.` : ".",
      ),
    );
  };

  loom.showComparison = async () => {
    const sides = loom.sides();
    const target = loom.byId("comparison");
    const shown = loom.shown();
    const unknown = ["a", "b", "c"].filter((side) => loom.get(side) && loom.modelOf(side) === null);
    const lacks = unknown.map((side) => `no model ${loom.get(side)}`);
    const [metric, judge] = [loom.get("metric"), loom.get("judge")];
    if (shown && metric && loom.metric(shown.metric).name !== metric) lacks.push(`no scores by ${metric}`);
    else if (shown && judge && ![loom.judgeTitle(shown.judge), loom.release.judges[shown.judge].judge].includes(judge))
      lacks.push(`no scores of ${judge}`);
    const notice = lacks.map((what) =>
      el("p", { className: "banner" }, `This release has ${what}: the link is of another evaluation.`),
    );
    if (sides.length < 2 || !shown) {
      target.hidden = !notice.length;
      target.replaceChildren(...notice);
      return;
    }
    const marks = await loom.marks("difference");
    const pairs = sides.flatMap((first, place) => sides.slice(place + 1).map((second) => [first, second]));
    const counted = await Promise.all(
      pairs.map(async ([first, second]) =>
        loom.countPair(
          await loom.differences(first.model, second.model),
          marks,
          await averaging(first.model, second.model),
        ),
      ),
    );
    target.replaceChildren(
      ...notice,
      el("h2", {}, "Comparison ", el("small", {}, `${loom.shownText(shown)}; positive: the first is better`)),
      ...pairs.map(([first, second], place) => pair(first, second, counted[place])),
      el(
        "p",
        {},
        el(
          "button",
          { onclick: () => loom.changed({ a: null, b: null, c: null, ...loom.UNCOMPARED }) },
          "End the comparison",
        ),
      ),
    );
    target.hidden = false;
  };
}
