"use strict";
// A thread as people read it: its messages in the published order, with author, time and text.

const timeOf = d3.utcFormat("%Y-%m-%d %H:%M:%S");
const timeWords = (at) => (typeof at === "number" && at > 0 && at < 4.1e12 ? timeOf(new Date(at)) : "time not known");

function message(row, key, chosen) {
  const marks = [row.concurrent ? `concurrent with ${count(row.concurrent)}` : null, row.is_fork ? "tangle fork" : null, row.is_merge ? "merge" : null].filter(Boolean);
  return h("li", { class: ["post", row.reason ? "aside" : "", row.concurrent ? "concurrent" : "", row.id === chosen ? "named" : ""].filter(Boolean).join(" "), "data-id": row.id },
    row.tie ? h("p", { class: "tie" }, "No link leads from this message to the one above: their times and ids decide the order.") : null,
    h("p", { class: "by" }, h("b", {}, person(row.by, row.author)), " ",
      h("time", {}, timeWords(row.written)), " ", h("span", { class: "dim" }, said([row.type || "no type", ...marks].join(", "))), " ", link(addressOf("tangle", [key, row.id]), "in the drawing"), " ", idLink(row.id)),
    row.reason ? h("p", { class: "wrong" }, "set aside: ", said(row.reason)) : null,
    h("div", { class: "text" }, row.text.map((line) => h("p", {}, said(line)))));
}

async function showReading(place, view, shard, chosen) {
  const data = await tangles.load(`${shard}-read`), key = `${view.name}:${view.id}`, [first, ...rest] = data.messages;
  const found = named([...data.messages, ...data.aside], chosen, (row) => row.id), at = found && found.id;
  place.append(h("p", { class: "note" }, "The order of thread_position: causes before their followers; concurrent messages by time, then id. Times are those that authors assert (UTC)."),
    data.messages.length ? h("ol", { class: "thread" }, message(first, key, at), data.left_out ? h("li", { class: "note" }, `${count(data.left_out)} messages are left out here.`) : null, rest.map((row) => message(row, key, at))) : h("p", {}, "The thread has no members."),
    ...(data.aside.length ? [h("h3", { class: "over" }, `Set aside: ${count(data.aside.length)} of ${count(data.aside_total)}`), h("ol", { class: "thread" }, data.aside.map((row) => message(row, key, at)))] : []));
  const chosenPost = place.querySelector(".post.named");
  if (chosenPost) chosenPost.scrollIntoView({ block: "center" });
}
