// One item: its pane, the form of the decision, and the draft.
import { partAt, readContent, same } from "./content.js";
import { onKey } from "./page.js";
import { edit, labelOf, startParts } from "./parts.js";
import { startScores } from "./scores.js";
import { startTurns } from "./turns.js";
import "./viewer.js";
import { Work } from "./work.js";

const ARMED_AFTER = 800; // ms that an item is shown before it can be decided: keys pressed for the last one are over

const block = document.getElementById("review-data");
if (block) await review(JSON.parse(block.textContent));

async function review(data) {
  const pane = document.getElementById("pane");
  const form = document.getElementById("decision");
  const { verdict, reason, note } = form.elements;
  const saved = document.getElementById("saved");
  const problem = document.getElementById("problem");
  const undo = document.getElementById("undo");
  // The verdict that the person chose; whether it is accept or edit follows from the content.
  let wanted = data.verdict;

  const edited = () => readContent(pane, data.shown);
  const isChanged = () => !same(edited(), data.content);
  const button = form.querySelector(".main");
  const other = document.getElementById("other-draft");
  const say = (what) => { saved.textContent = data.texts[what]; };
  // What an edit has that is not valid: the sentence about it and the part that it is about.
  let fault = null;
  const warn = (sentence) => {
    problem.textContent = sentence;
    if (fault?.sentence === sentence && fault.part.isConnected) {
      const link = document.createElement("a");
      link.href = "#pane";
      link.textContent = labelOf(fault.part);
      problem.prepend(link, ": ");
    }
    problem.hidden = !sentence;
    if (!sentence) other.hidden = true;
  };
  const read = () => ({
    content: isChanged() ? edited() : null,
    verdict: wanted,
    reason: reason.value || null,
    note: note.value || null,
  });
  const work = new Work(data, read, say, warn, () => { other.hidden = false; });
  const refuse = (sentence) => work.trouble("decide", sentence);

  /** Say beside the part what is wrong with it, and go there; null: nothing is. */
  function blame(part, sentence) {
    pane.querySelector(".fault")?.remove();
    for (const name of ["aria-invalid", "aria-describedby"]) pane.querySelector(`[${name}]`)?.removeAttribute(name);
    fault = part && { part, sentence };
    if (!part) return;
    const said = Object.assign(document.createElement("p"), { id: "fault", className: "check drop fault" });
    said.textContent = sentence;
    part.append(said);
    const field = part.querySelector("textarea") ?? part;
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-describedby", "fault");
    edit(part);
    part.scrollIntoView({ block: "center" });
  }

  function show() {
    const changed = isChanged();
    undo.hidden = !changed;
    for (const radio of verdict) {
      radio.disabled = radio.value === (changed ? "accept" : "edit") || (data.needs_edit && radio.value === "accept");
    }
    if (wanted === "accept" || wanted === "edit") wanted = changed ? "edit" : "accept";
    if (data.needs_edit && wanted === "accept") wanted = null;
    if (changed && wanted === null) wanted = "edit";
    for (const radio of verdict) radio.checked = radio.value === wanted;
    document.getElementById("reason-row").hidden = wanted !== "reject";
  }

  function changed() {
    show();
    work.changed();
  }

  function want(what) {
    wanted = what;
    changed();
    if (what === "reject") reason.focus();
  }

  async function send() {
    if (button.disabled) return undefined;
    blame(null);
    refuse("");
    document.activeElement?.blur();
    show();
    if (!wanted) return refuse(data.texts.choose);
    if (wanted === "reject" && !reason.value) {
      refuse(data.texts.reason);
      return reason.focus();
    }
    if (wanted === "reject" && reason.value === "other" && !note.value.trim()) {
      refuse(data.texts.other);
      return note.focus();
    }
    button.disabled = true;
    try {
      const next = await work.decide({
        verdict: wanted,
        edits: wanted === "edit" ? edited() : null,
        reason: wanted === "reject" ? reason.value : null,
        note: note.value || null,
      });
      location.assign(next);
    } catch (error) {
      button.disabled = false;
      const part = error.path && partAt(pane, error.path);
      blame(part, error.message);
      work.failed(error, "decide");
      if (!part) problem.scrollIntoView({ block: "nearest" });
    }
    return undefined;
  }

  await work.recover();
  startParts(pane);
  startScores(pane);
  const turns = pane.querySelector("[data-turns]");
  if (turns) startTurns(turns, changed);
  pane.addEventListener("input", changed);
  note.addEventListener("input", changed);
  reason.addEventListener("change", changed);
  for (const radio of verdict) radio.addEventListener("change", () => want(radio.value));
  problem.addEventListener("click", (event) => {
    if (!event.target.closest("a")) return;
    event.preventDefault();
    edit(fault.part);
    fault.part.scrollIntoView({ block: "center" });
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send();
  });
  for (const each of document.querySelectorAll("[data-version]")) {
    each.addEventListener("click", async () => {
      const { content } = data.versions[Number(each.dataset.version)];
      // Own edits of a version are not overwritten by one key.
      const own = isChanged() && !data.versions.some((version) => same(version.content, edited()));
      if (own && !confirm(data.texts.overwrite)) return;
      try {
        await work.take(same(content, data.content) ? null : content);
      } catch (error) {
        work.failed(error, "decide");
        return;
      }
      location.reload();
    });
  }
  document.getElementById("show-other").addEventListener("click", () => work.showOther());
  document.getElementById("keep-this").addEventListener("click", () => work.keepThis());
  undo.addEventListener("click", async () => {
    try {
      await work.take(null);
    } catch (error) {
      work.failed(error, "decide");
      return;
    }
    location.reload();
  });
  document.getElementById("unlock").addEventListener("click", async () => {
    try {
      await work.unlock();
    } catch (error) {
      work.failed(error, "decide");
      return;
    }
    location.assign("/");
  });
  onKey((event, isTyping) => {
    if (document.getElementById("viewer").open) return false;
    if ((event.ctrlKey || event.metaKey) && event.key === "Enter") {
      send();
      return true;
    }
    if (isTyping && event.key === "Escape" && event.target.form === form) {
      event.target.blur();
      return true;
    }
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return false;
    if (event.key === "a") want(isChanged() ? "edit" : "accept");
    else if (event.key === "r") want("reject");
    else if (event.key === "s") want("skip");
    else if (event.key === "m") note.focus();
    else return false;
    return true;
  });
  // What is focused is never behind the bar at the bottom.
  new ResizeObserver(() => {
    const stuck = getComputedStyle(form).position === "sticky";
    document.documentElement.style.scrollPaddingBottom = stuck ? `${form.offsetHeight + 8}px` : "";
  }).observe(form);
  show();
  work.start();
  button.disabled = true;
  setTimeout(() => {
    button.disabled = false;
    document.documentElement.dataset.ready = "";
  }, ARMED_AFTER);
}
