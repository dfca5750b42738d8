// The image viewer: opened by click, by digit or from <image-i> in a text; zoomed and changed by keys.
import { onKey } from "./page.js";

const viewer = document.getElementById("viewer");
const picture = viewer.querySelector("img");
const frame = viewer.querySelector(".viewer-image");
const buttons = [...document.querySelectorAll("[data-image]")];
const STEP = 1.25;
let at = 0;
let zoom = 1;

const imageOf = (number) => buttons[number - 1]?.querySelector("img");

/** Open an image as large as it is; a missing one is not opened. */
function open(number) {
  const shown = imageOf(number);
  if (!shown) return;
  at = number;
  picture.src = shown.dataset.full;
  picture.alt = shown.alt;
  const title = viewer.querySelector("[data-title]");
  title.textContent = `${title.dataset.word} ${at} / ${buttons.length}`;
  scale(1);
  if (!viewer.open) viewer.showModal();
  frame.focus();
}

function scale(to) {
  zoom = Math.min(Math.max(to, 1), 8);
  picture.style.width = `${zoom * 100}%`;
  picture.style.height = zoom === 1 ? "100%" : "auto";
}

/** Open the next image that is there. */
function step(by) {
  let to = at;
  do to = (to - 1 + by + buttons.length) % buttons.length + 1; while (to !== at && !imageOf(to));
  open(to);
}

/** Say in the place of an image that it cannot be shown. */
function sayMissing(image) {
  const said = document.createElement("span");
  said.className = "missing";
  said.textContent = image.dataset.missing;
  image.closest("button").disabled = true;
  image.replaceWith(said);
}

/** Handle a key while the viewer is open; returns whether it did something. */
function act(key) {
  if (key === "ArrowRight") step(1);
  else if (key === "ArrowLeft") step(-1);
  else if (key === "+" || key === "=") scale(zoom * STEP);
  else if (key === "-") scale(zoom / STEP);
  else if (key === "0") scale(1);
  else if (/^[1-9]$/.test(key)) open(Number(key));
  else return false;
  return true;
}

function mark(number) {
  for (const figure of document.querySelectorAll("figure.marked")) figure.classList.remove("marked");
  document.getElementById(`image-${number}`)?.classList.add("marked");
}

for (const button of buttons) {
  button.addEventListener("click", () => open(Number(button.dataset.image)));
  const image = button.querySelector("img");
  image?.addEventListener("error", () => sayMissing(image));
  if (image?.complete && !image.naturalWidth) sayMissing(image);
}
viewer.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if ("close" in button.dataset) viewer.close();
  else if (button.dataset.step) act(button.dataset.step === "1" ? "ArrowRight" : "ArrowLeft");
  else act(button.dataset.zoom);
});
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a.reference");
  if (!link) return;
  event.preventDefault();
  mark(link.dataset.to);
  open(Number(link.dataset.to));
});
for (const kind of ["mouseover", "focusin"]) {
  document.addEventListener(kind, (event) => {
    const link = event.target.closest?.("a.reference");
    if (link) mark(link.dataset.to);
  });
}

onKey((event, isTyping) => {
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return false;
  if (viewer.open) {
    if (event.key === "Escape") viewer.close();
    // All other shortcuts are ignored while the viewer is open.
    return act(event.key) || !["Tab", "Enter", " ", "ArrowUp", "ArrowDown", "PageUp", "PageDown"].includes(event.key);
  }
  if (!/^[1-9]$/.test(event.key) || Number(event.key) > buttons.length) return false;
  open(Number(event.key));
  return true;
});
