// Elements of the page. Texts are untrusted: they are only set as text, and links lead to web pages only.
"use strict";
{
  const PROPERTIES = (
    "hidden open value checked disabled title type id name tabIndex className dir placeholder " +
    "maxLength loading alt htmlFor rows"
  ).split(" ");

  // An element with attributes, listeners (on…) and children; null and false are left out. A button submits nothing.
  loom.el = (tag, given = {}, ...children) => {
    const element = document.createElement(tag);
    if (tag === "button") element.type = "button";
    for (const [name, value] of Object.entries(given)) {
      if (value === null || value === undefined || value === false) continue;
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (name === "shade") element.style.setProperty("--v", value);
      else if (PROPERTIES.includes(name)) element[name] = value;
      else element.setAttribute(name, value === true ? "" : value);
    }
    element.append(
      ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false),
    );
    return element;
  };
  const { el } = loom;

  // Names with what is said of each.
  loom.listed = (className, entries) =>
    el(
      "dl",
      { className },
      entries.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))),
    );

  loom.byId = (id) => document.getElementById(id);
  // Say something to those who do not see it.
  loom.say = (text) => {
    loom.byId("said").textContent = text;
  };

  const whole = new Intl.NumberFormat("en");
  const fine = [0, 1, 2].map((most) => new Intl.NumberFormat("en", { maximumFractionDigits: most, signDisplay: "negative" }));
  loom.count = (number, noun) => `${whole.format(number)} ${noun}${number === 1 ? "" : "s"}`;
  loom.number = (value, digits = 2) =>
    Number.isFinite(value) ? fine[digits].format(value).replace("-", "−") : "–";
  loom.signed = (value) => (value > 0 ? `+${loom.score(value)}` : loom.score(value));

  // A link to a web page; what is none (a script, a path of a disk) is text.
  loom.link = (address, text) => {
    let url = null;
    try {
      url = new URL(address);
    } catch {
      // Not an address.
    }
    if (!url || !["http:", "https:"].includes(url.protocol)) return text;
    return el("a", { href: url.href, rel: "noopener noreferrer nofollow", target: "_blank" }, text);
  };

  // A model call by its key: a link where the page of calls is served beside this one.
  const served = /^https?:$/.test(location.protocol) && location.pathname.startsWith("/loom/");
  loom.call = (what, key) => {
    if (!key) return null;
    const code = el("code", { title: key }, key.slice(0, 12));
    return el(
      "span",
      { className: "key" },
      `${what} `,
      served ? el("a", { href: `/loom/calls/${encodeURIComponent(key)}` }, code) : code,
    );
  };

  // The file of a picture, or of its thumbnail.
  loom.picturePath = (kind, path) => `${kind}/${path.split("/").map(encodeURIComponent).join("/")}`;

  // A thumbnail; where its file is missing, `gone` stands in its place.
  loom.thumb = (path, alt, gone) => {
    if (!path) return null;
    const onerror = () => picture.replaceWith(gone());
    const picture = el("img", { alt, loading: "lazy", decoding: "async", onerror });
    picture.src = loom.picturePath("thumbs", path);
    return picture;
  };

  // Text with its image tokens as chips: <ImageHere> is the next of `entering`, <image-3> the item's third.
  const spaced = (text) => text.replaceAll("&nbsp;", "\u00a0");
  const TOKEN = /(<ImageHere>)|<image-([0-9]{1,3})>/gi;
  loom.said = (text, nImages, entering = []) => {
    const parts = [];
    let end = 0;
    let next = 0;
    for (const token of text.matchAll(TOKEN)) {
      const position = token[1] ? entering[next++] : Number(token[2]);
      const known = position >= 1 && position <= nImages;
      const kind = known ? (token[1] ? "entry" : "image") : "unknown";
      parts.push(
        spaced(text.slice(end, token.index)),
        el(
          "span",
          {
            className: `chip ${kind}`,
            title: known ? `Image ${position}` : "There is no such image in this item",
          },
          `${token[1] ? "▣ " : ""}${position ?? "?"}`,
        ),
      );
      end = token.index + token[0].length;
    }
    return [...parts, spaced(text.slice(end))];
  };

  // Copy a text; where the browser does not let us, show it to be copied by hand.
  loom.copy = async (text, what) => {
    try {
      await navigator.clipboard.writeText(text);
      loom.toast(`${what} copied.`);
    } catch {
      loom.showText(what, text, {
        note: "This browser does not let the page copy: select the text and copy it.",
        select: true,
      });
    }
  };
  let hiding;
  loom.toast = (text) => {
    loom.say(text);
    document.querySelector(".toast")?.remove();
    clearTimeout(hiding);
    const toast = el("p", { className: "toast", "aria-hidden": "true" }, text);
    document.body.append(toast);
    hiding = setTimeout(() => toast.remove(), 2500);
  };
  loom.failed = (error) => {
    console.error(error);
    document.querySelector(".banner.fault")?.remove();
    document.body.prepend(el("p", { className: "banner fault", role: "alert" }, error.message));
  };
}
