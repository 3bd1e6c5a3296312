// Search from disk: browsers start no worker for a page that was opened as a file. This class runs the worker's script in
// a hidden frame and passes messages between the two, as a worker would.
(() => {
  if (location.protocol !== "file:") return;

  class IFrameWorker extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inside = frame.contentWindow;
      this.listeners = [];
      inside.addEventListener = (type, listener) => {
        if (type === "message") this.listeners.push(listener);
      };
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.importScripts = (...urls) =>
        urls.reduce((before, each) => before.then(() => load(inside.document, each)), Promise.resolve());
      this.ready = load(inside.document, url);
    }

    postMessage(data) {
      this.ready.then(() => this.listeners.forEach((listener) => listener(new MessageEvent("message", { data }))));
    }

    terminate() {}
  }

  function load(page, url) {
    return new Promise((resolve, reject) => {
      const script = page.createElement("script");
      script.src = new URL(url, location.href).href;
      script.onload = resolve;
      script.onerror = reject;
      page.body.append(script);
    });
  }

  window.IFrameWorker = IFrameWorker;
  window.Worker = IFrameWorker;
})();
