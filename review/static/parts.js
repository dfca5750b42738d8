// The parts of a pane, each shown as text and edited in place; j and k move between them.
import { linkIn, onKey } from "./page.js";

/** The parts in their order on the page, without those of removed turns. */
function parts() {
  return [...document.querySelectorAll("#pane [data-part]")].filter((part) => !part.closest(".removed"));
}

/** The part that has the focus or contains the focused element. */
export function currentPart() {
  return document.activeElement?.closest("#pane [data-part]") ?? null;
}

/** What the page calls the part. */
export function labelOf(part) {
  return part.getAttribute("aria-label") ?? part.querySelector("legend").firstChild.textContent;
}

/** Show the part's current text, and whether it was changed. */
function show(part) {
  const area = part.querySelector("textarea");
  linkIn(part.querySelector(".text"), area.value);
  part.querySelector(".changed").hidden = area.value === area.defaultValue && !part.closest("[data-origin='']");
}

/** Open the part for editing: its text, or its row of choices. */
export function edit(part) {
  const area = part.querySelector("textarea");
  if (!area) {
    (part.querySelector("input:checked") ?? part.querySelector("input:enabled"))?.focus();
    return;
  }
  // The text area gets the height of the text, so that nothing on the page moves.
  area.style.minHeight = `${part.querySelector(".text").offsetHeight + 12}px`;
  part.classList.add("editing");
  area.hidden = false;
  area.focus();
  area.setSelectionRange(area.value.length, area.value.length);
}

/** End editing and show the current text. */
function close(part) {
  part.classList.remove("editing");
  part.querySelector("textarea").hidden = true;
  show(part);
}

/** Add the event handlers of the parts below `root`, also for parts that are added later. */
export function startParts(root) {
  for (const part of root.querySelectorAll("[data-part]")) {
    const area = part.querySelector("textarea");
    if (!area) continue;
    part.querySelector("[data-edit]").addEventListener("click", () => edit(part));
    part.querySelector(".text").addEventListener("dblclick", () => edit(part));
    area.addEventListener("blur", () => close(part));
  }
}

onKey((event, isTyping) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const part = currentPart();
  if (isTyping) {
    if (event.key !== "Escape" || !part) return false;
    part.focus();
    return true;
  }
  if (event.key === "j" || event.key === "k") {
    const all = parts();
    const at = all.indexOf(part) + (event.key === "j" ? 1 : -1);
    const next = all[Math.min(Math.max(at, 0), all.length - 1)];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
    return Boolean(next);
  }
  if (part && (event.key === "e" || (event.key === "Enter" && event.target === part))) {
    edit(part);
    return true;
  }
  return false;
});
