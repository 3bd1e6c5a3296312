"use strict";
// A private group: its epochs, and the feeds that are added, excluded or missing in each.

function showGroup(page, view, shard) {
  const SIGNS = { added: "●", excluded: "✕", missing: "?", returned: "↩" };
  const cell = (words) => {
    const found = words || [];
    const box = h("td", { class: found.includes("missing") ? "is-missing" : found.includes("excluded") ? "is-excluded" : found.includes("added") ? "is-added" : "",
      "aria-label": found.join(", ") || "not in this epoch", title: found.join(", ") || null }, found.map((word) => SIGNS[word] || "").join(""));
    return box;
  };
  // An address with a role shows the feeds that have it in the chosen epoch.
  const { parts, filters } = readAddress(location.hash), role = filters.get("role"), at = view.epochs.findIndex((epoch) => epoch.epoch_id === parts[1]);
  const has = (feed) => (feed.in[at] || []).includes(role) && !(role === "added" && feed.in[at].includes("excluded"));
  const feeds = role && at >= 0 ? view.feeds.filter(has) : view.feeds;
  const head = h("tr", {}, h("th", { scope: "col" }, "feed"), view.epochs.map((epoch) => h("th", { scope: "col", title: epoch.epoch_id }, said(epoch.label), h("small", {}, `depth ${epoch.depth}`))));
  const matrix = h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Members by epoch" }, h("table", { class: "matrix" }, h("thead", {}, head),
    h("tbody", {}, feeds.map((feed) => h("tr", {}, h("th", { scope: "row", title: feed.id }, said(feed.label)), view.epochs.map((_, n) => cell(feed.in[n])))))));
  const rows = view.epochs.map((epoch) => ({ ...epoch, added_count: (epoch.added_count || 0) - (epoch.excluded_count || 0), missing_count: epoch.missing_count || 0 }));
  const every = Math.ceil(rows.length / 6);
  const chart = columns({ rows, label: (epoch) => `${epoch.label}, depth ${epoch.depth}`, ticks: rows.map((epoch, n) => [n, epoch.label]).filter(([n]) => n % every === 0),
    title: "Feeds by epoch", to: (n, role) => (n !== null && role ? addressOf("group", [view.id, view.epochs[n].epoch_id], { role: role.replace("_count", "") }) : null), xTitle: "epochs, by depth", keys: [["added_count", "added, not excluded in it", "well0"], ["excluded_count", "excluded in it", "fork"], ["missing_count", "missing", "bad0"]] });
  const after = h("div", {}, h("h3", { class: "over" }, "Members over time"),
    feeds === view.feeds ? "" : h("p", { class: "note", id: "role" }, `${count(feeds.length)} feeds are ${role} in epoch `, said(view.epochs[at].label), ". ", link(addressOf("group", [view.id]), "All feeds")),
    h("div", { class: "members" }, h("div", {}, matrix, h("p", { class: "note" }, "● added, ✕ excluded in it, ? missing: peers expect it, ↩ returned although excluded. ",
      view.feeds.length < view.feed_total ? `${count(view.feed_total - view.feeds.length)} of ${count(view.feed_total)} feeds are left out.` : "")), chart),
    behind(`The findings (${count(view.finding_total)})`, [["finding", (row) => row.finding], ["epoch", (row) => row.epoch_id || ""], ["feed", (row) => row.feed_id || ""], ["messages", (row) => row.message_ids.join(" ")]], view.findings));
  showGraph(page, view, shard, { after, legend: key([["k-root", "root"], ["k-in", "epoch"], ["k-tip", "tip (ring)"], ["k-item", "preferred"]]) });
}
