// Shortcuts of the queue: j and k move between the rows, Enter opens one.
import { onKey } from "./page.js";

const links = [...document.querySelectorAll("[data-row] a")];

onKey((event, isTyping) => {
  const step = { j: 1, k: -1 }[event.key];
  if (isTyping || !step || event.ctrlKey || event.altKey || event.metaKey || !links.length) return false;
  const at = links.indexOf(document.activeElement);
  links[Math.min(Math.max(at + step, 0), links.length - 1)].focus();
  return true;
});
