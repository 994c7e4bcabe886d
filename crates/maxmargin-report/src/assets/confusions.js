// ---- confusion matrices

function liveConfusions(figure) {
  const [labels, entries] = JSON.parse(figure.querySelector("script").textContent);
  const counts = new Map(entries.map(([t, p, count]) => [t + " " + p, count]));
  const totals = labels.map((_, t) => entries.reduce((sum, entry) => sum + (entry[0] === t ? entry[2] : 0), 0));
  const svg = figure.querySelector("svg"), goal = browsers[0];
  const act = goal && ((t, p) => counts.has(t + " " + p) && goal.show([labels[t], labels[p]], null));
  const readout = pickCells(svg,
    goal ? "Click on a cell, or use the arrow keys and Enter, to see its examples." : "Point at a cell, or use the arrow keys, to read it.",
    (t, p) => {
      const count = counts.get(t + " " + p) || 0, share = totals[t] ? (100 * count / totals[t]).toPrecision(3) : 0;
      const what = t === p ? [make("b", {}, labels[t]), " found"] : [make("b", {}, labels[t]), " taken for ", make("b", {}, labels[p])];
      const short = (number) => say(+number.toPrecision(6));
      return [...what, ` ${short(count)} of ${short(totals[t])} times (${+share} %)`];
    }, act);

  // By rows, or by counts: each element knows both.
  const views = ["by rows", "by counts"].map((name, at) => make("button", { type: "button", class: "switch", onclick: () => {
    if (views[at].getAttribute("aria-pressed") === "true") return;
    for (const node of figure.querySelectorAll("[data-other]")) {
      const other = node.dataset.other, isCell = node.tagName === "rect";
      node.dataset.other = isCell ? node.getAttribute("fill-opacity") : node.textContent;
      isCell ? node.setAttribute("fill-opacity", other) : (node.textContent = other);
    }
    views.forEach((view, each) => view.setAttribute("aria-pressed", String(each === at)));
  } }, name));
  views.forEach((view, at) => view.setAttribute("aria-pressed", String(at === 0)));
  const wide = figure.querySelector(".wide");
  wide.before(make("div", { class: "controls", role: "group", "aria-label": "Colours and numbers" }, ...views));
  wide.after(readout);
}

document.querySelectorAll("figure.confusions").forEach(liveConfusions);
