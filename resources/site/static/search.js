// Search in all texts, or in answers: the words of a query, and the items that have all of them.
"use strict";
{
  const MOST_CHARACTERS = 40;
  // Han, Hiragana and Katakana: each character is a word. As methods/search_words.py cuts the texts.
  const ALONE = "\\u3040-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\u{20000}-\\u{3ffff}";
  const WORDS = new RegExp(`[${ALONE}]|(?:(?![${ALONE}])[\\p{L}\\p{M}\\p{N}])+`, "gu");
  const IS_ALONE = new RegExp(`^[${ALONE}]$`, "u");

  const normal = (text) => text.normalize("NFKC").toLowerCase();
  const wordsOf = (text) =>
    (normal(text).match(WORDS) || []).map((word) => [...word].slice(0, MOST_CHARACTERS).join(""));

  // The words of a query. The last is the beginning of a word where it has two letters and nothing follows.
  loom.queryOf = (text) => {
    const words = wordsOf(text);
    const last = words.at(-1) ?? "";
    const open = normal(text).endsWith(last) || [...last].length === MOST_CHARACTERS;
    const prefix = open && !IS_ALONE.test(last) && [...last].length > 1 ? last : null;
    return { words: [...new Set(prefix === null ? words : words.slice(0, -1))], prefix };
  };

  // Whether a query's last word is a single letter, which finds that letter alone.
  loom.isShort = (text) => {
    const last = wordsOf(text).at(-1) ?? "";
    return [...last].length === 1 && !IS_ALONE.test(last) && normal(text).endsWith(last);
  };

  const ANSWERS = "answers";
  const kindOf = () => (loom.get("in") === ANSWERS ? "answer_words" : "words");
  // Mark the items of one word, whose numbers are given as differences.
  const mark = (marks, differences) => {
    let number = 0;
    for (const difference of differences) {
      number += difference;
      marks[number] = 1;
    }
  };
  const withWord = async (kind, word) => {
    const marks = new Uint8Array(loom.n);
    const words = await loom.wordsOf(kind, loom.placeIn(loom.release[kind], word));
    mark(marks, words.get(word) || []);
    return marks;
  };
  const withPrefix = async (kind, prefix) => {
    const firsts = loom.release[kind];
    const marks = new Uint8Array(loom.n);
    const from = loom.placeIn(firsts, prefix);
    const to = loom.placeIn(firsts, `${prefix}\uffff`);
    // In few at a time: a short beginning may be in many files.
    for (let file = from; file <= to; file += 8) {
      const files = Array.from({ length: Math.min(8, to - file + 1) }, (_, place) =>
        loom.wordsOf(kind, file + place),
      );
      for (const words of await Promise.all(files)) {
        for (const [word, differences] of words) if (word.startsWith(prefix)) mark(marks, differences);
      }
    }
    return marks;
  };

  // Begin to load what a search of this text begins with; what fails is told by the search.
  loom.warm = (text) => {
    const { words, prefix } = loom.queryOf(text);
    const firsts = loom.release[kindOf()];
    for (const word of prefix === null ? words : [...words, prefix])
      if (firsts.length) loom.wordsOf(kindOf(), loom.placeIn(firsts, word)).catch(() => {});
  };

  // The items that have all words of a query, as a mark for each; null where it has no words.
  loom.search = async (text) => {
    const { words, prefix } = loom.queryOf(text);
    if (!words.length && prefix === null) return null;
    const kind = kindOf();
    if (!loom.release[kind].length) return new Uint8Array(loom.n);
    const found = await Promise.all([
      ...words.map((word) => withWord(kind, word)),
      ...(prefix === null ? [] : [withPrefix(kind, prefix)]),
    ]);
    return found.reduce((all, marks) => all.map((mark, number) => mark & marks[number]));
  };

  // Show where the words of the search are in an element, and open what hides them. Returns the first place.
  loom.highlight = (element) => {
    if (!window.CSS?.highlights) return null;
    const { words, prefix } = loom.queryOf(loom.get("q"));
    CSS.highlights.delete("found");
    if (!words.length && prefix === null) return null;
    const ranges = [];
    const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    for (let node = texts.nextNode(); node && ranges.length < 2000; node = texts.nextNode()) {
      if (node.parentElement.closest("button, summary, code, .keys")) continue;
      if (loom.get("in") === ANSWERS && !node.parentElement.closest(".answer-text")) continue;
      for (const match of node.data.matchAll(WORDS)) {
        const word = normal(match[0]);
        if (!words.includes(word) && !(prefix !== null && word.startsWith(prefix))) continue;
        const range = document.createRange();
        range.setStart(node, match.index);
        range.setEnd(node, match.index + match[0].length);
        ranges.push(range);
        const folded = node.parentElement.closest("details:not([open])");
        if (folded) folded.open = true;
      }
    }
    CSS.highlights.set("found", new Highlight(...ranges));
    return ranges[0]?.startContainer.parentElement ?? null;
  };
}
