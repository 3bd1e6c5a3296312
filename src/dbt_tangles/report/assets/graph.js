"use strict";
// A graph: the drawing, the answer of `tangles why` for the chosen node, and the numbers.

/** The address of a subject's list: the nodes, links, steps or entries that a fact counts. */
function addressOfList(view, name) {
  const list = (view.lists || {})[name];
  if (!list) return null;
  return Array.isArray(list) || list === "steps" ? addressOf(view.kind, [keyOf(view)], { only: name }) : addressOf("search", [], list);
}

const keyOf = (view) => (view.kind === "tangle" ? `${view.name}:${view.id}` : view.id);

/** The facts of a subject, without those that are 0: each count of nodes or links is a link to the list of these. */
function facts(view) {
  const shown = (name, value) => (typeof value === "number" ? countLink(value, addressOfList(view, name)) : said(value));
  const number = (name, value) => { const found = shown(name, value); return typeof found === "number" ? count(found) : found; };
  return h("dl", { class: "facts" }, Object.entries(view.facts).filter(([, value]) => value).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, number(name, value)))));
}

/** The nodes or links that the fact in the address counts, as far as they are drawn. */
function factList(view) {
  const name = readAddress(location.hash).filters.get("only"), list = (view.lists || {})[name];
  return Array.isArray(list) ? nodeList(view, { only: name }, name, list, view.facts[name]) : null;
}

/** The list of some nodes or links behind a count: the filters of its address, its name, numbers of nodes (or ids, or pairs), and the count. */
function nodeList(view, filters, name, list, all) {
  const to = (n) => link(addressOf(view.kind, [keyOf(view), view.nodes[n].id], filters), said(view.nodes[n].id, "id"));
  const about = (n) => [view.nodes[n].lane || view.nodes[n].author, view.nodes[n].words.replace(/^by \S+?(, |$)/, "")].filter(Boolean).join(": ");
  const rows = list.map((each) => (typeof each === "string" ? { first: said(each), second: "" } : Array.isArray(each) ? { first: to(each[0]), second: to(each[1]) } : { first: to(each), second: about(each) }));
  return listBehind(name, `${name}: ${count(list.length)} of ${count(all)}`, addressOf(view.kind, [keyOf(view)]),
    list.some(Array.isArray) ? [["of", (row) => row.first], ["to", (row) => row.second]] : [["id", (row) => row.first], ["about", (row) => row.second]], rows,
    list.length < all ? "The others are not drawn." : null);
}

const leftOut = (view) => (view.left_out > 0 || view.missing_left_out > 0 ? h("p", { class: "note" }, [
  view.left_out > 0 ? `${count(view.left_out)} of ${count(view.total)} nodes are left out, ${view.kind === "feed" && view.facts.status !== "complete" ? "those around the end of the chain" : "the latest"} are drawn.` : null,
  view.missing_left_out > 0 ? `${count(view.missing_left_out)} more nodes are missing from the log.` : null].filter(Boolean).join(" ")) : null);

function showGraph(page, view, shard, { legend, classOf, more, after, list } = {}) {
  const why = panel(shard, view), frame = h("div", { class: "frame" });
  page.append(legend, h("div", { class: "drawn" }, frame, why.place), leftOut(view) || "", more || "", list || factList(view) || "", facts(view), after || "", ...tablesOf(view));
  // The drawing fills the frame, whose width is known once it is in the page.
  const drawing = view.nodes.length ? draw(view, { pick: why.show, title: `${view.kind} ${view.name}`, classOf, room: frame.clientWidth - 2 }) : h("p", {}, "There are no nodes to draw.");
  frame.append(drawing);
  return drawing;
}

const showTangle = (page, view, shard) => showGraph(page, view, shard, { legend: key([["k-root", "root"], ["k-in", "member"], ["k-fork", "tangle fork (several answers)"], ["k-merge", "merge"], ["k-tip", "tip (ring)"],
  ["k-aside", "set aside"], ["k-missing", "missing"], ["k-redundant", "redundant link"]]) });
