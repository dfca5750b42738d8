// The items that are found, by image: which images the models fail on.
"use strict";
{
  const { el } = loom;
  // Images that are shown, the worst first.
  const MOST_IMAGES = 200;

  // The mean score of each model over the items of each image, and the share of its scale of the best of them.
  const rowsOf = async (numbers, models) => {
    const shown = loom.shown();
    const [images, items, scores] = await Promise.all([
      loom.images(),
      loom.column({ kind: "images" }),
      Promise.all(models.map(loom.scoresOf)),
    ]);
    const shade = loom.shadeOf(shown.metric);
    const rows = new Map();
    for (const number of numbers)
      for (const place of items[number]) {
        const row = rows.get(place) ?? { image: images[place], n: 0, scores: models.map(() => ({ n: 0, sum: 0 })) };
        row.n += 1;
        scores.forEach((values, which) => {
          if (!values || Number.isNaN(values[number])) return;
          row.scores[which].n += 1;
          row.scores[which].sum += values[number];
        });
        rows.set(place, row);
      }
    return [...rows.values()].map((row) => {
      const means = row.scores.map(({ n, sum }) => (n ? sum / n : NaN));
      const known = means.filter((mean) => !Number.isNaN(mean));
      return { ...row, means, best: known.length ? Math.max(...known.map(shade)) : Infinity };
    });
  };
  const row = ({ image, n, means }, models, shade) => {
    return el(
      "li",
      {},
      el(
        "button",
        { title: "The items with this image", onclick: () => loom.changed({ image: image.id, view: null }) },
        el("span", { className: "thumb" }, loom.thumb(image.thumb, "", () => "×") || "×"),
        el(
          "span",
          { className: "row" },
          el("span", { className: "excerpt" }, el("bdi", {}, image.title || image.id.slice(0, 12))),
          el(
            "span",
            { className: "row-head" },
            loom.count(n, "item"),
            means.map((mean, which) =>
              el(
                "span",
                { className: "model-score", shade: Number.isNaN(mean) ? 0 : shade(mean) },
                el("bdi", {}, loom.label(models[which])),
                ` ${loom.score(mean)}`,
              ),
            ),
          ),
        ),
      ),
    );
  };

  let drawing = 0;
  // Show the images of these items: those first that even the best of the models fails on.
  loom.drawImages = async (numbers) => {
    const draw = (drawing += 1);
    const target = loom.byId("by-image");
    const shown = loom.shown();
    if (!shown) {
      target.replaceChildren(el("li", { className: "nothing" }, "This release has no scores."));
      return;
    }
    const models = loom.meant();
    const rows = await rowsOf(numbers, models);
    if (draw !== drawing) return;
    rows.sort((a, b) => (a.best === b.best ? b.n - a.n : a.best - b.best));
    const shade = loom.shadeOf(shown.metric);
    const above =
      rows.length > MOST_IMAGES
        ? `The ${MOST_IMAGES} of ${loom.count(rows.length, "image")} whose best mean score is lowest.`
        : `${loom.count(rows.length, "image")}, by the best mean score of the models, lowest first.`;
    target.replaceChildren(
      el("li", { className: "nothing" }, above),
      ...rows.slice(0, MOST_IMAGES).map((each) => row(each, models, shade)),
    );
  };
}
