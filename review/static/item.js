// One item: its pane, the form of the decision, and the draft.
import { partAt, readContent, same } from "./content.js";
import { onKey } from "./page.js";
import { edit, labelOf, startParts } from "./parts.js";
import { startScores } from "./scores.js";
import { startTurns } from "./turns.js";
import "./viewer.js";
import { Work } from "./work.js";

const ARMED_AFTER = 800; // ms that an item is shown before it can be decided: keys pressed for the last one are over

const MOST_CHARACTERS = 4000; // of a comment

const comment = document.querySelector("#comments form");
comment.addEventListener("submit", (event) => {
  const { text } = comment.elements;
  const n = [...text.value.trim()].length;
  const said = document.getElementById("comment-problem");
  said.hidden = n > 0 && n <= MOST_CHARACTERS;
  text.setAttribute("aria-invalid", !said.hidden);
  if (said.hidden) return;
  said.textContent = said.dataset.sentence.replace("{n}", n);
  event.preventDefault();
  text.focus();
});

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
  const missing = document.getElementById("missing");
  const isStuck = () => getComputedStyle(form).position === "sticky";
  // The bar is in sight already: to scroll to a field in it would move the texts.
  const focusInBar = (field) => field.focus({ preventScroll: isStuck() });

  /** Say in the bar what the decision lacks, at the field where there is one; "": nothing. */
  function ask(sentence, field = null) {
    missing.textContent = sentence;
    missing.hidden = !sentence;
    for (const each of [reason, note]) {
      for (const name of ["aria-invalid", "aria-describedby"]) each.removeAttribute(name);
    }
    if (!field) return;
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-describedby", "missing");
    field.closest("label").before(missing);
    focusInBar(field);
  }

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
    ask("");
    work.changed();
  }

  function want(what) {
    wanted = what;
    changed();
    if (what === "reject") focusInBar(reason);
  }

  async function send() {
    if (button.disabled) return undefined;
    blame(null);
    refuse("");
    ask("");
    document.activeElement?.blur();
    show();
    if (!wanted) {
      const open = [...pane.querySelectorAll("fieldset[data-path]")].find((row) => !row.querySelector("input:checked"));
      if (!open || !data.texts.fill) return ask(data.texts.choose);
      blame(open, data.texts.fill);
      return refuse(data.texts.fill);
    }
    if (wanted === "reject" && !reason.value) return ask(data.texts.reason, reason);
    if (wanted === "reject" && reason.value === "other" && !note.value.trim()) {
      return ask(data.texts.other, note);
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

  /** Go to the address when the request has succeeded, else say why it failed. */
  async function leave(request, address) {
    try {
      await request;
    } catch (error) {
      work.failed(error, "decide");
      return;
    }
    if (address === location.href) location.reload();
    else location.assign(address);
  }

  document.getElementById("show-other").addEventListener("click", () => work.showOther());
  document.getElementById("keep-this").addEventListener("click", () => work.keepThis());
  pane.inert = form.inert = true;
  await work.recover();
  pane.inert = form.inert = false;
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
      await leave(work.take(same(content, data.content) ? null : content), location.href);
    });
  }
  undo.addEventListener("click", () => leave(work.take(null), location.href));
  document.getElementById("unlock").addEventListener("click", () => leave(work.unlock(), "/"));
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
    else if (event.key === "m") focusInBar(note);
    else return false;
    return true;
  });
  // What is focused is never behind the bar at the bottom.
  new ResizeObserver(() => {
    document.documentElement.style.scrollPaddingBottom = isStuck() ? `${form.offsetHeight + 8}px` : "";
  }).observe(form);
  show();
  work.start();
  button.disabled = true;
  setTimeout(() => {
    button.disabled = false;
    document.documentElement.dataset.ready = "";
  }, ARMED_AFTER);
}
