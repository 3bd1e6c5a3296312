// What is in a set, the way the peer gets there: our own JavaScript after a description of its algorithm, none of its
// code. Each insertion looks for itself in the lists of all messages so far; then one sort, and one replay.
//
//     node bench/pzp_peer.js < set.json
//
// Reads {"root", "log": [{"id", "depth", "prev", "add", "del"}]}, the log in order of arrival; writes the items and the
// CPU milliseconds that they took, without reading and writing.
"use strict";

class Tangle {
  constructor(root) {
    this.root = root;
    this.depth = new Map();
    this.prev = new Map();
    this.tips = new Set();
  }

  isListed(id) {
    for (const prev of this.prev.values()) {
      if (prev.includes(id)) return true;
    }
    return false;
  }

  insert({ id, depth, prev }) {
    if (this.depth.has(id)) return;
    const isRoot = id === this.root;
    if (isRoot || !this.isListed(id)) this.tips.add(id);
    for (const listed of isRoot ? [] : prev) this.tips.delete(listed);
    this.depth.set(id, isRoot ? 0 : depth);
    this.prev.set(id, isRoot ? [] : prev);
  }

  sorted() {
    if (!this.depth.has(this.root)) return [];
    return [...this.depth.keys()].sort((a, b) => this.depth.get(a) - this.depth.get(b) || a.localeCompare(b));
  }
}

function items(root, log) {
  const tangle = new Tangle(root);
  const messages = new Map();
  for (const message of log) {
    messages.set(message.id, message);
    tangle.insert(message);
  }
  const present = new Set();
  for (const id of tangle.sorted()) {
    const { add, del } = messages.get(id);
    if (!add) continue;
    for (const item of add) present.add(item);
    for (const item of del) present.delete(item);
  }
  return [...present];
}

const { root, log } = JSON.parse(require("fs").readFileSync(0, "utf8"));
const before = process.cpuUsage();
const found = items(root, log);
const { user, system } = process.cpuUsage(before);
process.stdout.write(JSON.stringify({ cpu_ms: (user + system) / 1000, items: found }));
