// One item: its pictures, its dialogue turn by turn, what is known of its making.
"use strict";
{
  const { el } = loom;
  const target = loom.byId("item");
  const POLICY = "policy:";
  const LONG_QUESTION = 4000;
  // A policy that stood in for a person must not read like a person's name.
  const reviewer = (name) =>
    name.startsWith(POLICY) ? `no person (policy “${name.slice(POLICY.length)}”)` : name;

  const gone = (text) => el("span", { className: "gone", role: "img", "aria-label": text }, "image missing");
  const image = (images, place) => {
    const each = images[place];
    const label = `Image ${place + 1}${each.title ? `: ${each.title}` : ""}`;
    const missing = () => gone(`${label}, which is missing`);
    return el(
      "li",
      {},
      el(
        "button",
        { className: "frame", "aria-haspopup": "dialog", onclick: () => loom.showPicture(images, place) },
        loom.thumb(each.thumb, label, missing) || missing(),
        el("span", { className: "chip entry", "aria-hidden": "true" }, place + 1),
      ),
      el("bdi", {}, each.page ? loom.link(each.page, each.title || "its page") : each.title),
      el(
        "small",
        { dir: "auto" },
        el("bdi", {}, each.licence || "licence unknown"),
        each.artist && [", ", el("bdi", {}, each.artist)],
      ),
    );
  };

  const KINDS = {
    answer: "Reference answer",
    key: "Right choice",
    caption: "Caption for the judge",
    focus: "Focus of the judge",
  };
  const reference = ({ kind, text, call, prompt }, nImages) =>
    el(
      "div",
      { className: "reference" },
      el("h4", {}, KINDS[kind] || kind),
      el("div", { className: "said", dir: "auto" }, loom.said(text, nImages)),
      (call || prompt) &&
        el("div", { className: "keys" }, loom.call("reference", call), loom.promptButton(prompt)),
    );

  const turn = (item, each, isFirst) => {
    const nImages = item.images.length;
    return el(
      "section",
      { className: "turn", "aria-label": `Turn ${each.turn}`, "data-turn": each.turn },
      el("h3", { tabIndex: -1, className: item.turns.length > 1 ? "" : "unseen" }, `Turn ${each.turn}`),
      loom.cut(
        el("p", { className: "said question", dir: "auto" }, loom.said(each.question, nImages, each.images)),
        each.question,
        LONG_QUESTION,
      ),
      isFirst &&
        item.choices.length > 0 &&
        el(
          "ol",
          { className: "choices" },
          item.choices.map((choice, place) =>
            el("li", { dir: "auto" }, el("b", {}, loom.letter(place)), " ", loom.said(choice, nImages)),
          ),
        ),
      (each.call || each.prompt) &&
        el("div", { className: "keys" }, loom.call("question", each.call), loom.promptButton(each.prompt)),
      each.given &&
        el(
          "div",
          { className: "reference" },
          el("h4", {}, "Answer that the benchmark gives"),
          el("div", { className: "said", dir: "auto" }, loom.said(each.given, nImages)),
        ),
      each.references.map((given) => reference(given, nImages)),
      loom.answersOf(item, each.turn),
    );
  };
  // Judgments of a whole dialogue may stand at a turn that has no question.
  const turns = (item) => {
    const asked = new Set(item.turns.map((each) => each.turn));
    const others = [
      ...new Set(item.answers.map((answer) => answer.turn).filter((number) => !asked.has(number))),
    ].sort((a, b) => a - b);
    return [
      ...item.turns.map((each, place) => turn(item, each, place === 0)),
      ...others.map((number) =>
        el(
          "section",
          { className: "turn", "aria-label": `Turn ${number}`, "data-turn": number },
          el("h3", { tabIndex: -1 }, `Turn ${number}`),
          loom.answersOf(item, number),
        ),
      ),
    ];
  };

  // Each model with its score on the item: a press takes it into the comparison, or out.
  const toggled = (name) => {
    const sides = ["a", "b", "c"];
    const mine = sides.filter((side) => loom.get(side) === name);
    if (mine.length)
      return {
        ...Object.fromEntries(mine.map((side) => [side, null])),
        ...(loom.sides().length < 3 ? loom.UNCOMPARED : {}),
      };
    const free = sides.find((side) => !loom.get(side));
    return { [free ?? "c"]: name };
  };
  const scores = (number) => {
    const shown = loom.shown();
    if (!loom.release.models.length) return null;
    const letter = (model) => loom.sides().find((side) => side.model === model)?.side;
    const buttons = loom.release.models.map(({ name, label }, model) => {
      const side = letter(model);
      return el(
        "button",
        {
          className: "model-score",
          "aria-pressed": String(Boolean(side)),
          title: side ? "Take out of the comparison" : "Take into the comparison",
          onclick: () => loom.changed({ ...toggled(name), item: shownItem.id }),
        },
        side && [el("b", { className: `side is-${side}` }, side.toUpperCase()), " "],
        el("bdi", {}, label),
        el("b", { className: "value" }),
      );
    });
    if (shown) {
      const shade = loom.shadeOf(shown.metric);
      Promise.all(
        buttons.map(async (button, model) => {
          const value = (await loom.scoresOf(model))?.[number] ?? NaN;
          button.querySelector(".value").textContent = ` ${loom.score(value)}`;
          if (!Number.isNaN(value)) button.style.setProperty("--v", shade(value));
        }),
      ).catch(loom.failed);
    }
    return el(
      "section",
      { className: "model-scores", "aria-label": "Scores of the item" },
      el(
        "p",
        { className: "note" },
        shown ? `${loom.shownText(shown)}, by model. ` : "No scores. ",
        loom.release.models.length > 1 && "Press models to see them side by side.",
      ),
      el("p", { className: "buttons" }, buttons),
    );
  };

  const label = ([name, value]) =>
    el(
      "button",
      {
        className: "is-tag",
        title: `Only items with ${name}: ${value}`,
        onclick: () => loom.changed({ [loom.labelState(name)]: value }),
      },
      el("bdi", {}, `${name}: ${value}`),
    );
  const facts = (item) =>
    el(
      "div",
      { className: "keys facts" },
      el("span", { className: "key" }, "item ", el("code", {}, item.id)),
      el("span", {}, `revision ${item.revision}`),
      el("span", {}, "review: ", el("bdi", {}, item.reviewers.map(reviewer).join(", then ") || "none")),
      item.set && el("span", { className: "key" }, "set ", el("code", {}, item.set)),
      item.group && el("span", { className: "key" }, "group ", el("code", {}, item.group)),
    );

  // The item with the names of models, trials and judges in place of their numbers.
  const named = (item) => ({
    release_id: loom.release.release.release_id,
    ...item,
    number: item.number + 1,
    answers: item.answers.map((answer) => ({
      ...answer,
      model: loom.release.models[answer.model].name,
      settings: loom.release.models[answer.model].settings,
      trial: loom.release.trials[answer.trial],
      judgments: answer.judgments.map((each) => ({ ...each, judge: loom.judgeTitle(each.judge) })),
      observed: answer.observed.map((each) => ({ ...each, judge: loom.judgeTitle(each.judge) })),
    })),
  });
  let shownItem = null;
  loom.shownNumber = () => shownItem?.number ?? null;
  loom.copyItem = () => shownItem && loom.copy(JSON.stringify(named(shownItem), null, 2), "Item as JSON");
  loom.copyLink = () =>
    loom.copy(new URL(loom.addressWith(shownItem ? { item: shownItem.id } : {}), location.href).href, "Link");

  const go = (text, label, number, keys) =>
    el(
      "button",
      {
        disabled: number === null,
        "aria-label": label,
        "aria-keyshortcuts": keys,
        onclick: () => loom.open(number),
      },
      text,
    );
  const head = (number) => {
    const { place, n, before, after } = loom.placeOf(number);
    return el(
      "div",
      { className: "item-head" },
      el("button", { className: "to-list", onclick: () => loom.toList() }, "‹ List"),
      go("‹ Previous", "Previous item", before, "k"),
      go("Next ›", "Next item", after ?? (place < 0 ? loom.firstFound() : null), "j"),
      el(
        "span",
        { className: "note place" },
        place < 0
          ? "not among the items found"
          : `${(place + 1).toLocaleString("en")} of ${n.toLocaleString("en")} found`,
      ),
      el(
        "span",
        { className: "item-tools" },
        el(
          "button",
          {
            className: "room",
            "aria-keyshortcuts": "w",
            "aria-pressed": String("room" in document.body.dataset),
            title: "Hide filters and list",
            onclick: loom.toggleRoom,
          },
          "Wide",
        ),
        " ",
        el("button", { "aria-keyshortcuts": "c", onclick: loom.copyItem }, "Copy as JSON"),
        " ",
        el("button", { "aria-keyshortcuts": "l", onclick: loom.copyLink }, "Copy link"),
      ),
    );
  };
  // The item alone takes the whole window, or the list and the filters stand beside it again.
  loom.toggleRoom = () => {
    document.body.toggleAttribute("data-room");
    target.querySelector(".room")?.setAttribute("aria-pressed", String("room" in document.body.dataset));
  };
  loom.drawItemHead = () => {
    if (shownItem) target.querySelector(".item-head")?.replaceWith(head(shownItem.number));
  };

  let drawing = 0;
  // Show the item of a number; `focus` puts the focus on its heading.
  loom.drawItem = async (number, { focus = false } = {}) => {
    const draw = (drawing += 1);
    const item = await loom.itemOf(number);
    if (draw !== drawing) return;
    const isNew = shownItem?.number !== number;
    shownItem = item;
    const heading = el("h2", { tabIndex: -1, id: "item-title" }, `Item ${(number + 1).toLocaleString("en")}`);
    target.replaceChildren(
      head(number),
      heading,
      el("p", { className: "labels" }, Object.entries(item.labels).map(label)),
      facts(item),
      item.images.length > 0 &&
        el(
          "ol",
          { className: "strip" },
          item.images.map((_, place) => image(item.images, place)),
        ),
      scores(number),
      loom.noteField(item.id),
      loom.release.answers_held_out
        ? el(
            "p",
            { className: "note" },
            "The references of this split are held out: answers of models, scores and judgments, which tell them, are not on this page either.",
          )
        : "",
      ...turns(item),
    );
    for (const child of [...target.childNodes]) if (child.nodeType === Node.TEXT_NODE) child.remove();
    document.title = `Item ${number + 1} · ${loom.release.release.name}`;
    const hit = loom.highlight(target);
    loom.markCurrent();
    if (isNew && document.body.dataset.view === "item") scrollTo(0, 0);
    if (focus) heading.focus({ preventScroll: true });
    const turn = isNew || focus ? await loom.turnMeant(item) : null;
    const section = turn === null || draw !== drawing ? null : target.querySelector(`[data-turn="${turn}"]`);
    if (section && item.turns.length > 1) {
      section.scrollIntoView();
      if (focus) section.querySelector("h3").focus({ preventScroll: true });
    } else if (hit && (isNew || focus) && draw === drawing) {
      hit.scrollIntoView({ block: "center" });
    }
    if (isNew) loom.say(`Item ${number + 1}`);
    // What is likely read next is loaded when there is time.
    const { after } = loom.placeOf(number);
    if (after !== null) requestIdleCallback?.(() => loom.itemOf(after).catch(() => {}));
  };
  loom.drawNothing = (text) => {
    shownItem = null;
    target.replaceChildren(el("p", { className: "note" }, text));
  };

  loom.foldAll = () => {
    const all = [...target.querySelectorAll("details")];
    const open = all.some((each) => !each.open);
    for (const each of all) each.open = open;
  };
}
