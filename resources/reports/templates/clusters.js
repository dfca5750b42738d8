// The behaviour of the clustering's page: plots its two figures, shows a card beside the pointer.
// Texts are untrusted: they are only set by textContent.
"use strict";
{
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const points = read("points");
  const thumbnails = read("thumbnails");
  const card = document.getElementById("card");
  const map = document.getElementById("map");
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

  const show = ({ points: [hit], event }) => {
    fill(hit.customdata);
    card.hidden = false;
    place(event.clientX, event.clientY);
  };

  const draw = (id, buttons) => {
    const target = document.getElementById(id);
    const { data, layout } = read(`${id}-figure`);
    Plotly.newPlot(target, data, layout, {
      responsive: true,
      displaylogo: false,
      // No button that uploads the plot.
      showSendToCloud: false,
      displayModeBar: buttons,
      modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d", "toImage"],
    });
  };

  if (points.length) {
    draw("map", true);
    map.on("plotly_hover", show);
    map.on("plotly_click", show);
    map.on("plotly_unhover", () => { card.hidden = true; });
  }
  if (document.getElementById("sizes")) draw("sizes", false);
}
