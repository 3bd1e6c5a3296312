"use strict";
// Zooms and moves a drawing: by wheel, fingers, drag, buttons and keys.

const STEP = 1.3, MOVE = 90;

/** Put a picture with the drawing `scene` into a frame; `reveal` scrolls a point of the drawing into view. */
function zoomed(picture, scene, width, height) {
  const seen = () => [picture.clientWidth || width, picture.clientHeight || height];
  // A drawing smaller than the frame stays at its upper left.
  const within = (at, room) => Math.min(0, Math.max(at, Math.min(0, room)));
  const zoom = d3.zoom()
    .extent(() => [[0, 0], seen()])
    .scaleExtent([Math.min(0.5, 300 / width, 300 / height), 4])
    .constrain((now) => d3.zoomIdentity.translate(within(now.x, seen()[0] - width * now.k), within(now.y, seen()[1] - height * now.k)).scale(now.k))
    // The wheel scrolls; with Ctrl, or by pinching, it zooms, as in maps within a page.
    .filter((event) => (event.type === "wheel" ? event.ctrlKey || event.metaKey : !event.button))
    .on("zoom", ({ transform }) => {
      scene.setAttribute("transform", transform);
      tip.hide();
    });
  const target = d3.select(picture).call(zoom).on("dblclick.zoom", null);
  const now = () => d3.zoomTransform(picture);
  const move = (x, y) => target.call(zoom.translateBy, x / now().k, y / now().k);
  const whole = () => target.call(zoom.transform, d3.zoomIdentity.scale(Math.min(1, seen()[0] / width, seen()[1] / height)));
  const scale = (by) => target.call(zoom.scaleBy, by);

  picture.addEventListener("wheel", (event) => {
    if (event.ctrlKey || event.metaKey) return;
    const { x, y } = now();
    move(-event.deltaX, -event.deltaY);
    if (now().x !== x || now().y !== y) event.preventDefault();  // At the end of the drawing the page scrolls.
  }, { passive: false });

  // A drawing a little wider than the frame is scaled down; the frame has its width once it is in the page.
  let isFit = false;
  function fit() {
    if (isFit || !picture.isConnected) return;
    isFit = true;
    target.call(zoom.transform, d3.zoomIdentity.scale(Math.max(0.7, Math.min(1, seen()[0] / width))));
    hint.hidden = width * now().k <= seen()[0] + 1;
    place.dataset.fit = "";
  }
  requestAnimationFrame(fit);

  function reveal({ x, y }) {
    fit();
    const [atX, atY] = now().apply([x, y]), [right, bottom] = seen(), edge = 24;
    if (atX < edge || atY < edge || atX > right - edge || atY > bottom - edge) target.call(zoom.translateTo, x, y);
  }

  const button = (words, title, act) => h("button", { type: "button", title, "aria-label": title, onclick: act }, words);
  const hint = h("p", { class: "note hint", hidden: true }, "The drawing is wider than its frame: drag it, or see the whole.");
  const place = h("div", { class: "canvas" },
    h("div", { class: "tools", role: "group", "aria-label": "Zoom" }, button("+", "Zoom in (+)", () => scale(STEP)), button("−", "Zoom out (-)", () => scale(1 / STEP)), button("Whole", "See the whole (0)", whole)), hint, picture);
  place.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = {
      "+": () => scale(STEP), "=": () => scale(STEP), "-": () => scale(1 / STEP), _: () => scale(1 / STEP), 0: whole,
      ...(event.shiftKey ? { ArrowLeft: () => move(MOVE, 0), ArrowRight: () => move(-MOVE, 0), ArrowUp: () => move(0, MOVE), ArrowDown: () => move(0, -MOVE) } : {}),
    }[event.key];
    if (!act) return;
    act();
    event.preventDefault();
  });
  picture.setAttribute("height", Math.min(height, Math.max(340, Math.round(window.innerHeight * 0.74))));
  return { place, reveal };
}
