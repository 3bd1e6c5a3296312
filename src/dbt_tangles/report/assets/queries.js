"use strict";
// The queries behind a picture: SQL that users can copy, see the package `dbt_tangles.queries`.

/** Name the queries of a place of the report; opened, it shows their SQL. */
function queriesOf(index, place) {
  const names = index.queries[place] || [];
  const details = h("details", { class: "queries", "data-place": place }, h("summary", {}, "SQL: ", names.map((name, n) => [n ? ", " : null, h("code", {}, `${name}.sql`)])));
  details.addEventListener("toggle", async () => {
    const texts = await tangles.load("queries");
    details.append(...names.map((name) => h("pre", { class: "excerpt", tabindex: 0, role: "region", "aria-label": `${name}.sql` }, texts[name])));
  }, { once: true });
  return names.length ? details : "";
}
