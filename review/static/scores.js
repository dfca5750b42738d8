// Scores by digit: 1 to 9 choose the score of the row, 0 chooses 10, and the focus moves to the next row.
import { currentPart } from "./parts.js";
import { onKey } from "./page.js";

/** Add the shortcuts of the rows of scores below `pane`. */
export function startScores(pane) {
  const rows = [...pane.querySelectorAll(".score")];
  onKey((event, isTyping) => {
    const row = currentPart();
    if (isTyping || !rows.includes(row) || !/^\d$/.test(event.key) || event.ctrlKey || event.altKey) return false;
    const input = row.querySelector(`input[value="${event.key === "0" ? 10 : event.key}"]`);
    if (!input) return true;
    input.click();
    rows[rows.indexOf(row) + 1]?.focus();
    return true;
  });
}
