"use strict";
// Shows the view that the address names.

/** The views of a report that has data for them, as [address, title, count]. */
function viewsOf(index) {
  const kinds = Object.keys(VIEWS).filter((name) => index.kinds[name] && index.kinds[name].total);
  const pages = Object.keys(PAGES).filter((name) => index.pages[name]);
  return [["glance", "At a glance"], ...kinds.map((name) => [name, VIEWS[name][0], index.kinds[name].total]), ...pages.map((name) => [name, PAGES[name][0], index.pages[name]])];
}

/** Name the chosen node in the address, without loading the view again. */
function keepAddress(node) {
  const { view, parts, filters } = readAddress(location.hash);
  const key = parts[0] || document.querySelector(".list [aria-current]")?.dataset.key;
  if (parts[1] !== node) filters.delete("role");  // It is about the epoch in the address.
  if (key && parts[1] !== node) history.replaceState(null, "", addressOf(view, [key, node], Object.fromEntries(filters)));
  address = location.hash;
}

let address = "", turns = 0;  // The address of the latest view, and the number of views that were asked for.

async function show() {
  address = location.hash || "#glance";
  const turn = ++turns, page = h("div"), main = document.getElementById("main"), { view, parts, filters } = readAddress(location.hash);
  tip.hide();
  try {
    const index = await tangles.load("index"), views = viewsOf(index);
    const shown = { read: "tangle" }[view] || view, at = ["message", "search", ...Object.keys(VIEWS), ...Object.keys(PAGES)].includes(shown) ? shown : "glance";
    document.getElementById("nav").replaceChildren(...views.map(([name, title, n]) => h("a", { href: addressOf(name), "aria-current": name === at ? "page" : null }, title, n === undefined ? null : h("small", {}, ` ${count(n)}`))));
    document.getElementById("footer").replaceChildren(h("p", {}, `tangles report${index.built ? ` of the build of ${index.built} UTC` : ""}. `,
      index.places.includes("--warehouse") ? "Run the commands of these pages in the folder that has the warehouse. " : "",
      index.missing.length ? `Tables that are not built, so the report lacks their rows: ${index.missing.join(", ")}.` : ""));
    main.replaceChildren(page);
    if (at === "glance") await showGlance(page, index, parts[0]);
    else if (at === "message") await showMessage(page, index, parts[0] || "");
    else if (at === "search") await showSearch(page, filters);
    else if (at in PAGES) {
      await PAGES[at][1](page, parts, filters);
      page.querySelector(".card").append(queriesOf(index, PAGES[at][0].toLowerCase()));
    }
    else await showSubject(page, index, at, parts[0], parts[1], view === "read" ? view : null);
    if (turn === turns) document.body.dataset.shown = address;  // A slow view may end after a later one was asked for.
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
// The index of the search is loaded once the page is idle, so that the first search finds it.
window.addEventListener("load", () => (window.requestIdleCallback || setTimeout)(() => { if (document.body.dataset.shown) search.load().catch(() => {}); }, { timeout: 3000 }));
let width = window.innerWidth, later = null;
window.addEventListener("resize", () => {  // Drawings fill the width, so another width draws them again.
  clearTimeout(later);
  later = setTimeout(() => { if (window.innerWidth !== width) { width = window.innerWidth; show(); } }, 200);
});
show();
