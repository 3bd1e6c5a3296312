"use strict";
// The first page: the log at a glance.

function overTime(found) {
  if (!found) return h("p", { class: "note" }, "No message of a tangle has a time.");
  const at = (n) => new Date(found.first + n * found.width);
  const day = d3.utcFormat(found.width < 3600e3 ? "%Y-%m-%d %H:%M" : "%Y-%m-%d");
  const label = (row, n) => `${day(at(n))} to ${day(at(n + 1))}`;
  const tick = d3.utcFormat(found.width * found.bins.length > 5 * 86400e3 ? "%Y-%m-%d" : found.width < 60e3 ? "%H:%M:%S" : "%m-%d %H:%M");
  const ticks = d3.range(0, found.bins.length, 15).concat(found.bins.length - 1).map((n) => [n, tick(at(n))]);
  const second = (n) => `${at(n).toISOString().slice(0, 19)}Z`;
  // The first and the last column have all earlier and later messages.
  const span = (n) => (n === null ? {} : { from: n ? second(n) : null, to: n < found.bins.length - 1 ? second(n + 1) : null });
  const to = (n, verdict) => addressOf("search", [], { table: "messages_by_kind", verdict, ...span(n), time: "known" });
  const picture = columns({ rows: found.bins, label, ticks, to, title: "Messages of tangles over time", xTitle: "time received, else time asserted (UTC)",
    keys: [["members", "members that are not forks", "well0"], ["forks", "forks", "fork"], ["set_aside", "set aside", "bad0"]] });
  picture.append(h("p", { class: "note" }, "Merges: ", countLink(d3.sum(found.bins, (bin) => bin.merges), addressOf("search", [], { table: "merges", verdict: "merges", time: "known" })), ". ",
    found.without_time ? [countLink(found.without_time, addressOf("search", [], { table: "messages_by_kind", time: "unknown" })), " messages have no time between 1970 and 2100. "] : null,
    "Earlier and later messages count in the first and last column."));
  return picture;
}

function histogram(rows, grouping, title, xTitle) {
  const to = (n, key) => (n === null ? addressOf("search", [], { table: "tangles_by_trouble", verdict: key }) : key ? addressOf("search", [], { table: grouping, verdict: `${rows[n].low} ${key}` }) : null);
  const label = (row) => (row.low === row.high ? count(row.low) : `${count(row.low)} to ${count(row.high)}`);
  const from = d3.format(".2~s");
  const short = (row) => (rows.length > 8 ? from(row.low) : row.low === row.high ? `${row.low}` : `${row.low}–${row.high}`);
  const every = Math.ceil(rows.length / 9);
  return columns({ rows, label, title, to, xTitle: rows.length > 8 ? `${xTitle}, from` : xTitle, ticks: rows.map((row, n) => [n, short(row)]).filter(([n]) => n % every === 0),
    keys: [["well", "tangles without problems", "well0"], ["troubled", "tangles with messages set aside", "bad0"]] });
}

/** The runs, and the tables that the run of an id wrote last. */
function runsOf(runs, id) {
  const chosen = runs.find((run) => run.run_id === id), to = (run) => addressOf("glance", ["runs", run.run_id]);
  return h("div", { id: "runs", tabindex: -1 }, runs.length ? table([["started (UTC)", (run) => run.started_at], ["status", (run) => run.status], ["seconds", (run) => run.seconds],
    ["tables that it wrote last", (run) => countLink(run.tables, to(run))]], runs) : h("p", {}, "The table of runs is not built."),
  chosen ? listBehind("tables", `Tables that the run of ${chosen.started_at} wrote last: ${count(chosen.tables)}`, addressOf("glance", ["runs"]), [["table", (name) => name]], chosen.written) : null);
}

async function showGlance(page, index, section, run) {
  const data = await tangles.load("glance");
  const last = data.runs.find((run) => run.current_tables) || data.runs[0];
  const part = (title, ...content) => h("section", { class: "card" }, h("h2", {}, title), ...content);
  const well = new Set(data.well), log = (table) => table.replace("_rejects", "").replace("timeline", "event");
  const entriesOf = (table, verdict) => (table.endsWith("_rejects") ? addressOf("rejects", [], { log: log(table), reason: verdict }) : addressOf("search", [], { table, verdict }));
  const verdicts = data.counts.map((row) => h("div", { class: "verdicts" },
    h("h3", {}, row.total ? link(entriesOf(row.table), h("b", {}, count(row.total)), ` ${row.what}`) : `0 ${row.what}`), row.total ? bar(row.counts, data.meanings[row.table], (verdict) => well.has(verdict), (verdict) => entriesOf(row.table, verdict)) : null));
  const rows = data.counts.flatMap((row) => Object.entries(row.counts).map(([verdict, n]) => ({ what: row.what, verdict, n, meaning: data.meanings[row.table][verdict] || "" })));
  page.append(
    h("div", { class: "glance" },
      part("To look at", data.look_at.length
        ? h("ul", { class: "look" }, data.look_at.map((item) => h("li", {}, link(addressOf(item.to[0], item.to.slice(1)), said(item.words)), item.ask ? h("code", {}, said(item.ask)) : null)))
        : h("p", {}, "No problems found."),
      last ? h("p", { class: "note" }, `Built ${last.started_at} UTC: ${last.status}. `, ...(last.inputs.length
        ? last.inputs.map((log) => h("span", {}, said(log.var), " ", said(log.path), " "))
        : ["Input: the fixtures."])) : null),
      part("Over time", overTime(data.over_time), queriesOf(index, "over time")),
      part("Sizes of tangles", histogram(data.sizes, "tangles_by_size", "Tangles by number of candidates", "candidates"), queriesOf(index, "sizes")),
      part("Depths of tangles", histogram(data.depths, "tangles_by_depth", "Tangles by depth", "longest path from the root, in links"), queriesOf(index, "depths"))),
    part("Verdicts", h("p", { class: "note" }, "Point at a verdict, or move the focus to it, to read its meaning. ", data.alike.map((words) => [said(words), ". "])), h("div", { class: "all-verdicts" }, verdicts),
      behind("The numbers", [["rows", (row) => row.what], ["verdict", (row) => row.verdict], ["number", (row) => row.n], ["meaning", (row) => row.meaning]], rows), queriesOf(index, "verdicts")),
    part("Runs", runsOf(data.runs, run), queriesOf(index, "runs")));
  const place = section && document.getElementById(section);
  if (place) { place.scrollIntoView(); place.focus(); }
}
