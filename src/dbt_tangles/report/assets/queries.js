"use strict";
// The queries behind a picture: SQL that users can copy, see the package `dbt_tangles.queries`.

/** A small link to the queries of a place of the report; opened, it shows their names and their SQL. */
function queriesOf(index, place) {
  const names = index.queries[place] || [];
  const details = h("details", { class: "queries", "data-place": place }, h("summary", {}, "SQL"));
  details.addEventListener("toggle", async () => {
    const texts = await tangles.load("queries");
    details.append(...names.flatMap((name) => [h("code", {}, `${name}.sql`), h("pre", { class: "excerpt", tabindex: 0, role: "region", "aria-label": `${name}.sql of ${place}` }, texts[name])]));
  }, { once: true });
  return names.length ? details : "";
}
