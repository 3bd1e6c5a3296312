"use strict";
// Loads data: a page that was opened as a file may not fetch, but may run scripts that lie beside it.
const tangles = (() => {
  const values = new Map(), waiting = new Map();

  /** What each shard calls. */
  function add(name, value) {
    values.set(name, value);
  }

  /** Load a shard; it is kept. */
  function load(name) {
    if (!waiting.has(name)) {
      waiting.set(name, new Promise((done, fail) => {
        const script = document.createElement("script");
        script.src = `data/${name}.js`;
        script.onload = () => (values.has(name) ? done(values.get(name)) : fail(new Error(`${name} is not whole`)));
        script.onerror = () => fail(new Error(`data/${name}.js cannot be read; is the folder whole?`));
        document.head.append(script);
      }));
    }
    return waiting.get(name);
  }

  return { add, load };
})();
