// The person's work on an item, sent to the server: the draft, the lock, the time spent.

const DRAFT_AFTER = 700; // ms without input, after which the draft is saved
const RENEW_EVERY = 60_000;
const ACTIVE_FOR = 300_000; // ms without activity, after which the lock is not renewed any more
const COUNTED_FOR = 60_000; // ms without activity, after which the time is not counted any more

const csrf = document.querySelector("meta[name=csrf-token]").content;

/** POST JSON to the item; with `last` the browser sends it although the page is being closed. */
async function post(url, body, last = false) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json", "X-CSRF-Token": csrf },
    body: JSON.stringify(body),
    // Browsers refuse larger bodies here; the copy in the session storage is sent on the next visit.
    keepalive: last && JSON.stringify(body).length < 20_000,
  });
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) {
    throw Object.assign(new Error(answer.error ?? `${response.status}`), { status: response.status, other: answer.other, path: answer.path });
  }
  return answer;
}

/**
 * Saves the draft of the item in `data`; `read()` returns it, `say` shows whether it is saved, `warn` one
 * sentence (empty: none), `ask` which of two drafts stays.
 */
export class Work {
  constructor(data, read, say, warn, ask) {
    Object.assign(this, { data, read, say, warn, ask });
    // What is wrong now: with the decision, with saving, with the lock. The first is shown.
    this.troubles = { decide: "", save: "", lock: "" };
    // The version of the stored draft that this page has seen: another tab may save another one.
    this.seen = data.version;
    this.seconds = data.seconds;
    this.active = Date.now();
    this.copy = `review:${data.item_id}:${data.content_hash}:${data.round}:${data.account}`;
    this.waiting = null;
    this.version = 0;
    this.over = false;
  }

  /**
   * Show the last draft of an earlier page: send it if it has not reached the server yet, and load the page
   * again if it is older. Nothing is typed over it meanwhile: this ends when the server has the draft, or
   * refuses it for good.
   */
  async recover() {
    const left = sessionStorage.getItem(this.copy);
    if (!left) return;
    let { saved, based_on, ...draft } = JSON.parse(left);
    while (!saved) {
      try {
        saved = (await post(this.data.urls.draft, { token: this.data.token, draft, based_on })).version;
      } catch (error) {
        this.tell(error, "save");
        if (error.other) based_on = await new Promise((keep) => { this.keepLeft = keep; });
        else if (error.status) return;
        else await new Promise((again) => setTimeout(again, 10 * DRAFT_AFTER));
      }
    }
    sessionStorage.removeItem(this.copy);
    if (saved === this.data.version) return;
    location.reload();
    await new Promise(() => {});
  }

  start() {
    for (const kind of ["keydown", "pointerdown", "pointermove", "wheel", "input"]) {
      document.addEventListener(kind, () => { this.active = Date.now(); }, { passive: true });
    }
    setInterval(() => this.count(), 1000);
    setInterval(() => this.renew(), RENEW_EVERY);
    const leave = () => this.waiting !== null && this.save(true);
    addEventListener("beforeunload", leave);
    addEventListener("pagehide", leave);
    // A page that the browser kept and shows again may be older than the stored draft.
    addEventListener("pageshow", (event) => event.persisted && location.reload());
    document.addEventListener("visibilitychange", () => document.hidden ? leave() : this.renew());
  }

  count() {
    if (!document.hidden && Date.now() - this.active < COUNTED_FOR) this.seconds += 1;
  }

  /** Save the draft once the person pauses. */
  changed() {
    if (this.over) return;
    this.version += 1;
    this.keep();
    clearTimeout(this.waiting);
    this.waiting = null;
    if (this.asked) return;
    this.say("saving");
    this.waiting = setTimeout(() => this.save(), DRAFT_AFTER);
  }

  draft() {
    return { ...this.read(), seconds: this.seconds };
  }

