"use strict";
// Draws a graph: lanes by author, rows by depth, the first at the top.

const CHARACTER = 7.3, BETWEEN = 50, SMALL = 40, LETTERS = 14;

/** The marks and words of a node, as one text. */
const about = (node) => [...node.marks, node.state === "aside" ? "set aside" : node.state === "missing" ? "missing" : null, node.words].filter(Boolean).join(", ");

const cut = (text, most) => (text.length > most ? `${text.slice(0, Math.max(most - 1, 1))}…` : text);

/** The radius of a node's outermost shape, where arrows to it end. */
function radiusOf(node) {
  const rings = node.rings || 0, isTip = node.marks.includes("tip") || node.marks.includes("head");
  if (rings) return 12.75 + 3.5 * (rings - 1);
  return isTip ? 13 : node.state === "missing" ? 7.75 : 8.75;
}

/** The path of an arrow from a node's centre to the edge of another node. */
function pathOf(from, to, radius) {
  const end = (x, y) => ({ x: to.x + x * radius, y: to.y + y * radius });
  if (from.y <= to.y) {  // An edge of a cycle.
    const far = Math.hypot(from.x - to.x, from.y - to.y) || 1, tip = end((from.x - to.x) / far, (from.y - to.y) / far);
    return `M${from.x},${from.y}L${tip.x},${tip.y}`;
  }
  if (from.x !== to.x || from.y - to.y < 70) {
    const tip = end(0, 1);
    return d3.linkVertical()({ source: [from.x, from.y], target: [tip.x, tip.y] });
  }
  const tip = end(-Math.SQRT1_2, Math.SQRT1_2), side = from.x - Math.min(14 + (from.y - to.y) / 14, 24);  // Around the nodes in between.
  const far = tip.x - side;
  return `M${from.x},${from.y}C${side},${from.y - 24} ${side},${tip.y + far} ${tip.x},${tip.y}`;
}

function mark(node) {
  const shape = [];
  if (node.marks.includes("tip") || node.marks.includes("head")) shape.push(s("circle", { r: 12, class: "ring" }));
  for (let n = 0; n < (node.rings || 0); n++) shape.push(s("circle", { r: 12 + 3.5 * n, class: "quorum" }));
  if (node.state === "missing") shape.push(s("circle", { r: 7, class: "shape" }), s("path", { d: "M-3,-3L3,3M3,-3L-3,3", class: "cross" }));
  else if (node.marks.includes("root")) shape.push(s("rect", { x: -8, y: -8, width: 16, height: 16, rx: 3, class: "shape" }));
  else shape.push(s("circle", { r: 8, class: "shape" }));
  if (node.inside !== undefined) shape.push(s("text", { class: "inside", y: 4 }, String(node.inside)));
  return shape;
}

/** The measures of a drawing that fills a frame `room` wide: labels stand beside nodes if there is room for them. */
function measuresOf(view, room) {
  const columns = Math.max(view.columns, 1), row = view.kind === "base" ? 62 : BETWEEN;
  const longest = d3.max(view.rows, (depth, n) => String(depth ?? stateOf(view, n)).length) || 0;
  const left = 24 + CHARACTER * Math.max(longest, 5);
  const labelled = 36 + CHARACTER * Math.min(LETTERS, d3.max(view.nodes, (node) => node.label.length) || 0);
  const free = (room - left - 20) / columns;
  const isWide = columns <= 8 || free >= labelled;
  const isSlanted = !isWide && view.lanes.some((lane) => lane.width * Math.max(free, SMALL) < 90);
  const right = isSlanted ? 110 : 20, step = Math.max((room - left - right) / columns, isWide ? labelled : SMALL);
  const top = isSlanted ? 106 : 46;
  return { left, row, top, step, isWide, isSlanted, width: Math.max(left + columns * step + right, (view.holes || []).length ? left + 280 : 0), height: top + view.rows.length * row + 10 };
}

function drawLanes(view, { left, top, step, height, isSlanted }) {
  return view.lanes.flatMap((lane, n) => {
    const x = left + lane.start * step, room = isSlanted ? 16 : Math.floor((lane.width * step - 12) / CHARACTER), middle = x + Math.min(lane.width * step, 60) / 2;
    const name = s("text", { x: isSlanted ? middle : x + 8, y: top - 14, class: "lane-name", ...(isSlanted ? { transform: `rotate(-40 ${middle} ${top - 14})` } : {}) }, cut(lane.name, Math.min(room, 24)));
    tip.on(name, () => [lane.id]);
    return [s("rect", { x, y: top - 6, width: lane.width * step, height: height - top, class: n % 2 ? "lane odd" : "lane" }), name];
  });
}

/** The label of a row without a depth: the state of its nodes. */
const stateOf = (view, row) => (view.nodes.some((node) => node.y === row && node.state !== "missing") ? "aside" : "missing");

function drawDepths(view, { left, top, row, width }) {
  const named = new Set(), found = [s("text", { x: left - 10, y: top - 14, class: "depth" }, view.kind === "feed" ? "no." : "depth")];
  view.rows.forEach((depth, n) => {
    if (named.has(depth)) return;
    if (depth !== null) named.add(depth);
    found.push(s("text", { x: left - 10, y: top + n * row + row / 2 + 4, class: "depth" }, String(depth ?? stateOf(view, n))));
  });
  for (const [n, words] of view.holes || []) {
    const y = top + n * row;
    found.push(s("line", { x1: left, x2: width - 10, y1: y, y2: y, class: "hole" }), s("text", { x: width - 14, y: y - 4, class: "hole-name" }, words));
  }
  return found;
}

