"use strict";
// Draws a graph: lanes by author, rows by depth, the first at the top.

/** The marks and words of a node, as one text. */
const about = (node) => [...node.marks, node.state === "aside" ? "set aside" : node.state === "missing" ? "missing" : null, node.words].filter(Boolean).join(", ");

function pathOf(from, to) {
  if (from.y <= to.y) return `M${from.x},${from.y}L${to.x},${to.y}`;  // An edge of a cycle.
  if (from.x !== to.x || from.y - to.y < 70) return d3.linkVertical()({ source: [from.x, from.y], target: [to.x, to.y + 14] });
  const side = from.x - Math.min(14 + (from.y - to.y) / 14, 24);  // Around the nodes in between.
  return `M${from.x},${from.y}C${side},${from.y - 24} ${side},${to.y + 34} ${to.x - 9},${to.y + 11}`;
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

/** Draw a graph; `pick` is called with the number of the chosen node. */
function draw(view, { pick, title, classOf }) {
  const wide = view.columns <= 8, step = wide ? Math.max(110, Math.min(190, 760 / Math.max(view.columns, 1))) : 40, row = view.kind === "base" ? 62 : 50;
  const slanted = !wide && view.lanes.some((lane) => lane.width < 2);
  const left = 52, top = slanted ? 84 : 46, width = left + view.columns * step + (slanted ? 60 : 20), height = top + view.rows.length * row + 10;
  const place = (node) => ({ x: left + node.x * step + (wide ? 28 : step / 2), y: top + node.y * row + row / 2 });
  const picture = s("svg", { class: "drawing", role: "group", "aria-label": title }), scene = s("g");
  picture.append(s("defs", {}, ["plain", "supersedes"].map((kind) => s("marker", { id: `arrow-${kind}`, class: kind, viewBox: "0 0 8 8", refX: 7, refY: 4,
    markerWidth: 10, markerHeight: 10, markerUnits: "userSpaceOnUse", orient: "auto" }, s("path", { d: "M0,0.5L7,4L0,7.5z" })))));
  view.lanes.forEach((lane, n) => {
    const x = left + lane.start * step;
    scene.append(s("rect", { x, y: top - 6, width: lane.width * step, height: height - top, class: n % 2 ? "lane odd" : "lane" }));
    const name = s("text", { x: slanted ? x + step / 2 : x + 8, y: top - 14, class: "lane-name", ...(slanted ? { transform: `rotate(-40 ${x + step / 2} ${top - 14})` } : {}) }, lane.name.length > 16 ? `${lane.name.slice(0, 15)}…` : lane.name);
    tip.on(name, () => [lane.id]);
    scene.append(name);
  });
  view.rows.forEach((depth, n) => scene.append(s("text", { x: left - 14, y: top + n * row + row / 2 + 4, class: "depth" }, depth === null ? "–" : String(depth))));
  scene.append(s("text", { x: left - 14, y: top - 14, class: "depth" }, view.kind === "feed" ? "no." : "depth"));
  for (const [n, words] of view.holes || []) {
    const y = top + n * row;
    scene.append(s("line", { x1: left, x2: width - 10, y1: y, y2: y, class: "hole" }), s("text", { x: width - 14, y: y - 4, class: "hole-name" }, words));
  }
  const edges = s("g", { class: "edges" });
  for (const [child, parent, kind] of view.edges) {
    const from = place(view.nodes[child]), to = place(view.nodes[parent]);
    edges.append(s("path", { d: pathOf(from, to), class: `edge ${kind}`, "marker-end": `url(#arrow-${kind === "supersedes" ? "supersedes" : "plain"})`, "data-child": child, "data-parent": parent }));
  }
  scene.append(edges);
  const shown = view.nodes.map((node, n) => {
    const { x, y } = place(node), words = about(node);
    const group = s("g", { transform: `translate(${x},${y})`, class: ["node", node.state, ...node.marks.map((name) => name.replaceAll(" ", "-")), classOf ? classOf(node, n) : ""].join(" "),
      tabindex: n ? -1 : 0, role: "button", "data-node": n, "aria-label": `${node.label}, ${words}${node.depth === null ? "" : `, depth ${node.depth}`}` }, s("circle", { r: 17, class: "halo" }), mark(node));
    if (node.cut) group.append(s("path", { d: "M0,-9V-22", class: "cut" }));
    if (wide) group.append(s("text", { x: 18, y: 4, class: "label" }, node.label.length > 14 ? `${node.label.slice(0, 13)}…` : node.label));
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
    behind("The nodes as a table", [["id", (node) => node.id], ["lane", (node) => node.lane], ["depth", (node) => node.depth], ["state", (node) => node.state],
      ["", (node) => [...node.marks, node.words].filter(Boolean).join(", ")], ["message", (node) => node.title || ""]], view.nodes),
    behind("The links as a table", [["of", ([child]) => view.nodes[child].id], ["to", ([, parent]) => view.nodes[parent].id], ["kind", ([, , kind]) => kind]], view.edges),
  ];
}

/** The legend of a drawing. */
const key = (entries) => h("ul", { class: "legend key" }, entries.map(([shade, name]) => h("li", {}, h("i", { class: shade }), name)));
