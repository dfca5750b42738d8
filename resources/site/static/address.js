// The state of the page, which is all in the address behind '#': the item, the search, filters, models, order.
"use strict";
{
  const LABEL = "label.";
  // Names of states, as the controls of the form are named, too; those with "label." are the release's own.
  const NAMES = (
    "item view q in image a b c metric judge outcome outcome.of score.of score.min score.max " +
    "diff.side diff.min judges.of judges.min length.of length.min length.max note sort"
  ).split(" ");
  const FILTERS = (
    "q image outcome score.min score.max diff.side diff.min judges.min length.min length.max " +
    "note"
  ).split(" ");
  let state = {};

  const read = (hash) => {
    const read = {};
    for (const [name, value] of new URLSearchParams(hash.replace(/^#/, ""))) {
      if (/\.(min|max)$/.test(name) && NAMES.includes(name) && !Number.isFinite(Number(value))) continue;
      if (value !== "" && (NAMES.includes(name) || name.startsWith(LABEL))) read[name] = value.slice(0, 1000);
    }
    return read;
  };

  // The address of this page with changes; null or "" takes a part away.
  loom.addressWith = (changes = {}) => {
    const next = { ...state, ...changes };
    const known = Object.keys(next).filter(
      (name) => next[name] !== null && next[name] !== undefined && next[name] !== "",
    );
    const order = (name) => (NAMES.includes(name) ? NAMES.indexOf(name) : NAMES.length);
    known.sort((a, b) => order(a) - order(b) || (a < b ? -1 : 1));
    return `#${new URLSearchParams(known.map((name) => [name, next[name]]))}`;
  };
  loom.get = (name) => state[name] ?? "";
  // Change the state; `step` makes it a step that one goes back from. Says whether anything changed.
  loom.change = (changes, { step = false } = {}) => {
    const address = loom.addressWith(changes);
    if (address === loom.addressWith()) return false;
    state = read(address);
    history[step ? "pushState" : "replaceState"](null, "", address);
    return true;
  };
  loom.readAddress = () => {
    state = read(location.hash);
  };

  loom.labelFilters = () => Object.keys(state).filter((name) => name.startsWith(LABEL));
  loom.labelName = (name) => name.slice(LABEL.length);
  loom.labelState = (label) => LABEL + label;
  loom.filtersOn = () => [...FILTERS.filter((name) => state[name]), ...loom.labelFilters()];
  loom.withoutFilters = () => Object.fromEntries(loom.filtersOn().map((name) => [name, null]));

  // The metric and the judge whose scores are shown.
  loom.shown = () => {
    const of = loom.scored.filter(({ metric }) => loom.metric(metric).name === loom.get("metric"));
    const by = loom.get("judge");
    // Reports name a judge without its version.
    return (
      of.find(({ judge }) => loom.judgeTitle(judge) === by) ||
      of.find(({ judge }) => loom.release.judges[judge].judge === by) ||
      of[0] ||
      loom.scored[0] ||
      null
    );
  };
  loom.shownText = ({ metric, judge }) => `${loom.metric(metric).name} · ${loom.judgeTitle(judge)}`;
  // A score as it is written: with a digit behind the point where the scale is wide.
  loom.score = (value) => loom.number(value, isWide() ? 1 : 2);
  const isWide = () => {
    const { low, high } = loom.metric(loom.shown().metric);
    return low !== null && high !== null && high - low >= 20;
  };
  loom.modelOf = (name) => {
    const place = loom.release.models.findIndex((model) => model.name === loom.get(name));
    return place < 0 ? null : place;
  };
  // What stands in the place of one model: what is said of all that are compared, or of all where none is.
  loom.EVERY = "(every)";
  loom.NO = "(no)";
  loom.HIGHEST = "(highest)";
  loom.LOWEST = "(lowest)";
  loom.meant = () => {
    const sides = loom.sides().map(({ model }) => model);
    return sides.length ? sides : [...loom.release.models.keys()].filter((model) => loom.release.models[model].is_model);
  };
  // What an address without a comparison lacks.
  loom.UNCOMPARED = { sort: null, "diff.side": null, "diff.min": null };
  // The models that are compared, by their letters: at most three, each once.
  loom.sides = () => {
    const sides = ["a", "b", "c"]
      .map((side) => ({ side, model: loom.modelOf(side) }))
      .filter(({ model }) => model !== null);
    return sides.filter(({ model }, place) => sides.findIndex((other) => other.model === model) === place);
  };
}
