// What the items that are found say of the models that are compared: who is better how often, and by how much.
"use strict";
{
  const { el } = loom;

  // Counts of one pair over the items that are marked; an item without both scores is counted apart.
  loom.countPair = (differences, marks) => {
    const counts = { a: 0, equal: 0, b: 0, missing: 0, mean: NaN };
    let sum = 0;
    for (let number = 0; number < loom.n; number += 1) {
      if (!marks[number]) continue;
      const value = differences[number];
      if (Number.isNaN(value)) counts.missing += 1;
      else {
        sum += value;
        counts[value > 0 ? "a" : value < 0 ? "b" : "equal"] += 1;
      }
    }
    const n = counts.a + counts.equal + counts.b;
    if (n) counts.mean = sum / n;
    return counts;
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
  const pair = (first, second, counts) => {
    const [one, two] = [first, second].map(({ side, model }) => ({
      letter: side.toUpperCase(),
      name: loom.release.models[model].name,
    }));
    const [front, back] = loom.sides();
    const here = first.side === front.side && second.side === back.side;
    const button = (side, text) =>
      el(
        "button",
        {
          type: "button",
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
          ? `Mean difference ${loom.signed(counts.mean)} over ${loom.count(n, "item")}`
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
        loom.countPair(await loom.differences(first.model, second.model), marks),
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
          {
            type: "button",
            onclick: () =>
              loom.changed({
                a: null,
                b: null,
                c: null,
                sort: null,
                "diff.side": null,
                "diff.min": null,
              }),
          },
          "End the comparison",
        ),
      ),
    );
    target.hidden = false;
  };
}
