// Scripts of every page: shortcuts, the list of keys, and links from <image-i> to the image.

/** Whether the person is typing a text, so that single letters are no shortcuts. */
export function typing(target) {
  if (!(target instanceof HTMLElement)) return false;
  return target.matches("textarea, select, [contenteditable]") ||
    (target.matches("input") && !["radio", "checkbox", "button", "submit"].includes(target.type));
}

const handlers = [];

/** Add a handler of shortcuts: `handler(event, isTyping)` returns true for a key that it used. */
export function onKey(handler) {
  handlers.unshift(handler);
}

document.addEventListener("keydown", (event) => {
  // While an input method is composing, for example Chinese, keys choose characters.
  if (event.defaultPrevented || event.isComposing || event.repeat && event.key === "Enter") return;
  if (document.querySelector("dialog[open]:not(#viewer)")) return;
  if (typing(event.target) && !["Escape", "Enter"].includes(event.key)) return;
  if (handlers.some((handler) => handler(event, typing(event.target)))) event.preventDefault();
});

/** Make `<image-i>` in the text below `root` a link to the page's i-th image. */
export function linkImages(root) {
  for (const element of root.querySelectorAll("[data-linked]")) linkIn(element, element.textContent);
}

/** Put `text` into `element` as plain text, with links to images. */
export function linkIn(element, text) {
  element.replaceChildren(...text.split(/(<image-\d+>)/i).map((piece) => {
    const number = /^<image-(\d+)>$/i.exec(piece)?.[1];
    if (!number) return piece;
    const there = document.getElementById(`image-${number}`);
    const link = document.createElement(there ? "a" : "bdi");
    // Whole also in a text that runs from right to left.
    link.dir = "ltr";
    if (there) {
      link.href = `#image-${number}`;
      link.className = "reference";
      link.dataset.to = number;
    }
    link.textContent = piece;
    return link;
  }));
}

document.addEventListener("submit", (event) => {
  const question = event.submitter?.dataset.confirm;
  if (question && !confirm(question)) event.preventDefault();
});

const keys = document.getElementById("keys");
for (const button of document.querySelectorAll("[data-open-keys]")) {
  button.addEventListener("click", () => keys.showModal());
}

// The tour: opens by itself until it was seen or left once, on this browser, by this person.
const tour = document.getElementById("tour");
if (tour) {
  const steps = [...tour.querySelectorAll("[data-tour-step]")];
  const [back, next] = [-1, 1].map((step) => tour.querySelector(`[data-tour-move="${step}"]`));
  const seen = `review:tour:${tour.dataset.for}`;
  let at = 0;
  const move = (step) => {
    if (at + step >= steps.length) return tour.close();
    at = Math.max(at + step, 0);
    steps.forEach((each, number) => { each.hidden = number !== at; });
    tour.querySelector("[data-at]").textContent = at + 1;
    back.disabled = at === 0;
    next.focus();
    return undefined;
  };
  const open = () => {
    keys.close();
    tour.showModal();
    move(-at);
  };
  back.addEventListener("click", () => move(-1));
  next.addEventListener("click", () => move(1));
  tour.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step) move(step);
  });
  tour.addEventListener("close", () => localStorage.setItem(seen, "1"));
  document.querySelector("[data-open-tour]").addEventListener("click", open);
  if (tour.dataset.for && !localStorage.getItem(seen)) open();
}

onKey((event, isTyping) => {
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return false;
  if (event.target.closest("dialog[open]")) return false;
  const element = [...document.querySelectorAll("[data-key]")].find((each) => each.dataset.key === event.key);
  if (!element) return false;
  if (element.matches("input")) element.focus();
  else element.click();
  return true;
});

linkImages(document);
