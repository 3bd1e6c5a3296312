"use strict";
// A base: the votes and quorum of each node, and the order of each observer with the end of its settled prefix.

const nameOfObserver = (observer) => (observer === "all" ? "all nodes" : observer);

/** The nodes of an observer's order, or those that are settled for it, if the address names the observer. */
function orderList(view) {
  const { filters } = readAddress(location.hash), only = filters.get("only"), found = view.observers.find((each) => each.observer === filters.get("observer"));
  if (!found) return null;
  const name = `${only === "settled" ? "settled for" : "in the order of"} ${nameOfObserver(found.observer)}`, shown = found.order.filter((each) => only !== "settled" || each.is_settled);
  return nodeList(view, { only, observer: found.observer }, name, shown.map((each) => each.node ?? each.id), only === "settled" ? found.settled : found.total);
}

function showBase(page, view, shard) {
  for (const node of view.nodes) {
    if (node.votes !== null && node.votes !== undefined && node.state === "in") node.inside = node.votes;
    node.rings = node.degree + (node.marks.includes("head") && node.degree ? 1 : 0);
    const quorum = `, quorum of degree ${node.degree}`;
    if (node.degree && !node.words.endsWith(quorum)) node.words += quorum;  // The view is kept while its lists are shown.
  }
  const legend = key([["k-in", "settled for the observer; the number: votes"], ["k-open", "not settled"], ["k-unseen", "not in the observer's order"], ["k-quorum", "a ring for each degree of its quorum"],
    ["k-tip", "head"], ["k-aside", "rejected"], ["k-missing", "missing"]]);
  const observers = h("div", { class: "observers" });
  const drawing = showGraph(page, view, shard, { legend, more: observers, list: orderList(view), after: behind("The quorums as a table", [["node", (row) => row.node_id], ["degree", (row) => row.degree],
    ["reached by", (row) => row.reached_by], ["writers", (row) => row.writers.join(" ")]], view.quorums) });

  function look(n) {
    const settled = new Map(view.observers[n].order.filter((each) => each.node !== null).map((each) => [each.node, each.is_settled]));
    for (const group of drawing.querySelectorAll(".node.in")) {
      const state = settled.get(Number(group.dataset.node));
      group.classList.toggle("open", state === false);
      group.classList.toggle("unseen", state === undefined);
    }
  }
  const listOf = (observer, only, n) => countLink(n, addressOf("base", [view.id], { only, observer: observer.observer }));
  view.observers.forEach((observer, n) => {
    const cells = [], choose = h("input", { type: "radio", name: "observer", id: `observer-${n}`, checked: n === 0, onchange: () => look(n) });
    if (observer.order.length < observer.total) cells.push(h("li", { class: "note" }, `${count(observer.total - observer.order.length)} before`));
    observer.order.forEach((each, k) => {
      if (!each.is_settled && (k === 0 || observer.order[k - 1].is_settled)) cells.push(h("li", { class: "line", role: "separator", "aria-label": "settled up to here" }));
      const cell = h("li", { class: each.is_settled ? "settled" : "open", tabindex: 0 }, said(each.id.length > 60 ? `${each.id.slice(0, 8)}:${each.id.split(":").pop()}` : each.id));
      tip.on(cell, () => [each.id, `position ${each.position}, ${each.is_settled ? "settled" : "not settled"}`, each.settled_with ? `settled with ${each.settled_with}` : null, each.delayed_by ? `delayed by ${each.delayed_by}` : null, each.waits]);
      cells.push(cell);
    });
    if (observer.order.length && observer.order.at(-1).is_settled) cells.push(h("li", { class: "line", role: "separator", "aria-label": "settled up to here" }));
    observers.append(h("div", { class: "observer", "data-settled": observer.settled }, h("label", { for: `observer-${n}` }, choose, said(nameOfObserver(observer.observer).length > 20 ? observer.observer.slice(0, 8) : nameOfObserver(observer.observer)),
      h("small", {}, " ", listOf(observer, "settled", observer.settled), " of ", listOf(observer, "order", observer.total), " settled")), h("ol", { class: "order" }, cells)));
  });
  if (view.observers.length && view.nodes.length) look(0);
  observers.append(behind("The orders as a table", [["observer", (row) => row.observer], ["position", (row) => row.position], ["node", (row) => row.id], ["settled", (row) => (row.is_settled ? "yes" : "no")],
    ["settled with", (row) => row.settled_with || ""], ["delayed by", (row) => row.delayed_by || ""], ["waits", (row) => row.waits || ""]], view.observers.flatMap((each) => each.order.map((row) => ({ observer: each.observer, ...row })))));
}
