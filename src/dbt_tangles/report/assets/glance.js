"use strict";
// The first page: the log at a glance.

function overTime(found) {
  if (!found) return h("p", { class: "note" }, "No message of a tangle has a time.");
  const at = (n) => new Date(found.first + n * found.width);
  const day = d3.utcFormat(found.width < 3600e3 ? "%Y-%m-%d %H:%M" : "%Y-%m-%d");
  const label = (row, n) => `${day(at(n))} to ${day(at(n + 1))}`;
  const tick = d3.utcFormat(found.width * found.bins.length > 5 * 86400e3 ? "%Y-%m-%d" : found.width < 60e3 ? "%H:%M:%S" : "%m-%d %H:%M");
  const ticks = d3.range(0, found.bins.length, window.innerWidth < 600 ? 30 : 15).concat(found.bins.length - 1).map((n) => [n, tick(at(n))]);
  const second = (n) => `${at(n).toISOString().slice(0, 19)}Z`;
  // The first and the last column have all earlier and later messages.
  const span = (n) => (n === null ? {} : { from: n ? second(n) : null, to: n < found.bins.length - 1 ? second(n + 1) : null });
  const to = (n, verdict) => addressOf("search", [], { table: "messages_by_kind", verdict, ...span(n), time: "known" });
  const picture = columns({ rows: found.bins, label, ticks, to, title: "Messages of tangles over time", xTitle: "time received, else time asserted (UTC)",
    keys: [["members", "other members", "well0"], ["forks", "tangle forks", "fork"], ["set_aside", "set aside", "bad0"]] });
  picture.append(h("p", { class: "note" }, "Merges: ", countLink(d3.sum(found.bins, (bin) => bin.merges), addressOf("search", [], { table: "merges", verdict: "merges", time: "known" })), ". ",
    found.without_time ? [countLink(found.without_time, addressOf("search", [], { table: "messages_by_kind", time: "unknown" })), " messages have no time between 1970 and 2100. "] : null,
    "Earlier and later messages count in the first and last column."));
  return picture;
}

function histogram(rows, grouping, title, xTitle) {
  const to = (n, key) => (n === null ? addressOf("search", [], { table: "tangles_by_trouble", verdict: key }) : key ? addressOf("search", [], { table: grouping, verdict: `${rows[n].low} ${key}` }) : null);
  const label = (row) => (row.low === row.high ? count(row.low) : `${count(row.low)} to ${count(row.high)}`);
  const every = Math.ceil(rows.length / (window.innerWidth < 600 ? 7 : 14));
  return columns({ rows, label, title, to, xTitle, ticks: rows.map((row, n) => [n, String(row.low)]).filter(([n]) => n % every === 0),
    keys: [["well", "tangles without problems", "well0"], ["troubled", "tangles with messages set aside", "bad0"]] });
}

const runsOf = (runs) => h("div", { id: "runs", tabindex: -1 }, runs.length
  ? table([["started (UTC)", (run) => run.started_at], ["status", (run) => run.status], ["seconds", (run) => run.seconds], ["tables that it wrote last", (run) => run.tables]], runs)
  : h("p", {}, "The table of runs is not built."));

const logOf = (name) => name.replace("_rejects", "").replace("timeline", "event");

/** The address of the entries of a verdict on the rows of a table. */
const entriesOf = (name, verdict) => (name.endsWith("_rejects") ? addressOf("rejects", [], { log: logOf(name), reason: verdict }) : addressOf("search", [], { table: name, verdict }));

/** A number of a verdict: its reasons with links, or the missing message that mends the most. */
function numberOf({ n, words, table: name, reasons, others, id }, meanings) {
  const reason = ([code, of]) => {
    const shown = link(entriesOf(name, code), said(code), " ", count(of));
    if (meanings[name] && meanings[name][code]) tip.on(shown, () => [code, meanings[name][code]]);
    return h("li", {}, shown);
  };
  return h("div", { class: "big" }, h("dt", {}, words), h("dd", { class: "n" }, count(n)),
    id ? h("dd", {}, idLink(id)) : reasons.length ? h("dd", {}, h("ul", {}, reasons.map(reason), others ? h("li", {}, `others ${count(others)}`) : null)) : null);
}

/** The problems, the most urgent first: the first ten, and the others folded away, with a command for each. */
function lookAt(items) {
  const most = 10, list = (some) => h("ul", { class: "look" }, some.map((item) => h("li", {}, link(addressOf(item.to[0], item.to.slice(1)), said(item.words)))));
  const asked = items.filter((item) => item.ask);
  return [items.length ? list(items.slice(0, most)) : h("p", {}, "The report finds no problem."),
    items.length > most ? h("details", {}, h("summary", {}, `${count(items.length - most)} more`), list(items.slice(most))) : null,
    asked.length ? behind("Commands that explain them", [["problem", (item) => item.words], ["command", (item) => h("code", {}, said(item.ask))]], asked) : null];
}

async function showGlance(page, index, section) {
  const data = await tangles.load("glance"), last = data.runs.find((each) => each.current_tables) || data.runs[0];
  const part = (title, ...content) => h("section", { class: "card" }, h("h2", {}, title), ...content);
  const rows = data.counts.flatMap((row) => [["", row.total], ...Object.entries(row.counts)].map(([verdict, n]) => ({ ...row, verdict, n, meaning: data.meanings[row.table][verdict] || "" })));
  const hasTangles = data.sizes.length > 0;
  page.append(
    h("div", { class: "systems" }, data.verdicts.map((each) => h("section", { class: "card verdict" }, h("h2", {}, each.log), h("p", { class: "sentence" }, each.sentence), h("dl", {}, each.numbers.map((number) => numberOf(number, data.meanings)))))),
    h("div", { class: "glance" },
      part("To look at", lookAt(data.look_at),
        last ? h("p", { class: "note" }, `Built ${last.started_at} UTC: ${last.status}. `, last.inputs.length ? last.inputs.map((log) => h("span", {}, said(log.var), " ", said(log.path), " ")) : "Input: the fixtures.") : null, queriesOf(index, "verdict")),
      hasTangles ? part("Over time", overTime(data.over_time), queriesOf(index, "over time")) : "",
      hasTangles ? part("Sizes of tangles", histogram(data.sizes, "tangles_by_size", "Tangles by number of candidates", "candidates, from"), queriesOf(index, "sizes")) : "",
      hasTangles ? part("Depths of tangles", histogram(data.depths, "tangles_by_depth", "Tangles by depth", "longest path from the root, in links, from"), queriesOf(index, "depths")) : ""),
    part("All verdicts", data.alike.map((words) => h("p", { class: "note" }, said(words), ".")),
      h("div", { class: "scroll verdicts", tabindex: 0, role: "region", "aria-label": "All verdicts" }, table([["rows", (row) => (row.verdict ? "" : row.what)], ["verdict", (row) => row.verdict || "all"],
        ["number", (row) => countLink(row.n, entriesOf(row.table, row.verdict))], ["meaning", (row) => row.meaning]], rows)), queriesOf(index, "verdicts")),
    part("Runs", runsOf(data.runs), queriesOf(index, "runs")));
  const place = section && document.getElementById(section);
  if (place) { place.scrollIntoView(); place.focus(); }
}
