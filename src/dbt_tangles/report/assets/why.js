"use strict";
// The panel with the answer of `tangles why` for the chosen node.

const LOOKS = { green: "good", red: "wrong", dim: "dim", bold: "strong", cyan: "id" };

/** A line of an answer: ids are links to their pages. */
function lineOf([indent, ...pieces]) {
  const shown = ([text, look]) => (look === "cyan" ? link(addressOfId(text), said(text, LOOKS[look])) : said(text, LOOKS[look]));
  return h("div", { class: `line in${Math.min(indent, 5)}` }, pieces.map((piece) => (Array.isArray(piece) ? shown(piece) : said(piece))));
}

function panel(shard, view) {
  const place = h("aside", { class: "why", "aria-live": "polite", "aria-label": "Why" }, h("p", { class: "note" }, "Choose a node (click, or arrow keys and Enter) to see its place and the reason for it."));
  async function show(n) {
    keepAddress(view.nodes[n].id);
    const answers = await tangles.load(`${shard}-why`), lines = answers[n];
    place.replaceChildren(h("h3", {}, "why ", said(view.nodes[n].label)));
    if (!lines) {
      place.append(h("p", {}, said(view.nodes[n].id)), h("p", {}, view.nodes[n].words || "no answer for this node"));
      return;
    }
    place.append(...lines.map(lineOf));
  }
  return { place, show };
}
