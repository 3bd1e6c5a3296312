"use strict";
// Addresses: `#view/part/part?name=value`. Parts are ids, so an address means the same in every report of a warehouse.

/** The address of a view, with its parts and the values of its filters. */
function addressOf(view, parts = [], filters = {}) {
  const given = Object.entries(filters).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  return `#${[view, ...parts].map((part) => encodeURIComponent(part)).join("/")}${given.length ? `?${new URLSearchParams(given)}` : ""}`;
}

/** The view, parts and filters of an address. */
function readAddress(hash) {
  const decode = (text) => { try { return decodeURIComponent(text); } catch { return text; } };  // A pasted id may hold a bare %.
  const [path, ...query] = hash.replace(/^#/, "").split("?");
  const [view, ...parts] = path.split("/").map(decode);
  return { view, parts, filters: new URLSearchParams(query.join("?")) };
}

/** The address of an id's own page; the page lists the drawings of the id. */
const addressOfId = (id) => addressOf("message", [id]);

/** A link with a whole id as its tooltip. */
function linkOf(id, to, words) {
  const shown = h("a", { href: to }, words);
  tip.on(shown, () => [id]);
  return shown;
}

/** The beginning of an id as a link to its page, and the name of an author, or the beginning of the id, as a link to the feed. */
const idLink = (id) => linkOf(id, addressOfId(id), said(cut(id, 10), "id"));
const person = (name, id) => (id ? linkOf(id, addressOf("feed", [id]), said(name || id.slice(0, 9), "person")) : said("author not known"));

/** A link to a place in the report. */
const link = (to, ...children) => h("a", { href: to }, ...children);

/** The entry that an id, or the beginning of one, names: an exact match comes first. */
const named = (entries, id, idOf) => (id ? entries.find((each) => idOf(each) === id) || entries.find((each) => idOf(each).startsWith(id)) : undefined);