  /** Store a copy of the draft in the browser, in case the page is left before it is saved; returns it. */
  keep() {
    const draft = this.draft();
    sessionStorage.setItem(this.copy, JSON.stringify({ ...draft, based_on: this.seen }));
    return draft;
  }

  trouble(kind, sentence) {
    this.troubles[kind] = sentence;
    this.warn(Object.values(this.troubles).find(Boolean) ?? "");
  }

  /** Save the draft, one request after the other: each is based on the one before. */
  save(last = false) {
    clearTimeout(this.waiting);
    this.waiting = null;
    // A page that is being closed waits for nothing.
    this.saving = last ? this.send(true) : (this.saving ?? Promise.resolve()).then(() => this.send());
    return this.saving;
  }

  async send(last = false) {
    if (this.over || (this.asked && !last)) return;
    const version = this.version;
    const draft = this.keep();
    try {
      const { token } = this.data;
      this.seen = (await post(this.data.urls.draft, { token, draft, based_on: this.seen }, last)).version;
    } catch (error) {
      if (!last) this.failed(error);
      return;
    }
    this.trouble("save", "");
    // It does answer.
    if (this.troubles.lock === this.data.texts.offline) this.trouble("lock", "");
    if (version !== this.version) {
      this.keep();
      return;
    }
    // A page that is asked for at this moment may be older than this draft.
    sessionStorage.setItem(this.copy, JSON.stringify({ saved: this.seen }));
    this.say("saved");
  }

  async renew() {
    if (this.over || document.hidden || Date.now() - this.active > ACTIVE_FOR) return;
    try {
      const { locked } = await post(this.data.urls.renew, { token: this.data.token });
      this.trouble("lock", locked ? "" : this.data.texts.lost);
    } catch (error) {
      this.failed(error, "lock");
    }
  }

  /** Show what is wrong, and ask which draft stays where another one was saved. */
  tell(error, kind) {
    // An error without a status means that no answer came.
    this.trouble(kind, error.status ? error.message : this.data.texts.offline);
    if (kind === "save") this.say("not_saved");
    if (!error.other) return;
    this.asked = true;
    this.ask();
  }

  failed(error, kind = "save") {
    this.tell(error, kind);
    if (kind !== "lock" && !error.other && (kind === "decide" || !error.status)) {
      this.waiting ??= setTimeout(() => this.save(), (kind === "decide" ? 1 : 10) * DRAFT_AFTER);
    }
  }

  /** Show the draft that another tab has saved, in the place of this one. */
  showOther() {
    this.leave();
    location.reload();
  }

  /** Save this draft, or the one that was left, over the one that another tab has saved. */
  async keepThis() {
    this.asked = false;
    if (this.keepLeft) return this.keepLeft("any");
    this.seen = "any";
    this.trouble("decide", "");
    return this.save();
  }

  /** Send a decision; returns the address of the next page. */
  async decide(record) {
    clearTimeout(this.waiting);
    this.waiting = null;
    // The draft that is on its way becomes the one that the decision is based on.
    await this.saving;
    const { token, content_hash, round } = this.data;
    const answer = await post(this.data.urls.decide, {
      token, content_hash, round, based_on: this.seen, seconds: this.seconds, ...record,
    });
    this.leave();
    return answer.next;
  }

  async unlock() {
    if (this.waiting !== null) await this.save();
    await post(this.data.urls.unlock, { token: this.data.token });
    this.leave();
  }

  /** Make `content` the draft in the place of what was edited; null: as the item is. */
  async take(content) {
    clearTimeout(this.waiting);
    this.waiting = null;
    await this.saving;
    const { reason, note } = this.read();
    const verdict = content ? "edit" : null;
    const draft = { content, verdict, reason, note, seconds: this.seconds };
    await post(this.data.urls.draft, { token: this.data.token, draft, based_on: this.seen });
    this.leave();
  }

  leave() {
    this.over = true;
    sessionStorage.removeItem(this.copy);
  }
}
