// What opens over the page: a picture at full size, the text of a prompt, a text to copy, the list of keys.
"use strict";
{
  const { el } = loom;
  const dialog = loom.byId("dialog");
  let onKey = null;

  loom.openDialog = (title, content, { kind = "", key = null } = {}) => {
    onKey = key;
    dialog.className = kind;
    dialog.replaceChildren(
      el(
        "div",
        { className: "dialog-head" },
        el("h2", { id: "dialog-title", dir: "auto" }, title),
        el("button", { onclick: () => dialog.close() }, "Close ", el("kbd", { "aria-hidden": "true" }, "Esc")),
      ),
      el("div", { className: "dialog-body" }, content),
    );
    if (!dialog.open) dialog.showModal();
  };
  loom.dialogOpen = () => dialog.open;
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  dialog.addEventListener("keydown", (event) => onKey?.(event));
  dialog.addEventListener("close", () => dialog.replaceChildren());

  // A text as it is; `select` has it ready to be copied by hand.
  loom.showText = (title, text, { note = "", select = false, tools = [] } = {}) => {
    const area = el("textarea", {
      value: text,
      rows: Math.min(24, Math.max(4, text.split("\n").length + 1)),
      readonly: true,
      "aria-label": title,
      spellcheck: "false",
      dir: "auto",
    });
    loom.openDialog(
      title,
      [note && el("p", { className: "note" }, note), area, tools.length > 0 && el("p", {}, tools)],
      { kind: "is-text" },
    );
    if (select) {
      area.focus();
      area.select();
    }
  };

  loom.showPrompt = async (version) => {
    const text = (await loom.prompts()).get(version);
    if (text === undefined)
      loom.openDialog(
        `Prompt ${version}`,
        el(
          "p",
          {},
          "The text of this version is not known here: it was made by another version of the project, or elsewhere.",
        ),
      );
    else loom.showText(`Prompt ${version}`, text);
  };
  loom.promptButton = (version) =>
    version &&
    el(
      "span",
      { className: "key" },
      "prompt ",
      el(
        "button",
        { className: "as-link", onclick: () => loom.showPrompt(version).catch(loom.failed) },
        el("code", {}, version),
      ),
    );

  const facts = (values) =>
    loom.listed(
      "key-list is-wide",
      Object.entries(values).map(([name, value]) => [
        name,
        typeof value === "string" ? value : JSON.stringify(value),
      ]),
    );
  // How a model was asked, in full.
  loom.showSettings = (model) =>
    loom.openDialog(`How ${loom.label(model)} was asked`, facts(loom.release.models[model].settings));

  // The request of a call of the item that is shown, as it was sent; images stand by their numbers.
  const showRequest = async (key) => {
    const item = await loom.itemOf(loom.shownNumber());
    const { calls, messages, settings } = await loom.requestsOf(item.number);
    const [of, places] = calls[key];
    const image = (id) => {
      const place = item.images.findIndex((each) => each.id === id);
      return el("span", { className: "chip entry", title: id }, place < 0 ? `▣ ${id.slice(0, 12)}` : `▣ ${place + 1}`);
    };
    loom.openDialog("Request as sent", [
      facts(settings[of]),
      places.map((place) => {
        const [role, parts] = messages[place];
        return el(
          "section",
          { className: "message" },
          el("h3", {}, role),
          el(
            "div",
            { className: "said", dir: "auto" },
            parts.map((part) => [typeof part === "string" ? part : image(part.image), " "]),
          ),
        );
      }),
    ]);
  };
  loom.requestButton = (key) =>
    key &&
    el(
      "button",
      { className: "as-link", onclick: () => showRequest(key).catch(loom.failed) },
      "request as sent",
    );

  // What is known of an image besides what it shows.
  loom.imageFacts = (image) =>
    [
      image.attribution && el("span", { dir: "auto" }, image.attribution),
      image.artist && el("span", { dir: "auto" }, `by ${image.artist}`),
      el(
        "span",
        {},
        "licence: ",
        image.licence
          ? el("bdi", {}, image.licence_url ? loom.link(image.licence_url, image.licence) : image.licence)
          : "unknown",
      ),
      image.page && el("span", {}, "page: ", el("bdi", {}, loom.link(image.page, image.page))),
      el("span", {}, "file ", el("code", {}, image.id)),
    ]
      .filter((fact) => fact)
      .map((fact) => el("p", {}, fact));

  loom.showPicture = (images, place) => {
    const image = images[place];
    const path = image.picture && loom.picturePath("pictures", image.picture);
    const go = (step) => {
      const next = place + step;
      if (images[next]) loom.showPicture(images, next);
    };
    const picture =
      path &&
      el("img", {
        alt: image.title || `Image ${place + 1}`,
        onerror: () => picture.replaceWith(el("p", {}, "The file of this picture is missing.")),
      });
    if (picture) picture.src = path;
    const title = `Image ${place + 1} of ${images.length}${image.title ? `: ${image.title}` : ""}`;
    loom.openDialog(
      title,
      [
        picture || el("p", {}, "This picture is not stored."),
        el(
          "p",
          { className: "tools" },
          images.length > 1 && [
            el("button", { disabled: !place, onclick: () => go(-1) }, "‹ Image before"),
            " ",
            el("button", { disabled: place === images.length - 1, onclick: () => go(1) }, "Next image ›"),
            " ",
          ],
          path && el("a", { href: path, target: "_blank", rel: "noopener" }, "The file by itself"),
        ),
        el("div", { className: "note" }, loom.imageFacts(image)),
      ],
      {
        kind: "is-picture",
        key: (event) => {
          const step = { ArrowLeft: -1, ArrowRight: 1, k: -1, j: 1 }[event.key];
          if (!step) return;
          event.preventDefault();
          go(step);
        },
      },
    );
  };

  const KEYS = [
    [["j", "→"], "next item of those found"],
    [["k", "←"], "item before"],
    [["/"], "search"],
    [["o"], "open or close all that is folded in the item"],
    [["w"], "the item in the whole window"],
    [["n"], "write a note"],
    [["c"], "copy the item as JSON"],
    [["l"], "copy a link to this item, filter and models"],
    [["?"], "these keys"],
    [["Esc"], "close; leave a field; back to the list"],
  ];
  loom.showKeys = () =>
    loom.openDialog(
      "Keys",
      loom.listed(
        "key-list",
        KEYS.map(([keys, text]) => [keys.map((key) => [el("kbd", {}, key), " "]), text]),
      ),
    );
}
