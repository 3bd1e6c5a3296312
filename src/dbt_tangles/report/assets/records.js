"use strict";
// The page of records: fields with their values, values in conflict by message, and messages that do not count.

const STATUSES = { missing_root: "The root is not in the log, or this export does not show it as a root.", malformed_root: "The root has a malformed field, so the record has no fields.", too_large: "The record is too large to be reduced." };

/** Links to the pages of some ids, and the number of the others. */
const idLinks = (ids, total) => [ids.map((id) => [idLink(id), " "]), total > ids.length ? `and ${count(total - ids.length)} more` : null].flat(2);

const conflictingValue = (each) => h("li", {}, h("code", {}, said(each.value)), " set by ", idLink(each.message_id),
  each.tip_id === each.message_id ? ", a tip" : [", before the tip ", idLink(each.tip_id)]);

function fieldRow(field) {
  const value = field.is_conflict
    ? h("td", {}, h("b", {}, "in conflict"), h("ul", {}, field.conflicting_values.map(conflictingValue)), field.value_total > field.conflicting_values.length ? `and ${count(field.value_total - field.conflicting_values.length)} more values` : null)
    : h("td", {}, h("code", {}, said(field.value), field.is_cut ? "…" : null));
  return h("tr", { class: field.is_conflict ? "conflict" : null }, h("th", { scope: "row" }, said(field.field)), value, h("td", {}, field.strategy), h("td", {}, idLinks(field.set_by, field.set_by_total)));
}

function recordCard(record) {
  const key = `${record.tangle_name}:${record.root_id}`, names = record.conflicting_fields;
  const list = (words, ids, total) => (total ? h("p", {}, h("b", {}, `${words}: `), idLinks(ids, total)) : null);
  return h("article", { class: "card record", "data-record": key }, h("h3", {}, link(addressOf("tangle", [key]), said(record.title)), h("small", {}, said(`${record.tangle_name} ${record.root_id}`, "id"))),
    record.status in STATUSES ? h("p", { class: "failed" }, STATUSES[record.status]) : null,
    names.length ? h("p", { class: "merge" }, h("b", {}, "A merge must set "), said(names.join(", ")), ": the next message lists all tips and sets ", names.length > 1 ? "these fields to values" : "this field to a value", " of its author's choice. Otherwise peers ignore it.") : null,
    list("Tips", record.tips, record.tips_total),
    record.fields.length ? h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `Fields of ${key}` }, h("table", {},
      h("thead", {}, h("tr", {}, ["field", "value at the tips", "strategy", "set by"].map((name) => h("th", { scope: "col" }, name)))), h("tbody", {}, record.fields.map(fieldRow)))) : null,
    record.status === "reduced" && !record.fields.length ? h("p", { class: "note" }, "No message has set a field.") : null,
    record.left_out_count ? h("p", { class: "note" }, `${count(record.left_out_count)} messages do not count: those below, and all messages that follow them.`) : null,
    list("Malformed fields", record.malformed_messages, record.malformed_messages_total), list("Merges that leave a conflict", record.unresolved_merges, record.unresolved_merges_total));
}

async function showRecords(page, parts, filters) {
  const data = await tangles.load("records"), only = filters.get("only") || "";
  const isShown = { conflict: (record) => record.is_conflicted, fault: (record) => record.left_out_count > 0 || record.status !== "reduced" }[only] || (() => true);
  const named = parts[0], rows = data.records.filter((record) => (named ? `${record.tangle_name}:${record.root_id}`.startsWith(named) : isShown(record)));
  page.append(h("section", { class: "card" }, h("h2", {}, "Records"),
    h("p", { class: "note" }, `${count(data.total)} records: tangles whose messages set fields. ${data.records.length < data.total ? `The first ${count(data.records.length)} are listed, those in conflict first.` : ""}`),
    choices("Show", "records", [], filters, "only", [["conflict", `in conflict ${count(data.conflicted)}`], ["fault", `with messages that do not count ${count(data.faulty)}`]]),
    named && !rows.length ? h("p", {}, "The report does not list ", said(named, "id"), ". Ask the warehouse: ", command(await tangles.load("index"), "show", named, "--kind", "tangle")) : null,
    h("p", { id: "shown", role: "status" }, `${count(rows.length)} of ${count(data.records.length)} records`)), ...rows.map(recordCard));
}
