// The list of the items that are found, page by page, and the way from one to the next.
"use strict";
{
  const { el } = loom;
  const ON_PAGE = 50;
  let found = [];
  let page = 0;
  let drawing = 0;

  // The item that is shown: that of the address, or the first that was found.
  const current = () => loom.shownNumber() ?? loom.release.ids.indexOf(loom.get("item"));

  const cells = (scores, shade, number) =>
    scores.map(({ model, values }) => {
      const value = values ? values[number] : NaN;
      return Number.isNaN(value)
        ? el("i", { className: "none" })
        : el("i", { shade: shade(value), title: `${loom.label(model)}: ${loom.score(value)}` });
    });
  // What stands at the right of a row: the scores of the models that are compared, or all in short.
  const scoresOf = (scores, sides, differences, shade, number) => {
    if (!sides.length) {
      const known = scores.filter(
        ({ model, values }) => loom.release.models[model].is_model && values && !Number.isNaN(values[number]),
      );
      const mean = known.reduce((sum, { values }) => sum + values[number], 0) / known.length;
      return el(
        "span",
        { className: "scores" },
        el("span", { className: "cells", "aria-hidden": "true" }, cells(scores, shade, number)),
        known.length > 0 &&
          el("span", { className: "mean" }, el("span", { className: "unseen" }, "mean score "), loom.score(mean)),
      );
    }
    return el(
      "span",
      { className: "scores" },
      sides.map(({ side, model }) =>
        el(
          "span",
          {},
          el("b", { className: `side is-${side}` }, side.toUpperCase()),
          ` ${loom.score(scores.find((each) => each.model === model)?.values?.[number] ?? NaN)} `,
        ),
      ),
      differences &&
        !Number.isNaN(differences[number]) &&
        el(
          "span",
          {
            className: `difference ${differences[number] > 0 ? "is-a" : differences[number] < 0 ? "is-b" : ""}`,
          },
          loom.signed(differences[number]),
        ),
    );
  };
  const row = (number, noted) =>
    el(
      "li",
      {},
      el(
        "a",
        { href: loom.addressWith({ item: loom.release.ids[number] }), "data-number": number },
        el("span", { className: "thumb" }),
        el(
          "span",
          { className: "row" },
          el(
            "span",
            { className: "row-head" },
            el("span", { className: "number" }, `${number + 1}`),
            noted.has(loom.release.ids[number]) &&
              el(
                "span",
                { className: "noted", title: "You have a note on it" },
                "✎",
                el("span", { className: "unseen" }, " with a note of yours"),
              ),
          ),
          el("span", { className: "excerpt", dir: "auto" }, "…"),
        ),
      ),
    );

  const missing = () => el("span", { className: "gone", title: "The picture is missing" }, "×");
  const fill = async (link) => {
    const [excerpt, thumb] = await loom.headOf(Number(link.dataset.number));
    link.querySelector(".excerpt").textContent = excerpt || "(no text)";
    if (thumb) link.querySelector(".thumb").append(loom.thumb(thumb, "", missing));
  };

  const turnTo = (next) => {
    page = next;
    loom.drawList().catch(loom.failed);
    loom.byId("list").parentElement.scrollTop = 0;
    if (document.body.dataset.view === "list") scrollTo(0, loom.byId("list").offsetTop - 100);
  };
  const pages = () => {
    const last = Math.max(0, Math.ceil(found.length / ON_PAGE) - 1);
    const go = (text, label, to, off) =>
      el("button", { disabled: off, "aria-label": label, onclick: () => turnTo(to) }, text);
    const first = page * ON_PAGE;
    loom
      .byId("pages")
      .replaceChildren(
        ...(last
          ? [
              go("«", "First page", 0, !page),
              go("‹ Back", "Page before", page - 1, !page),
              el("span", {}, `${first + 1}–${Math.min(found.length, first + ON_PAGE)}`),
              go("More ›", "Next page", page + 1, page === last),
              go("»", "Last page", last, page === last),
            ]
          : []),
      );
  };

  const furthest = (of) =>
    el(
      "span",
      { className: "apart" },
      of.value
        ? `Judges ${loom.score(of.value)} apart on ${loom.label(of.model)}${of.turn === null ? "" : `, turn ${of.turn}`}`
        : "Judges agree",
    );

  // Draw the page of the list. Excerpts and scores come when their files do.
  loom.drawList = async () => {
    const draw = (drawing += 1);
    const list = loom.byId("list");
    const noted = loom.notes.all();
    const rows = found.slice(page * ON_PAGE, (page + 1) * ON_PAGE).map((number) => row(number, noted));
    list.replaceChildren(...rows);
    if (!found.length)
      list.replaceChildren(
        el(
          "li",
          { className: "nothing" },
          loom.n
            ? "No item is as the search and the filters say. Remove one of them above."
            : "This release has no items.",
          loom.isShort(loom.get("q")) && " A word is found by its first two letters or more.",
        ),
      );
    pages();
    loom.markCurrent();
    const links = [...list.querySelectorAll("a")];
    const filled = Promise.all(links.map(fill));
    const shown = loom.shown();
    if (shown) {
      const sides = loom.sides();
      const models = sides.length
        ? sides.map(({ model }) => model)
        : loom.release.models.map((_, model) => model);
      const [scores, differences] = await Promise.all([
        Promise.all(models.map(async (model) => ({ model, values: await loom.scoresOf(model) }))),
        sides.length > 1 ? loom.differences(sides[0].model, sides[1].model) : null,
      ]);
      if (draw !== drawing) return;
      const shade = loom.shadeOf(shown.metric);
      for (const link of links)
        link
          .querySelector(".row-head")
          .append(scoresOf(scores, sides, differences, shade, Number(link.dataset.number)) ?? "");
    }
    if (loom.order().name === "judges") {
      const disagreementOf = await loom.disagreementsOf();
      if (draw !== drawing) return;
      for (const link of links) {
        const of = disagreementOf(Number(link.dataset.number));
        if (of) link.querySelector(".row").append(furthest(of));
      }
    }
    await filled;
  };

  loom.markCurrent = () => {
    const now = current();
    for (const link of loom.byId("list").querySelectorAll("a")) {
      const here = Number(link.dataset.number) === now;
      if (here) {
        link.setAttribute("aria-current", "true");
        if (document.body.dataset.view !== "list" || matchMedia("(min-width: 1100px)").matches)
          link.scrollIntoView({ block: "nearest" });
      } else link.removeAttribute("aria-current");
      // Links go on from the address as it is.
      link.href = loom.addressWith({ item: loom.release.ids[Number(link.dataset.number)] });
    }
  };

  // Search and filter as the address says; when it is known what is found, `drawn` says when it is shown.
  let finding = 0;
  loom.find = async () => {
    const mine = (finding += 1);
    loom.fillForm();
    loom.showChips();
    const sorted = await loom.sorted(await loom.marks());
    if (mine !== finding) return { drawn: null };
    found = sorted;
    const place = found.indexOf(loom.release.ids.indexOf(loom.get("item")));
    page = place < 0 ? 0 : Math.floor(place / ON_PAGE);
    loom.byId("count").textContent =
      found.length === loom.n
        ? loom.count(loom.n, "item")
        : `${found.length.toLocaleString("en")} of ${loom.count(loom.n, "item")}`;
    const byImage = loom.get("view") === "images";
    loom.byId("list").hidden = byImage;
    loom.byId("by-image").hidden = !byImage;
    if (byImage) loom.byId("pages").replaceChildren();
    const drawn = Promise.all([byImage ? loom.drawImages(found) : loom.drawList(), loom.showComparison()]);
    drawn.then(loom.showOutcomes).catch(loom.failed);
    return { drawn };
  };

  // The place of an item among those that are found, and its neighbours there.
  loom.placeOf = (number) => {
    const place = found.indexOf(number);
    return {
      place,
      n: found.length,
      before: place > 0 ? found[place - 1] : null,
      after: place + 1 < found.length ? found[place + 1] : null,
    };
  };
  loom.firstFound = () => found[0] ?? null;
  loom.showPageOf = (number) => {
    const place = found.indexOf(number);
    const wanted = Math.floor(place / ON_PAGE);
    if (place >= 0 && wanted !== page) turnTo(wanted);
    else loom.markCurrent();
  };
}
