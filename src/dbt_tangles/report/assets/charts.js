"use strict";
// Charts: stacked columns over a scale.

/** Ticks without those whose text an earlier tick has. */
const once = (ticks) => ticks.filter(([, text], n) => ticks.findIndex(([, other]) => other === text) === n);

/**
 * A chart of stacked columns: rows with numbers by key, a label for each row, ticks at the bottom. `to` is the address of
 * the entries that are counted: of a row and key, of a row, or of a key.
 */
function columns({ rows, keys, label, ticks, title, xTitle, to = () => null }) {
  const width = Math.min(640, window.innerWidth - 60), height = 220, left = 52, bottom = 40, top = 10;  // Letters keep their size on a phone.
  const stacked = d3.stack().keys(keys.map(([key]) => key))(rows);
  const most = d3.max(stacked.flat(), (part) => part[1]) || 1;
  const x = d3.scaleBand(d3.range(rows.length), [left, width - 8]).padding(rows.length > 30 ? 0.15 : 0.25);
  const y = d3.scaleLinear([0, most], [height - bottom, top]).nice(4);
  const picture = s("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img", "aria-label": title });
  const short = d3.format("~s"), whole = once(y.ticks(4).filter(Number.isInteger).map((n) => [n, short(n)])).map(([n]) => n);
  d3.select(picture).append("g").attr("class", "axis grid").attr("transform", `translate(${left},0)`)
    .call(d3.axisLeft(y).tickValues(whole).tickFormat(short).tickSize(-(width - left - 8)));
  stacked.forEach((series, k) => series.forEach(([low, high], n) => {
    if (high > low) picture.append(s("rect", { x: x(n), width: x.bandwidth(), y: y(high), height: Math.max(y(low) - y(high), 0.5), class: keys[k][2] }));
  }));
  const axis = s("g", { class: "axis", transform: `translate(0,${height - bottom})` });
  axis.append(s("line", { x1: left, x2: width - 8, class: "base" }));
  for (const [n, text] of once(ticks)) axis.append(s("text", { x: x(n) + x.bandwidth() / 2, y: 16, "text-anchor": n === rows.length - 1 && rows.length > 30 ? "end" : "middle" }, text));
  axis.append(s("text", { x: (left + width) / 2, y: 34, "text-anchor": "middle", class: "title" }, xTitle));
  picture.append(axis);
  rows.forEach((row, n) => {
    const area = s("rect", { x: x(n), width: x.step(), y: top, height: height - bottom - top, class: "sense" });
    const there = keys.filter(([key]) => row[key]);
    const place = there.length ? to(n, null) || (there.length === 1 ? to(n, there[0][0]) : null) : null;
    if (place) {  // For the pointer; the numbers behind the chart are links, too.
      area.classList.add("link");
      area.addEventListener("click", () => { location.hash = place; });
    }
    tip.on(area, () => [label(row, n), ...keys.map(([key, name]) => (row[key] ? `${name} ${count(row[key])}` : null))]);
    picture.append(area);
  });
  const legend = h("ul", { class: "legend" }, keys.map(([key, name, shade]) => {
    const place = to(null, key), words = [h("i", { class: shade }), name];
    return h("li", {}, place ? link(place, words, " ", h("b", {}, count(d3.sum(rows, (row) => row[key])))) : words);
  }));
  return h("figure", {}, h("figcaption", {}, title), picture, legend,
    behind("The numbers", [["of", (row) => label(row, rows.indexOf(row))], ...keys.map(([key, name]) => [name, (row) => countLink(row[key], to(rows.indexOf(row), key))])], rows, title));
}
