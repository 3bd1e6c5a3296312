"use strict";
// Shows the view that the address names after its #.

async function show() {
  const page = h("div"), main = document.getElementById("main");
  tip.hide();
  const [kind, number, node] = location.hash.slice(1).split("/");
  try {
    const index = await tangles.load("index");
    const known = Object.keys(VIEWS).filter((name) => index.kinds[name]);
    const at = known.includes(kind) ? kind : "glance";
    document.getElementById("nav").replaceChildren(...["glance", ...known].map((name) => h("a", { href: `#${name}`, "aria-current": name === at ? "page" : null },
      name === "glance" ? "At a glance" : VIEWS[name][0], name === "glance" ? null : h("small", {}, ` ${count(index.kinds[name].total)}`))));
    document.getElementById("footer").replaceChildren(h("p", {}, "From the tables in ", said(index.tables), ". ",
      index.missing.length ? `Tables that are not built, so the report lacks their rows: ${index.missing.join(", ")}.` : ""));
    main.replaceChildren(page);
    if (at === "glance") await showGlance(page);
    else await showSubject(page, index, at, Math.trunc(Number(number)) || 0, Math.trunc(Number(node)));
    document.body.dataset.shown = location.hash || "#glance";
  } catch (error) {
    main.replaceChildren(h("p", { class: "failed" }, error.message));
    throw error;
  }
}

document.getElementById("skip").addEventListener("click", (event) => {
  document.getElementById("main").focus();
  event.preventDefault();
});
window.addEventListener("hashchange", show);
show();
