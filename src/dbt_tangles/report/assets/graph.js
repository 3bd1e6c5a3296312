"use strict";
// A graph: the drawing, the answer of `tangles why` for the chosen node, and the numbers.

const facts = (found) => h("dl", { class: "facts" }, Object.entries(found).flatMap(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, typeof value === "number" ? count(value) : said(value)))));

const leftOut = (view) => (view.left_out > 0 || view.missing_left_out > 0 ? h("p", { class: "note" }, [
  view.left_out > 0 ? `${count(view.left_out)} of ${count(view.total)} nodes are left out, ${view.kind === "feed" && view.facts.status !== "complete" ? "those around the end of the chain" : "the latest"} are drawn.` : null,
  view.missing_left_out > 0 ? `${count(view.missing_left_out)} more nodes are missing from the log.` : null, "tangles report --nodes shows more."].filter(Boolean).join(" ")) : null);

function showGraph(page, view, shard, { legend, classOf, more, after } = {}) {
  const why = panel(shard, view), frame = h("div", { class: "frame" });
  page.append(view.facts ? facts(view.facts) : "", leftOut(view) || "", legend, more || "", h("div", { class: "drawn" }, frame, why.place), after || "", ...tablesOf(view));
  // The drawing fills the frame, whose width is known once it is in the page.
  const drawing = view.nodes.length ? draw(view, { pick: why.show, title: `${view.kind} ${view.name}`, classOf, room: frame.clientWidth - 2 }) : h("p", {}, "There are no nodes to draw.");
  frame.append(drawing);
  return drawing;
}

const showTangle = (page, view, shard) => showGraph(page, view, shard, { legend: key([["k-root", "root"], ["k-in", "member"], ["k-fork", "fork"], ["k-merge", "merge"], ["k-tip", "tip (ring)"],
  ["k-aside", "set aside"], ["k-missing", "missing"], ["k-redundant", "redundant link"]]) });
