"use strict";
// A timeline: its edit stream, step by step.

function showTimeline(page, view, shard) {
  const last = view.edits.length, WIDTH = 236, HEIGHT = 46, high = Math.max(6, Math.min(14, Math.ceil(view.nodes.length / 4)));
  const authors = [...d3.rollup(view.nodes, (found) => found.length, (node) => node.author)].sort((a, b) => b[1] - a[1]).map(([author]) => author);
  const shade = (node) => (authors.indexOf(node.author) < 7 ? `author${authors.indexOf(node.author)}` : "others");
  const nameOf = new Map(view.nodes.map((node) => [node.author, node.by || (node.author === null ? "author not known" : node.author.slice(0, 12))]));
  const why = panel(shard, view);
  const lowest = Math.min(...view.nodes.map((node) => node.rank)), ranks = 1 + Math.max(...view.nodes.map((node) => node.latest_rank)) - lowest;
  function span(node) {
    const bar = h("i", { class: "span" });
    bar.style.left = `${100 * (node.rank - lowest) / ranks}%`;
    bar.style.width = `${100 * (node.latest_rank - node.rank + 1) / ranks}%`;
    return bar;
  }
  const boxes = view.nodes.map((node, n) => {
    const box = h("button", { type: "button", class: `event ${shade(node)}`, "data-node": n, onclick: () => choose(n) }, h("b", {}, said(cut(node.label, 60))), h("small", {}, said(nameOf.get(node.author))), span(node));
    tip.on(box, () => [node.id, `last position ${node.position}, rank ${node.rank}`, node.words || null, node.title]);
    return box;
  });
  function choose(n) {
    boxes.forEach((box, other) => box.classList.toggle("chosen", n === other));
    tip.hide();
    why.show(n);
  }
  const stage = h("div", { class: "stage" }, boxes);
  const slider = h("input", { type: "range", min: 0, max: last, value: last, id: "step", "aria-label": "Step of the edit stream" });
  const words = h("output", { for: "step", "aria-live": "polite" });
  let order = view.start, at = 0, timer = null;

  function moved(list, [, op, n, from, to]) {
    const next = [...list];
    if (op === "mov") next.splice(from - view.low, 1);
    next.splice(to - view.low, 0, n);
    return next;
  }
  const labelOf = (n) => cut(view.nodes[n].label, 40);
  function go(step) {
    if (step < at) [order, at] = [view.start, 0];
    for (; at < step; at++) order = moved(order, view.edits[at]);
    const place = new Map(order.map((n, position) => [n, position])), edit = view.edits[at - 1];
    boxes.forEach((box, n) => {
      const position = place.get(n);
      box.hidden = position === undefined;
      box.classList.toggle("changed", Boolean(edit) && edit[2] === n);
      if (position !== undefined) box.style.transform = `translate(${Math.floor(position / high) * WIDTH}px, ${(position % high) * HEIGHT}px)`;
    });
    slider.value = step;
    slider.setAttribute("aria-valuetext", `step ${step} of ${last}`);
    words.textContent = edit
      ? `Step ${count(step)} of ${count(last)}, batch ${count(edit[0])}: ${edit[1] === "ins" ? `insert “${labelOf(edit[2])}” at ${count(edit[4])}` : `move “${labelOf(edit[2])}” from ${count(edit[3])} to ${count(edit[4])}`}`
      : `Before the first of ${count(last)} steps`;
    stage.dataset.order = order.join(" ");
    if (step === last && view.agrees) words.textContent += order.every((n, position) => n === position) && order.length === view.nodes.length ? " — the published order" : " — not the published order";
  }
  function stop() {
    clearInterval(timer);
    timer = null;
    play.textContent = "▶ Play";
  }
  const play = h("button", { type: "button", id: "play", onclick: () => {
    if (timer) return stop();
    if (at === last) go(0);
    play.textContent = "❚❚ Pause";
    timer = setInterval(() => (at >= last || !stage.isConnected ? stop() : go(at + 1)), Math.max(60, Math.min(700, 20000 / last)));
    return undefined;
  } }, "▶ Play");
  const button = (text, name, step) => h("button", { type: "button", "aria-label": name, onclick: () => { stop(); go(Math.max(0, Math.min(last, step()))); } }, text);
  slider.addEventListener("input", () => { stop(); go(Number(slider.value)); });
  stage.style.height = `${high * HEIGHT}px`;
  stage.style.width = `${Math.ceil(view.nodes.length / high) * WIDTH}px`;
  const steps = behind("The steps as a table", [["batch", (edit) => edit[0]], ["command", (edit) => edit[1]], ["event", (edit) => view.nodes[edit[2]].id], ["from", (edit) => edit[3] ?? ""], ["to", (edit) => edit[4]]], view.edits);
  if (!view.agrees) page.append(h("p", { class: "failed" }, "The edits do not produce the published order, because the tables come from several runs; there is no playback."));
  page.append(h("ul", { class: "legend" }, authors.slice(0, 7).map((author, n) => h("li", {}, h("i", { class: `author${n}` }), said(nameOf.get(author)))), authors.length > 7 ? h("li", {}, h("i", { class: "others" }), `${authors.length - 7} others`) : null));
  if (last) page.append(h("div", { class: "player" }, play, button("|◀", "To the beginning", () => 0), button("◀", "A step back", () => at - 1), button("▶", "A step forward", () => at + 1), button("▶|", "To the end", () => last), slider), words);
  page.append(h("div", { class: "canvas scrolled", tabindex: 0, role: "region", "aria-label": "The order of the events" }, stage), why.place);
  if (view.left_out > 0) page.append(h("p", { class: "note" }, `Shown: ${count(view.nodes.length)} of ${count(view.total)} events, from position ${count(view.low)} on`,
    last ? `, and the last ${count(last)} steps, which change only these events.` : "; the timeline has no steps of these events alone."));
  page.append(h("p", { class: "note" }, "The line at the foot of an event spans the ranks that its causes and effects allow, from the first rank shown to the last."));
  page.append(factList(view) || "", facts(view),
    behind("The order as a table", [["position", (node) => node.position], ["event", (node) => node.id], ["words", (node) => node.label], ["author", (node) => nameOf.get(node.author)], ["rank", (node) => node.rank], ["latest rank", (node) => node.latest_rank], ["marks", (node) => node.words], ["message", (node) => node.title || ""]], view.nodes),
    last ? steps : "");
  if (readAddress(location.hash).filters.get("only") === "steps") {
    steps.open = true;
    steps.scrollIntoView();
  }
  go(last);
}
