// The map of the clustering: the entry of a dot, groups to hide, zoom.
// Texts are untrusted: they are only set by textContent.
{
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const map = document.querySelector("#map svg");
  if (map) {
    const points = read("points");
    const thumbnails = read("thumbnails");
    const card = document.getElementById("card");
    const part = (name) => card.querySelector(`.${name}`);
    const say = (name, text) => {
      part(name).textContent = text;
      part(name).hidden = !text;
    };

    const fill = (number) => {
      const [title, caption, group, cluster, size, similarity, isCentre] = points[number];
      const thumbnail = thumbnails[number];
      part("picture").hidden = !thumbnail;
      if (thumbnail) part("picture").src = `data:image/jpeg;base64,${thumbnail}`;
      say("title", title);
      say("caption", caption);
      say("group", group === null ? "In no group" : `Group: ${group}`);
      say("cluster", cluster === null ? "In no cluster" : `Cluster: ${cluster} (${size} entries)`);
      say("similarity", cluster === null ? "" : isCentre ? "The centre of its cluster" : `Similarity to the centre: ${similarity.toFixed(3)}`);
    };

    const place = (x, y) => {
      const gap = 16;
      const left = x + gap + card.offsetWidth < innerWidth ? x + gap : x - gap - card.offsetWidth;
      const top = Math.min(y + gap, innerHeight - card.offsetHeight - 8);
      card.style.left = `${Math.max(8, left)}px`;
      card.style.top = `${Math.max(8, top)}px`;
    };

    map.addEventListener("pointerover", ({ target, clientX, clientY }) => {
      const dot = target.closest("[data-n]");
      card.hidden = !dot;
      if (!dot) return;
      fill(Number(dot.dataset.n));
      place(clientX, clientY);
    });
    map.addEventListener("pointerleave", () => { card.hidden = true; });

    const dots = new Map([...map.querySelectorAll("[data-n]")].map((dot) => [Number(dot.dataset.n), dot]));
    const groups = read("groups");
    for (const box of document.querySelectorAll(".groups input")) {
      box.addEventListener("change", () => {
        for (const number of groups[box.value]) dots.get(number).style.display = box.checked ? "" : "none";
      });
    }

    const view = map.viewBox.baseVal;
    const { width, height } = view;
    const scale = () => view.width / map.clientWidth;
    map.addEventListener("wheel", (event) => {
      // The wheel alone scrolls the page. A touchpad sends a pinch as a wheel with Ctrl.
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const factor = Math.min(1, Math.max(0.02, (view.width / width) * (event.deltaY < 0 ? 0.8 : 1.25))) * width / view.width;
      const { left, top } = map.getBoundingClientRect();
      const x = view.x + (event.clientX - left) * scale();
      const y = view.y + (event.clientY - top) * scale();
      view.x = x - (x - view.x) * factor;
      view.y = y - (y - view.y) * factor;
      view.width *= factor;
      view.height *= factor;
    }, { passive: false });
    map.addEventListener("pointermove", ({ buttons, movementX, movementY }) => {
      if (buttons !== 1) return;
      view.x -= movementX * scale();
      view.y -= movementY * scale();
    });
    map.addEventListener("dblclick", () => Object.assign(view, { x: 0, y: 0, width, height }));
  }
}
