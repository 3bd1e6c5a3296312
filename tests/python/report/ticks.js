// The number of axes, of axes that name a tick twice, and the most ticks of an axis.
await until(() => document.querySelectorAll(".chart").length);
const axes = [...document.querySelectorAll(".axis")].map((axis) => [...axis.querySelectorAll("text")].map((each) => each.textContent));
say(axes.length, axes.filter((texts) => new Set(texts).size < texts.length).length, Math.max(...axes.map((texts) => texts.length)));
