// The turns of a dialogue: adding, removing, restoring and moving them.
import { currentPart, edit, startParts } from "./parts.js";
import { onKey } from "./page.js";

/** Add the event handlers of the list of turns; `changed` is called after each change. */
export function startTurns(list, changed) {
  const template = document.getElementById("new-turn");

  function number() {
    [...list.children].filter((turn) => !turn.matches(".removed")).forEach((turn, index) => {
      turn.querySelector("[data-number]").textContent = index + 1;
      for (const part of turn.querySelectorAll("[data-part]")) {
        const label = `${turn.querySelector("h3").textContent}, ${part.querySelector(".label").textContent}`;
        part.setAttribute("aria-label", label);
        part.querySelector("textarea")?.setAttribute("aria-label", label);
      }
    });
  }

  function add(after) {
    const turn = template.content.firstElementChild.cloneNode(true);
    if (after) after.after(turn);
    else list.append(turn);
    startParts(turn);
    number();
    edit(turn.querySelector("[data-part]"));
    changed();
  }

  function remove(turn) {
    const others = [...list.children].filter((each) => each !== turn && !each.matches(".removed"));
    if (!others.length) return;
    turn.classList.add("removed");
    turn.querySelector("[data-restore]").hidden = false;
    turn.querySelector("[data-restore]").focus();
    number();
    changed();
  }

  function restore(turn) {
    turn.classList.remove("removed");
    turn.querySelector("[data-restore]").hidden = true;
    turn.querySelector("[data-part]").focus();
    number();
    changed();
  }

  function move(turn, step) {
    const other = step < 0 ? turn.previousElementSibling : turn.nextElementSibling;
    if (!other) return;
    const focused = document.activeElement;
    if (step < 0) other.before(turn);
    else other.after(turn);
    focused.focus();
    turn.scrollIntoView({ block: "nearest" });
    number();
    changed();
  }

  list.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    const turn = button?.closest("[data-turn]");
    if (!turn) return;
    if ("up" in button.dataset) move(turn, -1);
    if ("down" in button.dataset) move(turn, 1);
    if ("add" in button.dataset) add(turn);
    if ("remove" in button.dataset) remove(turn);
    if ("restore" in button.dataset) restore(turn);
  });

  onKey((event, isTyping) => {
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return false;
    const turn = (currentPart() ?? document.activeElement)?.closest("[data-turn]");
    if (event.key === "n") add(turn);
    else if (turn?.matches(".removed")) return false;
    else if (turn && event.key === "x") remove(turn);
    else if (turn && event.key === "K") move(turn, -1);
    else if (turn && event.key === "J") move(turn, 1);
    else return false;
    return true;
  });
}
