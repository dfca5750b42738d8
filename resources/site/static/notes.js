// Notes of one's own on items. They stay in this browser, and are exported as lines of JSON.
"use strict";
{
  const { el } = loom;
  const PREFIX = `vlm-loom note ${document.body.dataset.release} `;
  const REFUSED =
    "This browser does not let the page keep notes: they are lost when the page is closed. Export them before.";
  let kept = new Map();
  let store = null;
  let refused = false;

  const readAll = () => {
    kept = new Map();
    for (let place = 0; place < store.length; place += 1) {
      const key = store.key(place);
      if (!key.startsWith(PREFIX)) continue;
      try {
        const { note, changed } = JSON.parse(store.getItem(key));
        if (typeof note === "string") kept.set(key.slice(PREFIX.length), { note, changed: String(changed) });
      } catch {
        // It was not written by this page.
      }
    }
  };
  const begin = () => {
    try {
      store = localStorage;
      readAll();
    } catch {
      // Cookies are switched off, or the page is shown in a sandbox.
      refused = true;
    }
  };
  const set = (id, note) => {
    const value = { note, changed: new Date().toISOString() };
    if (note.trim()) kept.set(id, value);
    else kept.delete(id);
    try {
      if (refused) return;
      if (note.trim()) store.setItem(PREFIX + id, JSON.stringify(value));
      else store.removeItem(PREFIX + id);
    } catch {
      // It is full, or was switched off meanwhile.
      refused = true;
    }
  };
  const asLines = () => {
    const { ids, release } = loom.release;
    const lines = [...kept].map(([id, { note, changed }]) => ({
      release_id: release.release_id,
      item_id: id,
      number: ids.indexOf(id) + 1 || null,
      note,
      changed,
    }));
    lines.sort((a, b) => (a.number ?? Infinity) - (b.number ?? Infinity));
    return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  };
  loom.notes = { all: () => kept, lines: asLines };

  const save = () => {
    const link = el("a", {
      href: URL.createObjectURL(new Blob([asLines()], { type: "application/x-ndjson" })),
      download: `notes-${loom.release.release.release_id}.jsonl`,
    });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  };
  const countNotes = () => {
    loom.byId("open-notes").textContent = kept.size ? `My notes (${kept.size})` : "My notes";
  };
  const show = () => {
    const note = `${loom.count(kept.size, "note")} on items of this release, a JSON object a line. ${refused ? REFUSED : "They are kept in this browser alone, and nobody else sees them."}`;
    loom.showText("My notes", asLines(), {
      note,
      tools: [
        el("button", { disabled: !kept.size, onclick: save }, "Save as a file"),
        " ",
        el("button", { disabled: !kept.size, onclick: () => loom.copy(asLines(), "Notes") }, "Copy"),
      ],
    });
  };

  // The field of an item's note. What is typed is kept at once.
  loom.noteField = (id) => {
    const said = el("p", { className: "note", id: "note-said" }, refused ? REFUSED : "");
    const area = el("textarea", {
      id: "own-note",
      rows: 1,
      value: kept.get(id)?.note ?? "",
      placeholder: "Kept in this browser",
      "aria-describedby": "note-said",
      dir: "auto",
      maxLength: 20000,
    });
    area.addEventListener("input", () => {
      set(id, area.value);
      said.textContent = refused ? REFUSED : "Kept in this browser.";
      countNotes();
    });
    return el("div", { className: "own-note" }, el("label", { htmlFor: "own-note" }, "My note"), area, said);
  };

  loom.beginNotes = () => {
    begin();
    countNotes();
    loom.byId("open-notes").addEventListener("click", show);
    addEventListener("storage", (event) => {
      if (event.key !== null && !event.key.startsWith(PREFIX)) return;
      readAll();
      countNotes();
    });
  };
}
