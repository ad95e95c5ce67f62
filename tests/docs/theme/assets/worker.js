// Browsers start no worker for a page that is opened as a file. The search then runs in a hidden frame instead.
if (location.protocol === "file:") {
  window.Worker = class {
    constructor(url) {
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.documentElement.append(this.frame);
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) => this.reply(data);
      this.ready = new Promise((resolve) => {
        const script = inside.document.createElement("script");
        script.src = new URL(url, location.href);
        script.onload = resolve;
        script.onerror = () => this.onerror?.();
        inside.document.head.append(script);
      });
    }
    // As between threads: each side gets a copy, and gets it later.
    postMessage(data) {
      const copy = structuredClone(data);
      this.ready.then(() => this.frame.contentWindow.onmessage?.({ data: copy }));
    }
    reply(data) {
      const copy = structuredClone(data);
      setTimeout(() => this.onmessage?.({ data: copy }));
    }
    terminate() {
      this.frame.remove();
    }
  };
}
