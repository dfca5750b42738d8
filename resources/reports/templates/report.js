// The behaviour of the site's pages, which are complete without it: tables are sorted and filtered, models
// are chosen for a comparison, wide tables show that they go on, what is folded is opened by links and for
// paper.
// Texts are untrusted: they are only set by textContent.
"use strict";
{
  const made = (name, text = "", attributes = {}) => {
    const element = document.createElement(name);
    element.textContent = text;
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };

  // The number of a cell, or its text; null where there is nothing to sort by.
  const valueOf = (cell) => {
    if (!cell) return null;
    if (cell.dataset.sort !== undefined) return cell.dataset.sort === "" ? null : Number(cell.dataset.sort);
    const text = cell.textContent.trim();
    if (text === "" || text === "–") return null;
    return /^[\d.]+$/.test(text) ? Number(text) : text.toLowerCase();
  };

  const compare = (one, other, sign) => {
    if (one === null || other === null) return (one === null) - (other === null);
    if (typeof one === typeof other && typeof one === "number") return sign * (one - other);
    return sign * String(one).localeCompare(String(other));
  };

  const sorted = (table) => {
    const heads = [...table.querySelectorAll("thead th")];
    const body = table.tBodies[0];
    heads.forEach((head, column) => {
      const name = head.firstChild ? head.firstChild.textContent.trim() : "";
      const button = made("button", "", { type: "button", class: "sort", "aria-label": `Sort by ${name}` });
      if (head.firstChild) head.firstChild.after(button);
      else head.append(button);
      button.addEventListener("click", () => {
        const rows = [...body.rows];
        const isNumber = rows.some((row) => typeof valueOf(row.cells[column]) === "number");
        const before = head.getAttribute("aria-sort");
        const down = before ? before === "ascending" : isNumber;
        for (const each of heads) each.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        rows.sort((a, b) => compare(valueOf(a.cells[column]), valueOf(b.cells[column]), down ? -1 : 1));
        body.append(...rows);
      });
    });
  };

  // What was chosen stands in the address, behind '#' since a page that is opened from its folder has no other.
  const kept = () => new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
  const keep = (name, values) => {
    const next = kept();
    next.delete(name);
    for (const value of values) next.append(name, value);
    history.replaceState(null, "", `#${next}`);
  };

  const filtered = (table) => {
    const label = made("label", `${table.dataset.filter} `, { class: "filter" });
    const field = made("input", "", { type: "search", autocomplete: "off" });
    const found = made("span", "", { role: "status", class: "quiet" });
    label.append(field);
    const line = made("p", "", { class: "filters" });
    line.append(label, found);
    table.parentElement.before(line);
    const show = () => {
      const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      const rows = [...table.tBodies[0].rows];
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
      }
      const n = rows.filter((row) => !row.hidden).length;
      found.textContent = words.length ? `${n || "none"} of ${rows.length}` : "";
    };
    field.value = kept().get("filter") ?? "";
    show();
    field.addEventListener("input", () => {
      show();
      keep("filter", field.value ? [field.value] : []);
    });
  };

  // The matrix of every two models: two or three of them alone, and where their items are.
  const chosen = (table) => {
    const rows = [...(table.tBodies[0]?.rows ?? [])];
    const heads = [...table.querySelectorAll("thead th")].slice(1);
    if (rows.length < 3) return;
    const names = heads.map((head) => head.title || head.textContent.trim());
    const group = made("fieldset", "", { class: "choose" });
    group.append(made("legend", "Choose two or three models"));
    const boxes = names.map((name) => {
      const label = made("label", "");
      const box = made("input", "", { type: "checkbox" });
      label.append(box, made("span", name));
      group.append(label);
      return box;
    });
    const links = made("p", "", { class: "chosen", role: "status" });
    table.parentElement.before(group, links);
    const show = () => {
      const places = boxes.flatMap((box, place) => (box.checked ? [place] : []));
      const alone = places.length >= 2;
      boxes.forEach((box) => { box.disabled = places.length === 3 && !box.checked; });
      rows.forEach((row, place) => {
        row.hidden = alone && !boxes[place].checked;
        [...row.cells].slice(1).forEach((cell, column) => { cell.hidden = alone && !boxes[column].checked; });
      });
      heads.forEach((head, place) => { head.hidden = alone && !boxes[place].checked; });
      links.replaceChildren();
      if (!alone) return;
      links.append("Items that made the difference: ");
      const found = [];
      for (const [n, first] of places.entries()) {
        for (const second of places.slice(n + 1)) {
          const link = rows[first].cells[second + 1].querySelector("a");
          if (link) found.push([`${names[first]} and ${names[second]}`, link.getAttribute("href")]);
        }
      }
      // The address of two models names the first as `a` and the second as `b`; a third one is `c`.
      if (found.length === 3) found.push(["all three", `${found[0][1]}&c=${encodeURIComponent(names[places[2]])}`]);
      for (const [n, [text, href]] of found.entries()) links.append(n ? " · " : "", made("a", text, { href }));
      if (!found.length) links.textContent = "No two of them were compared.";
    };
    const asked = kept().getAll("model").slice(0, 3);
    boxes.forEach((box, place) => { box.checked = asked.includes(names[place]); });
    show();
    const gone = asked.filter((name) => !names.includes(name));
    if (gone.length) links.prepend(`Not among these models: ${gone.join(", ")}. `);
    group.addEventListener("change", () => {
      show();
      keep("model", names.filter((_, place) => boxes[place].checked));
    });
    if (asked.length) group.scrollIntoView();
  };

  // On which sides a box has more than is seen of it.
  const goesOn = (box) => {
    const hint = made("p", "goes on to the right →", { class: "note goes-on", "aria-hidden": "true" });
    box.before(hint);
    const mark = () => {
      hint.hidden = box.scrollWidth <= box.clientWidth + 1;
      box.classList.toggle("more-left", box.scrollLeft > 1);
      box.classList.toggle("more-right", box.scrollLeft + box.clientWidth < box.scrollWidth - 1);
    };
    box.addEventListener("scroll", mark, { passive: true });
    // What is folded has no width until it is opened.
    new ResizeObserver(mark).observe(box);
    mark();
  };

  const openAround = (element) => {
    for (let fold = element.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  };

  const reveal = () => {
    let name = location.hash.slice(1);
    try { name = decodeURIComponent(name); } catch { return; }
    const target = name && document.getElementById(name);
    if (!target) return;
    openAround(target);
    target.scrollIntoView();
  };

  for (const table of document.querySelectorAll("table.sorted")) sorted(table);
  for (const table of document.querySelectorAll("table[data-filter]")) filtered(table);
  for (const table of document.querySelectorAll("table.choose")) chosen(table);
  for (const box of document.querySelectorAll(".scroll")) goesOn(box);
  addEventListener("hashchange", reveal);
  reveal();
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    for (const fold of closed) fold.open = true;
  });
  addEventListener("afterprint", () => {
    for (const fold of closed) fold.open = false;
  });
}
