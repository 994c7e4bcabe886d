"use strict";
// The live part of the page: plots whose axes switch, and read-outs. Without it the page still
// shows every figure in its first view. Ticks come from Rust with their labels (scale.rs), and
// read-outs use the browser's number format, so that no rule about either is written twice.

const TINY = 1e-300;

function say(value) {
  const text = Number.isInteger(value) ? value.toLocaleString("en") : String(+value.toPrecision(5));
  return text.replace("-", "−");
}

// ---- scales

function domainAround(log, low, high, pad) {
  const size = Math.max(Math.abs(high), Math.abs(low));
  if (log) {
    let from = Math.log10(low), to = Math.log10(high);
    if (to - from < 1e-6) [from, to] = [from - 0.5, to + 0.5];
    else if (pad) {
      const air = 0.04 * (to - from);
      [from, to] = [from - air, to + air];
    }
    low = Math.pow(10, Math.max(from, -305));
    high = Math.pow(10, Math.min(to, 305));
  } else if (high - low <= Math.max(1e-12 * size, 1e-290)) {
    const air = size < 1e-280 ? 1 : 0.1 * size;
    [low, high] = [low - air, high + air];
  } else {
    const zeroLow = low >= 0 && low <= 0.3 * high, zeroHigh = high <= 0 && high >= 0.3 * low;
    const air = pad ? 0.04 * (high - low) : 0;
    [low, high] = [zeroLow ? 0 : low - air, zeroHigh ? 0 : high + air];
  }
  return { log, low, high };
}

function place(d, value) {
  if (!d.log) return (value - d.low) / (d.high - d.low);
  const from = Math.log10(d.low);
  return (Math.log10(value) - from) / (Math.log10(d.high) - from);
}

// A ladder has rungs of ticks, [value, label], from few to many. Of those within the domain, the
// rung with about as many as wanted.
function ticksOf(d, count, ladder) {
  const within = ([value]) => Math.abs(place(d, value) - 0.5) <= 0.5 + 1e-6;
  const off = (rung) => Math.abs(Math.log(Math.max(rung.length, 0.5) / count));
  return ladder.map((rung) => rung.filter(within)).reduce((a, b) => (off(b) < off(a) ? b : a), []);
}

// Marks without labels, between the decades of a log axis: its finest rung.
function minorTicks(d, ladder) {
  if (!d.log || Math.log10(d.high / d.low) > 7 || !ladder.length) return [];
  return ladder[ladder.length - 1].filter(([value]) => value >= d.low && value <= d.high);
}

// A domain narrower than the finest rung is widened to the ticks around it.
function withTicks(d, ladder) {
  const finest = (ladder[ladder.length - 1] || []).map(([value]) => value);
  if (finest.filter((value) => value >= d.low && value <= d.high).length >= 2) return d;
  const below = finest.filter((value) => value <= d.low), above = finest.filter((value) => value >= d.high);
  return { log: d.log, low: below.length ? Math.max(...below) : d.low, high: above.length ? Math.min(...above) : d.high };
}

// ---- elements

function make(tag, attributes, ...children) {
  const node = document.createElement(tag);
  return fill(node, attributes, children);
}

function shape(tag, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  return fill(node, attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== "" && value != null) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

const at = (value) => String(+value.toFixed(1));
const widthOf = (text) => 7.2 * [...text].length;

const DASHES = ["", "7 4", "2 3", "9 3 2 3"], COLOURS = 8, MARKED = 40, FEW_RUNS = 5;

function markerPath(x, y, kind) {
  if (kind === 0) return `M${at(x - 3.5)} ${at(y)}a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0`;
  if (kind === 1) return `M${at(x - 3)} ${at(y - 3)}h6v6h-6z`;
  if (kind === 2) return `M${at(x)} ${at(y - 4.5)}l4 7h-8z`;
  return `M${at(x)} ${at(y - 4.5)}l4.5 4.5l-4.5 4.5l-4.5 -4.5z`;
}

function save(name, kind, content) {
  const link = make("a", {
    href: URL.createObjectURL(new Blob([content], { type: kind })),
    download: name,
  });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// ---- commands to copy

function copyButton(pre) {
  const button = make("button", { type: "button", class: "copy", onclick: async () => {
    const said = (text) => { button.textContent = text; setTimeout(() => { button.textContent = "Copy"; }, 2000); };
    try {
      await navigator.clipboard.writeText(pre.textContent);
      said("Copied");
    } catch {
      // Where pages may not write to the clipboard, readers can.
      getSelection().selectAllChildren(pre);
      said("Selected");
    }
  } }, "Copy");
  pre.after(button);
}

document.querySelectorAll("pre").forEach(copyButton);
