// Lists texts that leave the drawing or are covered by a node, and arrows that end away from the edge of their node.
const picture = await one(".drawing"), scene = picture.querySelector("g:not(defs g)");
const frame = await one(".canvas[data-fit]");
const size = [Number(picture.dataset.width), Number(picture.dataset.height)], base = scene.getCTM().inverse();
const boxOf = (element) => {
  const { x, y, width, height } = element.getBBox(), matrix = base.multiply(element.getCTM());
  const corners = [[x, y], [x + width, y], [x, y + height], [x + width, y + height]].map(([a, b]) => new DOMPoint(a, b).matrixTransform(matrix));
  return [Math.min(...corners.map((c) => c.x)), Math.min(...corners.map((c) => c.y)), Math.max(...corners.map((c) => c.x)), Math.max(...corners.map((c) => c.y))];
};
const texts = [...scene.querySelectorAll("text")];
const clipped = texts.filter((each) => { const [l, t, r, b] = boxOf(each); return l < 0 || t < 0 || r > size[0] || b > size[1]; }).map((each) => each.textContent);
const labels = [...scene.querySelectorAll(".label")].map((each) => [each, boxOf(each)]), shapes = [...scene.querySelectorAll(".shape, .ring, .quorum")].map((each) => [each, boxOf(each)]);
const covered = labels.flatMap(([label, [l, t, r, b]]) => shapes.filter(([, [left, top, right, bottom]]) => l < right && r > left && t < bottom && b > top).map(() => label.textContent));
const nodes = new Map([...scene.querySelectorAll(".node")].map((each) => [each.dataset.node, each]));
const off = [...scene.querySelectorAll(".edge")].map((edge) => {
  const tip = edge.getPointAtLength(edge.getTotalLength()), node = nodes.get(edge.dataset.parent), matrix = base.multiply(node.getCTM());
  return Math.abs(Math.hypot(tip.x - matrix.e, tip.y - matrix.f) - Number(node.dataset.radius));
}).filter((gap) => gap > 0.5);
const wrong = [...nodes.values()].filter((node) => {
  const found = [...node.querySelectorAll(".shape, .ring, .quorum")].map((each) => each.getBBox());
  return Math.abs(Math.max(...found.map((box) => box.width / 2)) - Number(node.dataset.radius)) > 1;
}).map((node) => node.getAttribute("aria-label"));
// The answer, as JSON.
say(JSON.stringify({ clipped, covered, off, wrong, width: size[0], frame: frame.clientWidth, texts: texts.length, edges: scene.querySelectorAll(".edge").length, lanes: scene.querySelectorAll(".lane").length }));
