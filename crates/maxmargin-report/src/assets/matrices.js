// ---- matrices

// Lets readers point at the cells of a matrix, with the pointer or the arrow keys. `words` says what is in a cell, and
// `act`, if there is one, is what a click or the Enter key does with it.
function pickCells(svg, hint, words, act) {
  const [left, top, cell, rows, columns] = svg.dataset.grid.split(" ").map(Number);
  const box = svg.appendChild(shape("rect", { class: "here", width: cell, height: cell, visibility: "hidden" }));
  const readout = make("p", { class: "cell" }, make("small", {}, hint));
  let here = null;

  function pointTo(next, live) {
    here = next;
    readout.setAttribute("aria-live", live ? "polite" : "off");
    box.setAttribute("visibility", here ? "visible" : "hidden");
    if (!here) return readout.replaceChildren(make("small", {}, hint));
    box.setAttribute("x", left + here[1] * cell);
    box.setAttribute("y", top + here[0] * cell);
    readout.replaceChildren(...words(...here));
  }

  function under(event) {
    const area = svg.getBoundingClientRect(), zoom = svg.viewBox.baseVal.width / area.width;
    const c = Math.floor(((event.clientX - area.left) * zoom - left) / cell);
    const r = Math.floor(((event.clientY - area.top) * zoom - top) / cell);
    return r >= 0 && c >= 0 && r < rows && c < columns ? [r, c] : null;
  }

  function step(event) {
    const move = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (event.key === "Escape") return pointTo(null, false);
    if (act && here && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      return act(...here);
    }
    if (!move) return;
    event.preventDefault();
    const clamp = (value, count) => Math.min(count - 1, Math.max(0, value));
    pointTo(here ? [clamp(here[0] + move[0], rows), clamp(here[1] + move[1], columns)] : [0, 0], true);
  }

  const follow = (event) => pointTo(under(event), false);
  fill(svg, {
    tabindex: "0", role: "group", "aria-roledescription": "interactive matrix",
    onpointermove: follow, onpointerdown: follow, onkeydown: step,
    onclick: (event) => act && under(event) && act(...under(event)),
    onpointerleave: (event) => event.pointerType === "mouse" && pointTo(null, false),
    onblur: () => pointTo(null, false),
  }, []);
  return readout;
}

function liveHeat(figure) {
  const script = figure.querySelector("script");
  if (!script) return;
  const [[rowNames, rowTitle], [columnNames, columnTitle], values] = JSON.parse(script.textContent);
  const svg = figure.querySelector("svg"), name = (title, label) => (title ? title + " " : "") + label;
  svg.after(pickCells(svg, "Point at a cell, or use the arrow keys, to read its value.", (r, c) => {
    const value = values[r * columnNames.length + c];
    return [name(rowTitle, rowNames[r]), ", ", name(columnTitle, columnNames[c]), ": ",
      make("b", {}, value === null ? "no value" : value)];
  }));
}

document.querySelectorAll("figure.heat").forEach(liveHeat);