/** Draw a graph into a frame `room` pixels wide; `pick` is called with the number of the chosen node. */
function draw(view, { pick, title, classOf, room }) {
  const measures = measuresOf(view, room), { left, top, row, step, isWide, width, height } = measures;
  const place = (node) => ({ x: left + node.x * step + (isWide ? 20 : step / 2), y: top + node.y * row + row / 2 });
  const picture = s("svg", { class: `drawing of-${view.kind}`, role: "group", "aria-label": title, "data-width": width, "data-height": height }), scene = s("g");
  picture.append(s("defs", {}, ["plain", "supersedes"].map((kind) => s("marker", { id: `arrow-${kind}`, class: kind, viewBox: "0 0 8 8", refX: 7, refY: 4,
    markerWidth: 10, markerHeight: 10, markerUnits: "userSpaceOnUse", orient: "auto" }, s("path", { d: "M0,0.5L7,4L0,7.5z" })))));
  scene.append(...drawLanes(view, measures), ...drawDepths(view, measures));
  const edges = s("g", { class: "edges" });
  for (const [child, parent, kind] of view.edges) {
    const from = place(view.nodes[child]), to = place(view.nodes[parent]);
    edges.append(s("path", { d: pathOf(from, to, radiusOf(view.nodes[parent])), class: `edge ${kind}`, "marker-end": `url(#arrow-${kind === "supersedes" ? "supersedes" : "plain"})`, "data-child": child, "data-parent": parent }));
  }
  scene.append(edges);
  const shown = view.nodes.map((node, n) => {
    const { x, y } = place(node), words = about(node);
    const group = s("g", { transform: `translate(${x},${y})`, class: ["node", node.state, ...node.marks.map((name) => name.replaceAll(" ", "-")), classOf ? classOf(node, n) : ""].join(" "),
      tabindex: n ? -1 : 0, role: "button", "data-node": n, "data-radius": radiusOf(node), "aria-label": `${node.label}, ${words}${node.depth === null ? "" : `, depth ${node.depth}`}` }, s("circle", { r: 17, class: "halo" }), mark(node));
    if (node.cut) group.append(s("path", { d: "M0,-9V-22", class: "cut" }));
    if (isWide) group.append(s("text", { x: Math.max(18, radiusOf(node) + 5), y: 4, class: "label" }, cut(node.label, Math.max(LETTERS, Math.floor((step - 46) / CHARACTER)))));
    tip.on(group, () => [node.id, words, node.cut ? `follows ${node.cut} more, left out here` : null, node.title]);
    group.addEventListener("click", () => choose(n));
    return group;
  });
  scene.append(...shown);
  picture.append(scene);
  const zoom = zoomed(picture, scene, width, height);

  let current = 0;
  function choose(n) {
    focus(n, true);
    for (const group of shown) group.classList.toggle("chosen", group === shown[n]);
    for (const edge of edges.children) edge.classList.toggle("near", Number(edge.dataset.child) === n || Number(edge.dataset.parent) === n);
    tip.hide();
    pick(n);
  }
  function focus(n, stay) {
    shown[current].setAttribute("tabindex", -1);
    current = n;
    shown[n].setAttribute("tabindex", 0);
    shown[n].focus({ preventScroll: true });
    zoom.reveal(place(view.nodes[n]));
    if (!stay) zoom.place.scrollIntoView({ block: "nearest" });
  }
  picture.addEventListener("keydown", (event) => {
    const at = shown.indexOf(event.target);
    if (at < 0 || event.shiftKey) return;
    const rowOf = (n) => view.nodes[n].y;
    const nearest = (found) => found.sort((a, b) => Math.abs(view.nodes[a].x - view.nodes[at].x) - Math.abs(view.nodes[b].x - view.nodes[at].x))[0];
    const all = d3.range(shown.length);
    const same = all.filter((n) => rowOf(n) === rowOf(at)).sort((a, b) => view.nodes[a].x - view.nodes[b].x);
    const to = {
      ArrowRight: () => same[same.indexOf(at) + 1], ArrowLeft: () => same[same.indexOf(at) - 1],
      ArrowDown: () => nearest(all.filter((n) => rowOf(n) === rowOf(at) + 1)), ArrowUp: () => nearest(all.filter((n) => rowOf(n) === rowOf(at) - 1)),
      Home: () => 0, End: () => shown.length - 1,
    }[event.key];
    if (to) {
      const n = to();
      if (n !== undefined) focus(n);
      event.preventDefault();
    } else if (event.key === "Enter" || event.key === " ") {
      choose(at);
      event.preventDefault();
    }
  });
  return zoom.place;
}

/** The tables behind a drawing. */
function tablesOf(view) {
  return [
    behind("The nodes as a table", [["id", (node) => node.id], ["words", (node) => (node.label === node.id ? "" : node.label)], ["author", (node) => node.by || node.lane], ["depth", (node) => node.depth], ["state", (node) => node.state],
      ["marks", (node) => [...node.marks, node.words].filter(Boolean).join(", ")], ["message", (node) => node.title || ""]], view.nodes),
    behind("The links as a table", [["of", ([child]) => view.nodes[child].id], ["to", ([, parent]) => view.nodes[parent].id], ["kind", ([, , kind]) => kind]], view.edges),
  ];
}

/** The legend of a drawing. */
const key = (entries) => h("ul", { class: "legend key" }, entries.map(([shade, name]) => h("li", {}, h("i", { class: shade }), name)));
