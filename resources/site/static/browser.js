// The page itself: it begins, follows the address, and answers to keys.
"use strict";
{
  const wide = matchMedia("(min-width: 1100px)");
  const show = (view) => {
    document.body.dataset.view = view;
  };

  const current = () => {
    const place = loom.release.ids.indexOf(loom.get("item"));
    return place < 0 ? null : place;
  };
  // The item of the address; on a wide screen the first that is found, where the address names none.
  const drawItem = (how) => {
    const number = current();
    if (number !== null) return loom.drawItem(number, how);
    if (loom.get("item")) {
      loom.drawNothing(`This release has no item ${loom.get("item")}.`);
      return Promise.resolve();
    }
    const first = loom.firstFound();
    if (first !== null) return loom.drawItem(first, how);
    loom.drawNothing("No item is found.");
    return Promise.resolve();
  };

  // Change the state by a filter or a choice of models, and show what follows.
  loom.changed = (changes) => {
    if (!loom.change(changes)) return;
    const models = Object.keys(changes).some((name) => ["a", "b", "c", "metric", "judge"].includes(name));
    refresh(models).catch(loom.failed);
  };
  const refresh = async (redraw) => {
    const { drawn } = await loom.find();
    if (redraw || current() === null) await drawItem();
    else {
      loom.drawItemHead();
      loom.highlight(loom.byId("item"));
    }
    await drawn;
    // What the choice of models says stands above the list.
    if (redraw) loom.byId("list").parentElement.scrollTop = 0;
  };

  // Open an item as a step that one goes back from.
  loom.open = (number) => {
    if (number === null) return;
    loom.change({ item: loom.release.ids[number] }, { step: true });
    show("item");
    loom.showPageOf(number);
    loom.drawItem(number, { focus: true }).catch(loom.failed);
  };
  loom.toList = () => {
    show("list");
    loom.byId("list").querySelector("[aria-current]")?.focus();
    loom.byId("list").querySelector("[aria-current]")?.scrollIntoView({ block: "center" });
  };
  const step = (by) => {
    const shown = current() ?? loom.firstFound();
    if (shown === null) return;
    const { place, before, after } = loom.placeOf(shown);
    loom.open(place < 0 ? loom.firstFound() : by > 0 ? after : before);
  };

  const KEYS = {
    j: () => step(1),
    ArrowRight: () => step(1),
    k: () => step(-1),
    ArrowLeft: () => step(-1),
    "/": () => {
      if (!wide.matches) show("list");
      loom.byId("q").focus();
      loom.byId("q").select();
    },
    "?": loom.showKeys,
    o: loom.foldAll,
    w: loom.toggleRoom,
    n: () => loom.byId("own-note")?.focus(),
    c: loom.copyItem,
    l: loom.copyLink,
    Escape: () => !wide.matches && document.body.dataset.view === "item" && loom.toList(),
  };
  const onKey = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || loom.dialogOpen()) return;
    const field = event.target.closest?.("input, textarea, select");
    if (field && event.key !== "Escape") return;
    if (field) {
      field.blur();
      return;
    }
    const act = KEYS[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  };

  const follow = async (how) => {
    loom.readAddress();
    show(loom.get("item") ? "item" : "list");
    const { drawn } = await loom.find();
    await Promise.all([drawn, drawItem(how)]);
  };
  const about = () => {
    const { release, made } = loom.release;
    const parts = [
      release.benchmark,
      release.split,
      release.language,
      loom.count(release.n_items, "item"),
      loom.count(release.n_images, "image"),
      loom.release.models.length && loom.count(loom.release.models.length, "model"),
      `made ${made.slice(0, 10)}`,
    ];
    loom.byId("about").textContent = parts.filter((part) => part).join(" · ");
  };

  const begin = async () => {
    await loom.begin();
    loom.beginNotes();
    about();
    loom.makeForm();
    document.addEventListener("keydown", onKey);
    loom.byId("open-keys").addEventListener("click", loom.showKeys);
    // Rows are links; a plain click opens here at once.
    loom.byId("list").addEventListener("click", (event) => {
      const link = event.target.closest("a[data-number]");
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
      event.preventDefault();
      loom.open(Number(link.dataset.number));
    });
    addEventListener("popstate", () => follow().catch(loom.failed));
    await follow();
    document.body.dataset.ready = "";
  };
  begin().catch(loom.failed);
}
