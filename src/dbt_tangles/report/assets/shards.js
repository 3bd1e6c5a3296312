"use strict";
// Loads shards of data. A page that is opened as a file may not fetch, but may run scripts of its folder.
const tangles = (() => {
  const values = new Map(), waiting = new Map();

  /** Store the value of a shard; each shard calls this. */
  function add(name, value) {
    values.set(name, value);
  }

  /** Load a shard, once. */
  function load(name) {
    if (!waiting.has(name)) {
      waiting.set(name, new Promise((done, fail) => {
        const script = document.createElement("script");
        script.src = `data/${name}.js`;
        script.onload = () => (values.has(name) ? done(values.get(name)) : fail(new Error(`data/${name}.js is incomplete; write the report again`)));
        script.onerror = () => fail(new Error(`data/${name}.js cannot be read; copy the whole folder, or write the report again`));
        document.head.append(script);
      }));
    }
    return waiting.get(name);
  }

  /** Drop the value of a shard that is kept in another form. */
  function forget(name) {
    values.delete(name);
    waiting.delete(name);
  }

  return { add, load, forget };
})();
