"use strict";
// The list of subjects of a kind, and the chosen subject.

const VIEWS = { tangle: ["Tangles", showTangle], feed: ["Feeds", showFeed], set: ["Sets", showSet], base: ["Bases", showBase], group: ["Groups", showGroup], timeline: ["Timelines", showTimeline] };

function listOf(kind, found, chosen) {
  return h("nav", { class: "list", "aria-label": VIEWS[kind][0] },
    h("p", { class: "note" }, found.parts.length < found.total
      ? `${count(found.parts.length)} of ${count(found.total)}: the largest, and ${kind === "timeline" ? "those with the most edits for each event" : "those with the most problems"}. tangles report --limit shows more.`
      : `All ${count(found.total)}.`),
    h("ol", {}, found.parts.map((part, n) => h("li", {}, h("a", { href: `#${kind}/${n}`, "aria-current": n === chosen ? "page" : null },
      h("b", {}, said(part.name)), h("span", { class: "id" }, said(part.id)), h("span", { class: "dim" }, part.facts),
      part.trouble ? h("span", { class: "badge" }, count(part.trouble)) : null)))));
}

async function showSubject(page, index, kind, number, node) {
  const found = index.kinds[kind], part = found.parts[number];
  const place = h("div", { class: "subject" });
  page.append(h("div", { class: "columns" }, listOf(kind, found, number), place));
  const current = page.querySelector("[aria-current]");
  if (current) {
    const list = current.closest("ol");
    list.scrollTop = current.getBoundingClientRect().top - list.getBoundingClientRect().top - list.clientHeight / 3;
  }
  if (!part) {
    place.append(h("p", {}, `The tables have no ${VIEWS[kind][0].toLowerCase()}.`));
    return;
  }
  const shard = `${kind}-${number}`, view = await tangles.load(shard);
  place.append(h("h2", {}, said(part.name), " ", h("small", {}, said(part.id))));
  VIEWS[kind][1](place, view, shard);
  const chosen = place.querySelector(`[data-node="${node}"]`);
  if (chosen) chosen.dispatchEvent(new MouseEvent("click"));
}
