"use strict";
// The page of the search: words and filters in the address, the entries that have them, the most urgent first.

const SHOWN = 50;

/** The page of an entry. */
function addressOfEntry({ kind, id }) {
  return kind === "message" ? addressOfId(id) : addressOf(kind, [id]);
}

function entryLine(entry, meanings) {
  const verdicts = [...d3.rollup(entry.verdicts.filter(([, code]) => code), (found) => found.length, ([table, code]) => `${table}\n${code}`)].map(([name]) => name.split("\n"));
  return h("li", { class: "entry" },
    h("div", { class: "words" }, link(addressOfEntry(entry), said(entry.text || entry.person || entry.id || "(no id)"))),
    h("div", { class: "dim" }, entry.author ? [person(entry.person, entry.author), " "] : null, entry.kind === "message" ? "" : `${entry.kind} `, said(entry.id, "id"), " ", entry.written ? h("time", {}, timeWords(entry.written)) : ""),
    h("div", { class: "dim" }, verdicts.map(([table, code]) => {
      const shown = link(addressOf("search", [], { table, verdict: code }), `${table}: ${code}`);
      if (meanings[table] && meanings[table][code]) tip.on(shown, () => [code, meanings[table][code]]);
      return [shown, " "];
    })));
}

function filterForm(filters, counts) {
  const typeOf = (name) => (name === "author" ? "text" : (filters.get(name) || "").includes("T") ? "datetime-local" : "date");
  const field = (name, title, input) => h("label", {}, `${title} `, input || h("input", { name, type: typeOf(name), step: typeOf(name) === "datetime-local" ? 1 : null, value: (filters.get(name) || "").replace(/Z$/, "") }));
  const chosen = `${filters.get("table") || ""}:${filters.get("verdict") || ""}`;
  const option = (value, words) => h("option", { value, selected: value === chosen }, words);
  const select = h("select", { name: "of" }, option(":", "all entries"), chosen === ":" || counts.some(({ table }) => chosen.startsWith(`${table}:`)) ? null : option(chosen, chosen.replaceAll("_", " ").replace(/:$/, "").replace(":", ": ")), counts.map((row) => h("optgroup", { label: row.what }, option(`${row.table}:`, `all ${row.what} ${count(row.total)}`),
    Object.entries(row.counts).map(([code, n]) => option(`${row.table}:${code}`, `${code} ${count(n)}`)))));
  return h("form", { class: "filters", "aria-label": "Filters", onchange: (event) => apply(event.currentTarget), onsubmit: (event) => { event.preventDefault(); apply(event.currentTarget); } },
    field("of", "Verdict", select), field("author", "Author"), field("from", "From"), field("to", "To"), h("button", { type: "submit" }, "Filter"));

  const timed = (value) => (value.includes("T") ? `${value}Z` : value);  // Times are in UTC.
  function apply(form) {
    const given = Object.fromEntries(new FormData(form)), [table, ...verdict] = given.of.split(":");
    location.hash = addressOf("search", [], { q: filters.get("q"), table, verdict: verdict.join(":"), author: given.author, from: timed(given.from), to: timed(given.to), time: filters.get("time") });
  }
}

async function showSearch(page, filters) {
  const place = h("ol", { class: "entries" }), status = h("p", { id: "shown", role: "status" }, "Loading the index …"), more = h("button", { type: "button", hidden: true }, "More");
  const data = await tangles.load("glance"), names = await tangles.load("search"), counts = data.counts.filter((row) => row.total && !row.table.endsWith("_rejects"));
  const scope = names.count < names.total ? ` The index has ${count(names.count)} of ${count(names.total)} entries: those with a problem, and the latest.` : "";
  page.append(h("section", { class: "card" }, h("h2", {}, "Search"), filterForm(filters, counts),
    h("p", { class: "note" }, `Words are found in ids, authors, verdicts and in the first ${count(names.length)} characters of texts.${scope}`), status, place, more));
  if (!names.count) return void (status.textContent = "The tables have no entries.");
  const isOfVerdict = filters.get("table") || filters.get("verdict"), summary = (found) => `${count(found.count)} ${found.count === 1 ? "entry" : "entries"}${isOfVerdict && found.rows !== found.count ? ` with ${count(found.rows)} rows` : ""}`;
  let shown = 0, last = SHOWN;
  const show = (found) => {
    for (; shown < Math.min(last, found.count); shown++) place.append(entryLine(found.entry(shown), data.meanings));
  };
  const found = await search.find(Object.fromEntries(filters), (soFar) => {
    show(soFar);
    status.textContent = `${summary(soFar)} in ${count(soFar.searched)} of ${count(names.count)} …`;
    return page.isConnected;
  });
  if (!page.isConnected) return;
  more.addEventListener("click", () => {
    last += SHOWN;
    show(found);
    more.hidden = shown === found.count;
  });
  more.hidden = shown === found.count;
  status.textContent = summary(found);
  status.dataset.rows = found.rows;
  status.dataset.milliseconds = Math.round(found.milliseconds);
}

/** The search box in the head of the page: the address follows its text. */
(() => {
  const form = document.getElementById("find"), box = form.elements.q;
  let later = null;
  const go = () => {
    const { view, filters } = readAddress(location.hash), kept = view === "search" ? Object.fromEntries(filters) : {};
    location.hash = addressOf("search", [], { ...kept, q: box.value.trim() });
  };
  box.addEventListener("input", () => { clearTimeout(later); later = setTimeout(go, 150); });
  form.addEventListener("submit", (event) => { event.preventDefault(); clearTimeout(later); go(); });
  box.addEventListener("focus", () => search.load());
  const follow = () => { const { view, filters } = readAddress(location.hash); if (document.activeElement !== box) box.value = view === "search" ? filters.get("q") || "" : ""; };
  window.addEventListener("hashchange", follow);
  follow();
})();
