// Lists faults in the structure of a page that is wholly in view: overflow, clipped and overlapping texts, low contrast.
const rgba = (text) => { const [r, g, b, a = 1] = (text.match(/[\d.]+/g) || [0, 0, 0, 0]).map(Number); return { r, g, b, a }; };
const over = (top, under) => ({ r: top.r * top.a + under.r * (1 - top.a), g: top.g * top.a + under.g * (1 - top.a), b: top.b * top.a + under.b * (1 - top.a), a: 1 });
const luminance = ({ r, g, b }) => {
  const [x, y, z] = [r, g, b].map((each) => each / 255).map((each) => (each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4));
  return 0.2126 * x + 0.7152 * y + 0.0722 * z;
};
const contrast = (a, b) => { const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y); return (high + 0.05) / (low + 0.05); };
const above = (element) => (element ? [element, ...above(element.parentElement)] : []);
const opacityOf = (element) => above(element).reduce((product, each) => product * Number(getComputedStyle(each).opacity), 1);
const isSvg = (element) => element instanceof SVGElement && element.tagName !== "svg";
/** The colour that an element paints: the fill of a shape, the background of a box. */
function paintOf(element) {
  const style = getComputedStyle(element), colour = rgba(isSvg(element) ? (element.tagName === "g" || element.tagName === "text" || style.fill === "none" ? "0 0 0 0" : style.fill) : style.backgroundColor);
  return { ...colour, a: colour.a * opacityOf(element) * (isSvg(element) ? Number(style.fillOpacity) : 1) };
}
/** The part of a box that its ancestors show, and whether an ancestor that does not scroll cuts it. */
function shownOf(box, element) {
  let [left, top, right, bottom] = [box.left, box.top, box.right, box.bottom], isCut = false;
  for (const each of above(element.parentElement)) {
    const style = getComputedStyle(each), isBox = each.tagName === "svg" || style.overflowX !== "visible";
    if (!isBox || each === document.documentElement || each === document.body) continue;
    const clip = each.getBoundingClientRect(), isScrolled = /auto|scroll/.test(style.overflowX + style.overflowY) || style.textOverflow === "ellipsis" || each.matches(".drawing");
    if (!isScrolled && (left < clip.left - 1.5 || right > clip.right + 1.5 || top < clip.top - 1.5 || bottom > clip.bottom + 1.5)) isCut = true;
    [left, top, right, bottom] = [Math.max(left, clip.left), Math.max(top, clip.top), Math.min(right, clip.right), Math.min(bottom, clip.bottom)];
  }
  return { left, top, right, bottom, isCut };
}
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), texts = [], clipped = [];
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement, text = walker.currentNode.textContent.trim(), style = getComputedStyle(element);
  if (!text || element.closest("script, noscript, option, #tip, .skip, figcaption, [transform^=rotate]") || style.visibility === "hidden" || !element.checkVisibility()) continue;
  const range = document.createRange();
  range.selectNodeContents(walker.currentNode);
  for (const box of range.getClientRects()) {
    if (box.width < 1 || box.height < 1) continue;
    const shown = shownOf(box, element);
    if (shown.isCut) clipped.push(text);
    if (shown.right - shown.left > 3 && shown.bottom - shown.top > 3) texts.push({ element, text, style, ...shown });
  }
}
texts.sort((a, b) => a.top - b.top);
const overlapping = [], isSticky = ({ element }) => above(element).some((each) => getComputedStyle(each).position === "sticky");
texts.forEach((one, n) => {
  for (let k = n + 1; k < texts.length && texts[k].top < one.bottom; k++) {
    const other = texts[k], wide = Math.min(one.right, other.right) - Math.max(one.left, other.left), high = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
    if (wide > 3 && high > 5 && one.element !== other.element && !isSticky(one) && !isSticky(other)) overlapping.push(`${one.text.slice(0, 30)} × ${other.text.slice(0, 30)}`);
  }
});
const dim = new Map();
let compared = 0;
for (const { element, text, style, left, top, right, bottom } of texts) {
  const stack = document.elementsFromPoint((left + right) / 2, (top + bottom) / 2), at = stack.findIndex((each) => each === element || (element.contains(each) && !isSvg(each)));
  if (at < 0 || element.closest(":disabled, [aria-disabled=true]")) continue;
  compared += 1;
  const under = stack.slice(isSvg(element) ? at + 1 : at).map(paintOf).reverse().reduce((below, paint) => over(paint, below), { r: 255, g: 255, b: 255, a: 1 });
  const colour = rgba(isSvg(element) ? style.fill : style.color), shown = over({ ...colour, a: colour.a * opacityOf(element) }, under);
  const size = parseFloat(style.fontSize), least = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5, found = contrast(shown, under);
  if (found < least) dim.set(`${element.tagName}.${element.getAttribute("class")}`, `${text.slice(0, 30)} ${found.toFixed(2)}`);
}
const isSeen = (element) => { const box = element && element.getBoundingClientRect(); return Boolean(box) && box.width > 20 && box.height > 8 && box.left >= 0 && box.right <= innerWidth + 1; };
const hidden = ["header", "#nav", "#find", "#q", "#main", "#footer", "h1", "h2"].filter((each) => !isSeen(document.querySelector(each)));
const wide = document.documentElement.scrollWidth - innerWidth;
// The faults, and the number of texts that were compared.
return { overflow: wide > 0 ? [`${wide} pixels`] : [], clipped, overlapping, hidden, dim: [...dim].map((each) => each.join(" ")), compared };
