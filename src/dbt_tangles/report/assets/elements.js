"use strict";
// Makes elements. Texts of a log only become text nodes and attribute values.
const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

/** An HTML element. */
const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);

/** An SVG element. */
const s = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

/** A text of a log, isolated so that its marks of direction affect only itself. */
const said = (text, kind) => h("bdi", { class: kind || "said" }, text === null || text === undefined ? "" : String(text));

/** A word quoted for a shell, which reads unprintable characters from the numbers of their bytes. */
function quoted(word) {
  const hidden = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u;
  if (!hidden.test(word)) return `'${word.replaceAll("'", `'"'"'`)}'`;
  const escaped = (text) => [...new TextEncoder().encode(text)].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");
  return `$'${Array.from(word, (c) => (hidden.test(c) || c === "'" || c === "\\" ? escaped(c) : c)).join("")}'`;
}

/** A command for the tables of the report, as text to paste into a shell. */
function command(index, name, id, ...options) {
  const words = [...options, ...index.places].map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : quoted(word)));
  const all = id.startsWith("-") ? [...words, "--", quoted(id)] : [quoted(id), ...words];
  return h("code", {}, said(["tangles", name, ...all].join(" ")));
}

const count = (n) => (n === null || n === undefined ? "" : Number(n).toLocaleString("en"));

/** A number that is a link to the entries that it counts. */
const countLink = (n, to) => (to && n ? h("a", { href: to, class: "number" }, count(n)) : n || 0);

/** A table: columns are [header, function of a row]. */
function table(columns, rows) {
  const cell = ([, value], row) => {
    const found = value(row);
    if (found instanceof Element) return h("td", { class: found.matches(".number") ? "number" : null }, found);
    return typeof found === "number" ? h("td", { class: "number" }, count(found)) : h("td", {}, said(found));
  };
  return h("table", {}, h("thead", {}, h("tr", {}, columns.map(([name]) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, rows.map((row) => h("tr", {}, columns.map((column) => cell(column, row))))));
}

/** The list of the entries that a count counts: its name, title, the address without the list, columns as for `table`, rows. */
const listBehind = (name, title, back, columns, rows, note = null) => h("section", { class: "only", "aria-label": name }, h("h3", {}, title), link(back, "Close the list"),
  note ? h("p", { class: "note" }, note) : null,
  h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `${name}, as a list` }, table(columns, rows)));

/** A table behind a picture; pictures of one page with the same summary have a name, too. */
function behind(summary, columns, rows, name = "") {
  const most = 1000;
  const details = h("details", {}, h("summary", {}, summary), h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": name ? `${summary}: ${name}` : summary }, table(columns, rows.slice(0, most))));
  if (rows.length > most) details.append(h("p", { class: "note" }, `${count(rows.length - most)} more rows are left out`));
  return details;
}

/** The tooltip of the element that is pointed at or focused. */
const tip = (() => {
  const box = h("div", { id: "tip", role: "tooltip", hidden: true });
  document.body.append(box);
  const hide = () => { box.hidden = true; };
  function show(target, ...lines) {
    box.replaceChildren(...lines.filter(Boolean).map((line, n) => h("div", { class: n ? "line" : "line head" }, said(line))));
    box.hidden = false;
    const at = target.getBoundingClientRect();
    const left = Math.max(4, Math.min(at.left + at.width + 10, window.innerWidth - box.offsetWidth - 8));
    const below = at.bottom + 8 + box.offsetHeight < window.innerHeight;
    box.style.left = `${left}px`;
    box.style.top = `${Math.max(4, below ? at.bottom + 8 : at.top - box.offsetHeight - 8)}px`;
  }
  /** Show lines while a target is pointed at or focused. */
  function on(target, lines) {
    target.addEventListener("pointerenter", () => show(target, ...lines()));
    target.addEventListener("focus", () => show(target, ...lines()));
    target.addEventListener("pointerleave", hide);
    target.addEventListener("blur", hide);
  }
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  return { on, hide };
})();
