"use strict";
// The list of the subjects of a kind that are drawn, and the chosen subject.

const VIEWS = { tangle: ["Tangles", showTangle], feed: ["Feeds", showFeed], set: ["Sets", showSet], base: ["Bases", showBase], group: ["Groups", showGroup], timeline: ["Timelines", showTimeline] };

function listOf(kind, found, chosen, mode) {
  return h("nav", { class: "list", "aria-label": `${VIEWS[kind][0]} that are drawn` },
    h("p", { class: "note" }, found.parts.length < found.total
      ? `${count(found.parts.length)} of ${count(found.total)} are drawn: the largest, and ${kind === "timeline" ? "those with the most edits for each event" : "those with the most problems"}. The option --limit of tangles report draws more.`
      : `All ${count(found.total)} are drawn.`),
    h("ol", {}, found.parts.map((part) => h("li", {}, h("a", { href: addressOf(mode || kind, [part.key]), "data-key": part.key, "aria-current": part === chosen ? "page" : null },
      part.trouble ? h("span", { class: "badge" }, count(part.trouble)) : null, h("b", {}, said(part.title)), part.by ? h("span", { class: "by" }, said(part.by)) : null, h("span", { class: "id" }, said(`${part.name} ${part.id}`)), h("span", { class: "dim" }, part.facts))))));
}

/** The command that shows a subject which this report does not draw. */
const showCommand = (index, kind, id) => h("p", {}, "Ask the warehouse: ", command(index, "show", id, "--kind", kind));

/** Show a subject, by its id or the beginning of it; `id` is empty for the first one, `node` is the chosen node, `mode` is `read` for the text of a tangle. */
async function showSubject(page, index, kind, id, node, mode) {
  const found = index.kinds[kind], part = id ? named(found.parts, id, (each) => each.key) || found.parts.find((each) => each.also?.includes(id)) : found.parts[0];
  const place = h("div", { class: "subject" });
  page.append(h("div", { class: "columns" }, listOf(kind, found, part, mode), place));
  const current = page.querySelector("[aria-current]");
  if (current) {
    const list = current.closest("ol");
    list.scrollTop = current.getBoundingClientRect().top - list.getBoundingClientRect().top - list.clientHeight / 3;
  }
  if (!part) {
    place.append(h("h2", {}, said(id || VIEWS[kind][0])), ...(id ? [h("p", {}, "This report does not draw it."), showCommand(index, kind, id)] : [h("p", {}, `The tables have no ${VIEWS[kind][0].toLowerCase()}.`)]));
    return;
  }
  const shard = `${kind}-${found.parts.indexOf(part)}`;
  place.append(h("h2", {}, said(part.title), part.by ? [h("span", { class: "dim" }, " by "), said(part.by)] : null, h("small", {}, said(`${part.name} ${part.id}`))));
  const view = await tangles.load(shard);
  if (kind === "tangle") {
    place.append(h("nav", { class: "choices", "aria-label": "Form" }, [["tangle", "Drawing"], ["read", "Text"]].map(([name, words]) => [
      h("a", { href: addressOf(name, [part.key, ...(node ? [node] : [])]), "aria-current": (mode || kind) === name ? "true" : null }, words), " "])));
  }
  if (mode === "read") {
    await showReading(place, view, shard, node);
    place.append(queriesOf(index, "texts"));
    return;
  }
  VIEWS[kind][1](place, view, shard);
  place.append(queriesOf(index, VIEWS[kind][0].toLowerCase()));
  const chosen = named(view.nodes, node, (each) => each.id);
  if (chosen) place.querySelector(`[data-node="${view.nodes.indexOf(chosen)}"]`).dispatchEvent(new MouseEvent("click"));
}
