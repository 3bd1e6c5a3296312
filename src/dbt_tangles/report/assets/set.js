"use strict";
// A set: the links of its messages (prev, lipmaa, supersedes), and its items.

function showSet(page, view, shard) {
  const items = behind(`The items (${count(view.item_total)}${view.items.length < view.item_total ? `, of which the first ${count(view.items.length)}` : ""})`,
    [["position", (row) => row.item_position], ["item", (row) => row.item], ["added by", (row) => row.added_by],
      ["held by", (row) => row.kept_by.join(" ") + (row.keeper_count > row.kept_by.length ? ` and ${row.keeper_count - row.kept_by.length} more` : "")]], view.items);
  showGraph(page, view, shard, { after: items, legend: key([["k-root", "root"], ["k-item", "item root"], ["k-in", "superseded"], ["k-tip", "tip (ring)"],
    ["k-aside", "not valid"], ["k-missing", "missing"], ["k-supersedes", "supersedes"], ["k-redundant", "lipmaa link"]]) });
}
