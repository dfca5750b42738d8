// The data of a release: pieces that are loaded once when they are needed, and kept while there is room.
"use strict";
const loom = {};
{
  const folder = document.body.dataset.folder.split("/").map(encodeURIComponent).join("/");
  // Pieces of each kind that are kept; the one that was used longest ago goes first.
  const MOST = {
    release: 1,
    prompts: 1,
    images: 1,
    items: 12,
    requests: 12,
    heads: 32,
    columns: 128,
    words: 32,
    answer_words: 32,
  };
  const kept = new Map(Object.keys(MOST).map((kind) => [kind, new Map()]));
  const arrived = new Map();

  // Pieces call this with their name and their value.
  loom.put = (name, value) => arrived.set(name, value);

  // A script element is the one way to load data that works from a folder, too.
  const load = (name) =>
    new Promise((resolve, reject) => {
      const script = document.createElement("script");
      const settle = () => {
        script.remove();
        if (!arrived.has(name)) {
          reject(
            new Error(
              `The file ${name}.js of this page's data is missing or damaged. Reload the page, as its release may have been evaluated again; if that does not help, run: vlm-loom site`,
            ),
          );
          return;
        }
        resolve(arrived.get(name));
        arrived.delete(name);
      };
      script.addEventListener("load", settle);
      script.addEventListener("error", settle);
      // Scripts that are added later come after pictures otherwise.
      script.fetchPriority = "high";
      script.src = `${folder}/${name}.js`;
      document.head.append(script);
    });

  // The promise of a piece as `read` makes it of its value.
  const piece = (kind, file, read) => {
    const name = file === undefined ? kind : `${kind}/${file}`;
    const here = kept.get(kind);
    const found = here.get(name) || load(name).then(read);
    here.delete(name);
    here.set(name, found);
    found.catch(() => here.delete(name));
    if (here.size > MOST[kind]) here.delete(here.keys().next().value);
    return found;
  };
  const as = (value) => value;

  // The last place of sorted `values` that is not behind `wanted`.
  loom.placeIn = (values, wanted) => {
    let low = 0;
    let high = values.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (values[middle] <= wanted) low = middle;
      else high = middle;
    }
    return low;
  };

  const parts = ["kind", "label", "name", "metric", "judge", "model"];
  const keyOf = (column) => JSON.stringify(parts.map((part) => column[part] ?? null));
  let files;

  loom.begin = async () => {
    loom.release = await piece("release", undefined, as);
    loom.n = loom.release.ids.length;
    files = new Map(loom.release.columns.map((column) => [keyOf(column), column.file]));
    // What has scores: a metric as one judge gave it.
    const scored = new Map();
    for (const { kind, metric, judge } of loom.release.columns) {
      if (kind === "score") scored.set(`${metric} ${judge}`, { metric, judge });
    }
    loom.scored = [...scored.values()];
  };

  loom.hasColumn = (column) => files.has(keyOf(column));
  // Values by item as a typed array: NaN and -1 for none. Null where there is no such column.
  loom.column = (column) => {
    const file = files.get(keyOf(column));
    if (file === undefined) return Promise.resolve(null);
    return piece("columns", file, (values) => {
      if (column.kind === "images") return values;
      return ["label", "status", "group"].includes(column.kind)
        ? Int32Array.from(values)
        : Float64Array.from(values, (value) => value ?? NaN);
    });
  };
  // Pieces leave out what is none, empty or said twice.
  const judgment = (given) => {
    const part = loom.release.parts[given.part ?? 0];
    return {
      judge: null,
      replicate: 0,
      call: null,
      ...given,
      part,
      scores: given.scores ?? { [part || "score"]: given.score },
      prompt: loom.release.prompts[given.prompt] ?? null,
    };
  };
  const answer = (given) => ({
    trial: 0,
    text: null,
    reasoning: null,
    call: null,
    tokens: null,
    seconds: null,
    reading: null,
    observed: [],
    lost: [],
    ...given,
    judgments: (given.judgments ?? []).map(judgment),
    status: loom.release.statuses[given.status ?? 0],
    prompt: loom.release.prompts[given.prompt] ?? null,
  });
  const whole = (item) => ({ ...item, answers: item.answers.map(answer) });
  loom.itemOf = async (number) => {
    const { pieces } = loom.release;
    const file = loom.placeIn(pieces, number);
    return (await piece("items", file, (items) => items.map(whole)))[number - pieces[file]];
  };
  loom.headOf = async (number) => {
    const { heads } = loom.release;
    return (await piece("heads", Math.floor(number / heads), as))[number % heads];
  };
  // The requests of an item: `messages` and `settings`, and by the key of a call which of them it was.
  loom.requestsOf = async (number) => {
    const { requests } = loom.release;
    const file = loom.placeIn(requests, number);
    return (await piece("requests", file, as))[number - requests[file]];
  };
  loom.images = () => piece("images", undefined, as);
  // `kind` is `words`, of all texts, or `answer_words`.
  loom.wordsOf = (kind, file) => piece(kind, file, (words) => new Map(Object.entries(words)));
  loom.prompts = () => piece("prompts", undefined, (prompts) => new Map(Object.entries(prompts)));

  // Values between 0 (worst) and 1 (best) of a metric's scale, to shade scores.
  loom.shadeOf = (metric) => {
    const { low, high, higher_is_better: higher } = loom.metric(metric);
    if (low === null || high === null || low === high) return () => 0;
    return (value) => {
      const share = Math.min(1, Math.max(0, (value - low) / (high - low)));
      return higher ? share : 1 - share;
    };
  };
  // A model by its name, and how it was asked where that differs from the others.
  loom.label = (place) => loom.release.models[place].label;
  loom.metric = (place) => loom.release.metrics[place];
  loom.judgeTitle = (place) => loom.release.judges[place]?.title || "of an earlier version";
  const isRule = (place) => loom.release.judges[place]?.judge === "rule";
  loom.isRule = isRule;
}
