"use strict";
// Searches the index, chunk by chunk: see search_index.py for its form. A chunk is numbers, ids and texts of its entries.

const search = (() => {
  const WIDTHS = [1, 4, 6, 3], SIZE = d3.sum(WIDTHS), VALUES = new Uint8Array(128);
  const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
  [...DIGITS].forEach((digit, n) => { VALUES[digit.charCodeAt(0)] = n; });
  /** Decompress a text in base64. */
  async function unpack(text) {
    const packed = atob(text), bytes = new Uint8Array(packed.length);
    for (let n = 0; n < packed.length; n++) bytes[n] = packed.charCodeAt(n);
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  }

  /** The place after the end of each line of a text. */
  function linesOf(text, count) {
    const ends = new Uint32Array(count);
    for (let n = 0, at = 0; n < count; n++) {
      const end = text.indexOf("\n", at);
      at = (end < 0 ? text.length : end) + 1;
      ends[n] = at;
    }
    return { text, ends };
  }
  const line = ({ text, ends }, n) => text.slice(n ? ends[n - 1] : 0, ends[n] - 1);

  function decode(plain) {
    const [numbers, ids, texts] = plain.split("\x1d"), count = numbers.length / SIZE;
    const columns = [new Uint8Array(count), new Uint32Array(count), new Float64Array(count), new Uint32Array(count)];
    for (let n = 0, at = 0; n < count; n++) {
      for (let column = 0; column < 4; column++) {
        let value = 0;
        for (let digit = 0; digit < WIDTHS[column]; digit++) value = value * 64 + VALUES[numbers.charCodeAt(at++)];
        columns[column][n] = value;
      }
    }
    return { count, columns, ids: linesOf(ids, count), texts: linesOf(texts, count), lower: linesOf(texts.toLowerCase(), count) };
  }

  const chunks = new Map();

  /** Load a chunk, once. */
  function chunkOf(n) {
    if (!chunks.has(n)) {
      chunks.set(n, tangles.load(`search-${n}`).then(unpack).then((plain) => {
        tangles.forget(`search-${n}`);
        return decode(plain);
      }));
    }
    return chunks.get(n);
  }

  /** Load the index. */
  async function load() {
    const names = await tangles.load("search");
    for (let n = 0; n < names.chunks; n++) await chunkOf(n);  // One after the other, so that the page stays responsive.
  }

  /** The entries of an id. */
  async function entriesOf(id) {
    const names = await tangles.load("search"), short = shorten(id), found = [];
    for (let number = 0; number < names.chunks; number++) {
      const chunk = await chunkOf(number), marks = new Uint8Array(chunk.count);
      mark(chunk.ids, short, marks);
      marks.forEach((is, n) => { if (is && line(chunk.ids, n) === short) found.push(entryOf(names, chunk, n)); });
    }
    return found;
  }

  /** Shorten the hashes and keys in a text as the index does. */
  const shorten = (text) => text.replace(/ssb:(?:\/\/)?message\/(?:classic|sha256)\/([\w-]+=?)/g, (_, id) => `%${id.replaceAll("-", "+").replaceAll("_", "/")}`)
    .replace(/([%@][A-Za-z0-9+/]{11})[A-Za-z0-9+/]{1,32}=?(\.\w*)?/g, "$1").replace(/\b([0-9a-f]{12})[0-9a-f]{1,52}\b/g, "$1").replace(/\b([1-9A-HJ-NP-Za-km-z]{12})[1-9A-HJ-NP-Za-km-z]{31,32}\b/g, "$1");

  /** Set `found` for the entries whose lines have a text. */
  function mark({ text, ends }, part, found) {
    for (let at = text.indexOf(part), n = 0; at >= 0; at = text.indexOf(part, ends[n])) {
      let low = n, high = ends.length - 1;  // The line of a place, by bisection.
      while (low < high) { const middle = (low + high) >> 1; if (ends[middle] > at) high = middle; else low = middle + 1; }
      n = low;
      found[n] = 1;
    }
  }

  const numbersOf = (values, is) => { const found = new Uint8Array(values.length + 1); values.forEach((value, n) => { found[n] = is(value, n) ? 1 : 0; }); return found; };

  /** Whether a number is that of a verdict; others are groups that charts count. */
  const isVerdict = (names, n) => !names.groupings.includes(names.verdicts[n][0]);

  /** The number of rows of each combination of verdicts that a filter wants: a table, and perhaps a verdict. */
  const weightsOf = (names, table, verdict) => names.combinations.map((combination) => combination.filter((n) => (!table || names.verdicts[n][0] === table) && (!verdict || names.verdicts[n][1] === verdict)).length);

  /**
   * Find the entries that have all words of `q`, in an id, author, text or verdict, and satisfy the filters. `tell` gets the
   * entries found so far and the number of entries searched; if it returns false, the search ends.
   */
  async function find({ q = "", table = "", verdict = "", author = "", from = "", to = "", time = "" }, tell = () => true) {
    const names = await tangles.load("search"), words = q.trim().split(/\s+/).filter(Boolean);
    const terms = words.map((word) => ({ id: shorten(word), lower: word.toLowerCase(), authors: numbersOf(names.authors, (id, n) => id.includes(word) || (names.people[n] || "").toLowerCase().includes(word.toLowerCase())),
      verdicts: numbersOf(names.combinations, (combination) => combination.some((n) => isVerdict(names, n) && names.verdicts[n][1].includes(word))) }));
    const isWanted = table || verdict, weights = weightsOf(names, table, verdict);
    const authors = author ? numbersOf(names.authors, (id, n) => id.includes(author) || names.people[n] === author) : null;
    const first = from ? Date.parse(from) / 1000 : 0, last = to ? Date.parse(to) / 1000 + (to.includes("T") ? 0 : 86400) : Infinity, isTimed = Boolean(from || to || time === "known");
    const entries = [], found = { count: 0, rows: 0, searched: 0, milliseconds: 0, entry: (k) => entryOf(names, entries[2 * k], entries[2 * k + 1]) };

    function searchChunk(chunk) {
      const [, by, written, verdicts] = chunk.columns;
      const marks = terms.map((term) => {
        const marked = new Uint8Array(chunk.count);
        mark(chunk.ids, term.id, marked);
        mark(chunk.lower, term.lower, marked);
        return marked;
      });
      for (let n = 0; n < chunk.count; n++) {
        if (isWanted && !weights[verdicts[n]]) continue;
        if (authors && !(by[n] && authors[by[n] - 1])) continue;
        if (time === "unknown" && written[n]) continue;
        if (isTimed && !(written[n] >= first && written[n] < last && written[n])) continue;
        if (!terms.every((term, k) => marks[k][n] || (by[n] && term.authors[by[n] - 1]) || term.verdicts[verdicts[n]])) continue;
        entries.push(chunk, n);
        found.rows += isWanted ? weights[verdicts[n]] : 1;
      }
      found.count = entries.length / 2;
      found.searched += chunk.count;
    }
    for (let n = 0; n < names.chunks; n++) {
      const chunk = await chunkOf(n), started = performance.now();
      searchChunk(chunk);
      found.milliseconds += performance.now() - started;
      if (!tell(found)) break;
    }
    return found;
  }

  function entryOf(names, chunk, n) {
    const [kinds, authors, written, verdicts] = chunk.columns.map((column) => column[n]);
    return { kind: names.kinds[kinds], id: line(chunk.ids, n), author: authors ? names.authors[authors - 1] : null, person: authors ? names.people[authors - 1] : null, written: written * 1000, text: line(chunk.texts, n),
      verdicts: names.combinations[verdicts].filter((each) => isVerdict(names, each)).map((each) => names.verdicts[each]) };
  }

  return { load, find, entriesOf, shorten };
})();
