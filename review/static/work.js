// The person's work on the server: the draft while they type, the hold on the item, the time spent.

const DRAFT_AFTER = 700; // ms without a key, then the draft is saved
const RENEW_EVERY = 60_000;
const ACTIVE_FOR = 300_000; // who did nothing for so long no longer keeps others from the item
const COUNTED_FOR = 60_000; // seconds count while something was done within the last minute

const csrf = document.querySelector("meta[name=csrf-token]").content;

/** POST JSON to the item; `last` lets it go out although the page goes. */
async function post(url, body, last = false) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json", "X-CSRF-Token": csrf },
    body: JSON.stringify(body),
    // Browsers refuse a body over 64 KiB here; the copy in the session storage stands in for it.
    keepalive: last && JSON.stringify(body).length < 20_000,
  });
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw Object.assign(new Error(answer.error ?? `${response.status}`), { status: response.status });
  return answer;
}

/** Keeps the draft of `data`'s item; `read()` gives it, `say` and `warn` tell the person. */
export class Work {
  constructor(data, read, say, warn) {
    Object.assign(this, { data, read, say, warn });
    this.seconds = data.seconds;
    this.active = Date.now();
    this.copy = `review:${data.item_id}:${data.content_hash}:${data.round}:${data.account}`;
    this.waiting = null;
    this.version = 0;
    this.over = false;
  }

  /** If the page went before its last draft reached the server, bring it there and show it. */
  async recover() {
    const left = sessionStorage.getItem(this.copy);
    if (!left) return;
    try {
      await post(this.data.urls.draft, { token: this.data.token, draft: JSON.parse(left) });
    } catch (error) {
      this.warn(error.message);
      return;
    }
    sessionStorage.removeItem(this.copy);
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
    document.addEventListener("visibilitychange", () => document.hidden ? leave() : this.renew());
  }

  count() {
    if (!document.hidden && Date.now() - this.active < COUNTED_FOR) this.seconds += 1;
  }

  /** Something changed: the draft is saved once the person pauses. */
  changed() {
    if (this.over) return;
    this.version += 1;
    this.say("saving");
    // At once and on this machine: no reload is faster than this.
    sessionStorage.setItem(this.copy, JSON.stringify(this.draft()));
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.save(), DRAFT_AFTER);
  }

  draft() {
    return { ...this.read(), seconds: this.seconds };
  }

  async save(last = false) {
    clearTimeout(this.waiting);
    this.waiting = null;
    const version = this.version;
    try {
      await post(this.data.urls.draft, { token: this.data.token, draft: this.draft() }, last);
    } catch (error) {
      if (!last) this.failed(error);
      return;
    }
    if (version !== this.version) return;
    sessionStorage.removeItem(this.copy);
    this.say("saved");
  }

  async renew() {
    if (this.over || document.hidden || Date.now() - this.active > ACTIVE_FOR) return;
    try {
      const { held } = await post(this.data.urls.renew, { token: this.data.token });
      if (!held) this.warn(this.data.texts.lost);
    } catch (error) {
      this.failed(error);
    }
  }

  failed(error) {
    this.say("not_saved");
    // Without a status no answer came: the network, or the server is away.
    this.warn(error.status ? error.message : this.data.texts.offline);
    if (!error.status) this.waiting ??= setTimeout(() => this.save(), 10 * DRAFT_AFTER);
  }

  /** Send a decision; returns where to go next. */
  async decide(record) {
    clearTimeout(this.waiting);
    this.waiting = null;
    const { token, content_hash, round } = this.data;
    const answer = await post(this.data.urls.decide, {
      token, content_hash, round, seconds: this.seconds, ...record,
    });
    this.leave();
    return answer.next;
  }

  async letGo() {
    if (this.waiting !== null) await this.save();
    await post(this.data.urls.let_go, { token: this.data.token });
    this.leave();
  }

  async undo() {
    clearTimeout(this.waiting);
    this.waiting = null;
    const { reason, note } = this.read();
    await post(this.data.urls.draft, { token: this.data.token, draft: { reason, note, seconds: this.seconds } });
    this.leave();
  }

  leave() {
    this.over = true;
    sessionStorage.removeItem(this.copy);
  }
}
