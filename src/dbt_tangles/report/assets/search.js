"use strict";
// Searches the index in memory: see search_index.py for its form. A chunk is numbers, ids and texts of its entries.

const search = (() => {
  const WIDTHS = [1, 4, 6, 3], SIZE = d3.sum(WIDTHS), VALUES = new Uint8Array(128);
  [..."0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_"].forEach((digit, n) => { VALUES[digit.charCodeAt(0)] = n; });
  let index = null;

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

  /** Load the index, once. */
  function load() {
    index = index || (async () => {
      const names = await tangles.load("search"), chunks = [];
      for (let n = 0; n < names.chunks; n++) {  // One after the other, so that the page stays responsive.
        chunks.push(decode(await unpack(await tangles.load(`search-${n}`))));
        tangles.forget(`search-${n}`);
      }
      return { names, chunks };
    })();
    return index;
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

  const numbersOf = (values, is) => { const found = new Uint8Array(values.length + 1); values.forEach((value, n) => { found[n] = is(value) ? 1 : 0; }); return found; };

  /** The number of rows of each combination of verdicts that a filter wants: a table, and perhaps a verdict. */
  const weightsOf = (names, table, verdict) => names.combinations.map((combination) => combination.filter((n) => (!table || names.verdicts[n][0] === table) && (!verdict || names.verdicts[n][1] === verdict)).length);

  /** Find the entries that have all words of `q`, in an id, author, text or verdict, and satisfy the filters. */
  async function find({ q = "", table = "", verdict = "", author = "", from = "", to = "" }) {
    const { names, chunks } = await load(), started = performance.now();
    const words = q.trim().split(/\s+/).filter(Boolean);
    const terms = words.map((word) => ({ id: shorten(word), lower: word.toLowerCase(), authors: numbersOf(names.authors, (name) => name.includes(word)),
      verdicts: numbersOf(names.combinations, (combination) => combination.some((n) => names.verdicts[n][1].includes(word))) }));
    const isWanted = table || verdict, weights = weightsOf(names, table, verdict);
    const authors = author ? numbersOf(names.authors, (name) => name.includes(author)) : null;
    const first = from ? Date.parse(from) / 1000 : 0, last = to ? Date.parse(to) / 1000 + 86400 : Infinity, isTimed = Boolean(from || to);
    const entries = [];
    let rows = 0;
    chunks.forEach((chunk, c) => {
      const [, by, written, verdicts] = chunk.columns;
      const found = terms.map((term) => {
        const marks = new Uint8Array(chunk.count);
        mark(chunk.ids, term.id, marks);
        mark(chunk.lower, term.lower, marks);
        return marks;
      });
      for (let n = 0; n < chunk.count; n++) {
        if (isWanted && !weights[verdicts[n]]) continue;
        if (authors && !(by[n] && authors[by[n] - 1])) continue;
        if (isTimed && !(written[n] >= first && written[n] < last && written[n])) continue;
        if (!terms.every((term, k) => found[k][n] || (by[n] && term.authors[by[n] - 1]) || term.verdicts[verdicts[n]])) continue;
        entries.push(c, n);
        rows += isWanted ? weights[verdicts[n]] : 1;
      }
    });
    return { count: entries.length / 2, rows, milliseconds: performance.now() - started, entry: (k) => entryOf(names, chunks[entries[2 * k]], entries[2 * k + 1]) };
  }

  function entryOf(names, chunk, n) {
    const [kinds, authors, written, verdicts] = chunk.columns.map((column) => column[n]);
    return { kind: names.kinds[kinds], id: line(chunk.ids, n), author: authors ? names.authors[authors - 1] : null, written: written * 1000, text: line(chunk.texts, n),
      verdicts: names.combinations[verdicts].map((each) => names.verdicts[each]) };
  }

  return { load, find, shorten };
})();
