"use strict";
// The page of an id: the drawings that have it, and the answer of `tangles why`.

/** Show the entries of the search index for an id: author, time, text and verdicts. */
async function showEntries(place, id) {
  const [{ meanings }, found] = await Promise.all([tangles.load("glance"), search.entriesOf(id)]);
  const entries = found.filter((entry) => entry.kind === "message");
  if (!place.isConnected || !entries.length) return;
  place.querySelector("h2").prepend(said(entries[0].text), h("span", { class: "dim" }, " by "), person(entries[0].person, entries[0].author));
  place.querySelector("h2").after(h("ol", { class: "entries" }, entries.map((entry) => entryLine(entry, meanings))));
}

async function showMessage(page, index, id) {
  const { drawn, answers } = await tangles.load("places");
  const whole = named(Object.keys(drawn), id, (each) => each) || named(Object.keys(answers), id, (each) => each) || id, found = drawn[whole] || [];
  const place = h("section", { class: "card" }, h("h2", {}, h("small", {}, said(whole))));
  page.append(place);
  showEntries(place, whole);
  if (found.length) {
    place.append(h("h3", {}, "Drawn in"), h("ul", { class: "look" }, found.map(([kind, n]) => {
      const part = index.kinds[kind].parts[n];
      return h("li", {}, link(addressOf(kind, [part.key, whole]), `${VIEWS[kind][0]}: `, said(part.title), part.by ? [" by ", said(part.by)] : null));
    })));
  }
  let lines = answers[whole];
  for (const [kind, n] of found) {
    if (lines) break;
    const view = await tangles.load(`${kind}-${n}`);
    lines = (await tangles.load(`${kind}-${n}-why`))[view.nodes.findIndex((node) => node.id === whole)];
  }
  if (lines) place.append(h("h3", { class: "over" }, "Why"), h("div", { class: "why" }, lines.map(lineOf)));
  else place.append(h("p", {}, "The report has no answer for this id. Ask the warehouse: ", command(index, "why", whole)));
}
