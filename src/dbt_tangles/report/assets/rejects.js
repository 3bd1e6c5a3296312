"use strict";
// The page of rejected lines: filters by log and reason; the address may name a place, FILE:LINE.

/** A choice of values as links: each sets one filter of the address. */
function choices(title, view, parts, filters, name, values) {
  const given = Object.fromEntries(filters);
  return h("nav", { class: "choices", "aria-label": title }, h("span", { class: "dim" }, `${title}: `), [["", "all"], ...values].map(([value, words]) => [
    h("a", { href: addressOf(view, parts, { ...given, [name]: value }), "aria-current": (filters.get(name) || "") === value ? "true" : null }, words), " "]));
}

function rejectedLine(row, isNamed) {
  const place = `${row.file}:${row.line}`;
  return h("li", { class: isNamed ? "reject named" : "reject", "data-place": place },
    h("div", {}, link(addressOf("rejects", [place]), said(place, "id")), " ", h("b", {}, link(addressOf("rejects", [], { log: row.log, reason: row.reason }), said(row.reason))), ` ${row.log} log`,
      row.line_count > 1 ? `, ${count(row.line_count)} equal lines` : "", row.id ? [", its id would be ", link(addressOfId(row.id), said(row.id, "id"))] : null),
    h("div", { class: "dim" }, said(row.meaning), row.detail ? [" ", said(row.detail)] : null));
}

async function showRejects(page, parts, filters) {
  const data = await tangles.load("rejects"), [place] = parts;
  const isWanted = (row, ...names) => names.every((name) => !filters.get(name) || row[name] === filters.get(name));
  const rows = data.rows.filter((row) => isWanted(row, "log", "reason")), named = place ? rows.filter((row) => `${row.file}:${row.line}` === place) : [];
  const tally = (name, others) => [...d3.rollup(data.rows.filter((row) => isWanted(row, ...others)), (found) => found.length, (row) => row[name])].map(([value, n]) => [value, `${value} ${count(n)}`]);
  page.append(h("section", { class: "card" }, h("h2", {}, "Rejected lines"),
    h("p", { class: "note" }, `${count(data.total)} rejected lines. ${data.left_out ? `The first 100 of each log and reason are listed; ${count(data.left_out)} are left out.` : ""}`),
    choices("Log", "rejects", [], filters, "log", tally("log", [])), choices("Reason", "rejects", [], filters, "reason", tally("reason", ["log"])),
    place && !named.length ? h("p", {}, "The report does not list ", said(place, "id"), ". Ask the warehouse: ", command(await tangles.load("index"), "why", place)) : null,
    h("p", { id: "shown", role: "status" }, `${count(rows.length)} of ${count(data.rows.length)} entries`),
    h("ol", { class: "rejects" }, [...named, ...rows.filter((row) => !named.includes(row))].map((row) => rejectedLine(row, named.includes(row))))));
}
