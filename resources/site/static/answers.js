// What models answered to a turn, side by side, and what judges said of it.
"use strict";
{
  const { el } = loom;
  const LONG = 800;
  const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  loom.letter = (place) => LETTERS[place] ?? String(place + 1);

  // A long text shows its beginning; a button shows the rest.
  const text = (said, nImages, folds) => {
    const shown = el("div", { className: "said answer-text", dir: "auto" }, loom.said(said, nImages));
    return folds ? loom.cut(shown, said, LONG) : shown;
  };
  loom.cut = (shown, said, most) => {
    if (said.length <= most) return shown;
    shown.classList.add("cut");
    const button = el(
      "button",
      {
        className: "as-link more",
        onclick: () => {
          shown.classList.remove("cut");
          button.remove();
        },
      },
      `Show all ${loom.count([...said].length, "character")}`,
    );
    return [shown, button];
  };
  const folded = (title, content, open = false) =>
    el("details", { open }, el("summary", {}, title), el("div", {}, content));

  const judgment = (said, nImages) =>
    el(
      "div",
      { className: "judged" },
      el(
        "h5",
        {},
        loom.isRule(said.judge) ? "By rule" : `Judge ${loom.judgeTitle(said.judge)}`,
        said.score !== null && [" ", el("span", { className: "badge is-grade" }, loom.number(said.score))],
        el(
          "small",
          {},
          ` ${[said.part, said.replicate ? `again (${said.replicate + 1})` : ""].filter(Boolean).join(", ")}`,
        ),
      ),
      Object.keys(said.scores).length > 0 &&
        loom.listed(
          "dimensions",
          Object.entries(said.scores).map(([name, score]) => [name, loom.number(score)]),
        ),
      said.why && el("p", { className: "said", dir: "auto" }, loom.said(said.why, nImages)),
      el("div", { className: "keys" }, loom.call("judgment", said.call), loom.promptButton(said.prompt)),
    );

  const observed = (all) =>
    all.length > 0 &&
    loom.listed(
      "dimensions",
      all.map(({ judge, metric, value, status }) => [
        loom.isRule(judge) ? metric : `${metric} (${loom.judgeTitle(judge)})`,
        value === null ? status || "not scored" : loom.number(value),
      ]),
    );

  const severalJudges = () => loom.release.judges.length > 1;
  // What stands on an answer's head: how it ended, and the grade of each judge.
  const badges = (answer) =>
    [
      answer.status !== "answered" &&
        el("span", { className: `tag is-${answer.status}` }, loom.statusText(answer.status)),
      answer.reading &&
        el("span", { className: "badge" }, "read: ", el("bdi", {}, answer.reading.value ?? "nothing")),
      ...answer.judgments
        .filter(({ score }) => score !== null)
        .map(({ judge, part, score }) =>
          el(
            "span",
            {
              className: "badge is-grade",
              title: `${loom.judgeTitle(judge)}${part ? `, ${part}` : ""}`,
            },
            el("span", { className: severalJudges() ? "by" : "unseen" }, `${loom.judgeTitle(judge)} `),
            loom.number(score),
          ),
        ),
      ...(answer.judgments.length
        ? []
        : answer.observed
            .filter(({ value }) => value !== null)
            .slice(0, 1)
            .map(({ metric, value }) =>
              el(
                "span",
                { className: "badge is-grade", title: metric },
                el("span", { className: "unseen" }, `${metric}: `),
                loom.number(value),
              ),
            )),
    ].filter((badge) => badge);

  const spent = ({ tokens, seconds }) =>
    tokens && el("span", {}, `${loom.number(tokens[0])} + ${loom.count(tokens[1], "token")}, ${loom.number(seconds)} s`);
  const one = (answer, nImages, { many, close }) => {
    const { judgments, reading } = answer;
    return el(
      "div",
      { className: "answer" },
      el(
        "p",
        { className: "badges" },
        many && el("span", { className: "trial" }, loom.release.trials[answer.trial]),
        badges(answer),
      ),
      answer.text === null
        ? el("p", { className: "note" }, "No answer.")
        : answer.status === "given"
          ? folded("Its text", el("div", { className: "said answer-text", dir: "auto" }, loom.said(answer.text, nImages)))
          : text(answer.text, nImages, !close),
      answer.reasoning &&
        folded(
          `Reasoning, ${loom.count([...answer.reasoning].length, "character")}`,
          el("div", { className: "said answer-text", dir: "auto" }, answer.reasoning),
        ),
      judgments.length > 0 &&
        folded(
          judgments.length === 1 ? "Judgment" : `${judgments.length} judgments`,
          judgments.map((each) => judgment(each, nImages)),
          close,
        ),
      observed(answer.observed),
      answer.lost.map(({ asked, reason, detail }) =>
        el("p", { className: "lost" }, `${asked}: ${reason}`, detail && [". ", el("bdi", {}, detail)]),
      ),
      el(
        "div",
        { className: "keys" },
        loom.call("answer", answer.call),
        spent(answer),
        loom.requestButton(answer.call),
        reading && reading.call && loom.call("reading", reading.call),
        reading && el("span", { className: "key" }, `read by ${reading.extractor}`),
        loom.promptButton(answer.prompt),
      ),
    );
  };

  const card = (model, side, answers, nImages, how) => {
    const { label, settings } = loom.release.models[model];
    return el(
      "article",
      { className: "by-model" },
      el(
        "h4",
        {},
        side && [el("b", { className: `side is-${side}` }, side.toUpperCase()), " "],
        el("bdi", {}, label),
        Object.keys(settings).length > 0 && [
          " ",
          el(
            "button",
            { className: "as-link", onclick: () => loom.showSettings(model) },
            "settings",
          ),
        ],
      ),
      answers.length
        ? answers.map((answer) => one(answer, nImages, { ...how, many: loom.release.trials.length > 1 }))
        : el("p", { className: "note" }, "Was not asked."),
    );
  };

  // The answers to a turn: those of the models that are compared beside each other, the others folded.
  loom.answersOf = (item, turn) => {
    const nImages = item.images.length;
    const here = item.answers.filter((answer) => answer.turn === turn);
    if (!here.length) return null;
    const sides = loom.sides();
    const of = (model) => here.filter((answer) => answer.model === model);
    const others = loom.release.models
      .map((_, model) => model)
      .filter((model) => of(model).length && !sides.some((side) => side.model === model));
    const cards = (models) =>
      el(
        "div",
        { className: "answers" },
        models.map((model) => card(model, null, of(model), nImages, { close: false })),
      );
    if (!sides.length) return cards(others);
    const rest = el(
      "details",
      { className: "others" },
      el("summary", {}, `Answers of ${loom.count(others.length, "other model")}`),
    );
    const build = () => {
      if (rest.children.length === 1) rest.append(cards(others));
    };
    rest.addEventListener("toggle", () => rest.open && build());
    return [
      el(
        "div",
        { className: `answers is-${sides.length}` },
        sides.map(({ side, model }) => card(model, side, of(model), nImages, { close: true })),
      ),
      others.length > 0 && rest,
    ];
  };
}
