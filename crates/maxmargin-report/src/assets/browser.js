// ---- examples to page through

// Draws a picture without greys: width, height, and four pixels to a digit.
function paint(svg) {
  const [columns, rows, digits] = svg.dataset.bits.split(" ");
  const bits = [...digits].map((digit) => parseInt(digit, 16).toString(2).padStart(4, "0")).join("");
  let d = "";
  for (let r = 0; r < +rows; r++) {
    for (const run of bits.slice(r * columns, (r + 1) * columns).matchAll(/1+/g)) d += `M${run.index} ${r}h${run[0].length}`;
  }
  const zoom = Math.max(1, Math.floor(48 / rows));
  fill(svg, { class: "px", viewBox: `0 0 ${columns} ${rows}`, width: zoom * columns, height: zoom * rows }, [
    shape("g", { class: "pixels", transform: "translate(0 .5)" }, shape("path", { class: "ink", d })),
  ]);
  svg.removeAttribute("data-bits");
}

function liveBrowser(browser) {
  const list = browser.querySelector("ol"), names = JSON.parse(browser.querySelector("script").textContent);
  const waiting = browser.querySelector("template"), still = browser.querySelector(".still");
  const cards = [...list.children, ...(waiting ? waiting.content.children : [])];
  const perPage = +browser.dataset.per, count = (number) => number.toLocaleString("en");
  // Pairs of a true and a predicted label, as numbers of names.
  const cellsOf = new Map(cards.map((card) => [card, card.dataset.cells.split(",").filter(Boolean)]));
  const texts = new Map();
  const textOf = (card) => {
    if (!texts.has(card)) texts.set(card, card.textContent.toLowerCase());
    return texts.get(card);
  };
  const state = { page: 0, cell: null, label: null };

  const order = make("select", {},
    ...[["worst", "the worst first"], ["wrong", "mistakes, as in the file"], ["drawn", "a random sample"], ["all", "all, as in the file"]]
      .map(([value, name]) => make("option", { value }, name)));
  const search = make("input", { type: "search", placeholder: "a word or a label", spellcheck: "false" });
  const picked = make("button", { type: "button", class: "picked", hidden: "" });
  const back = make("button", { type: "button" }, "‹ Back"), on = make("button", { type: "button" }, "Next ›");
  const told = make("span", { class: "told", role: "status" });

  function chosen() {
    const by = order.value, words = search.value.trim().toLowerCase();
    const cell = state.cell && state.cell.map((name) => names.indexOf(name)).join(" ");
    const label = state.label === null ? null : String(names.indexOf(state.label));
    const fits = (card) => {
      const cells = cellsOf.get(card);
      if (cell !== null && !cells.includes(cell)) return false;
      if (label !== null && !cells.some((pair) => { const [t, p] = pair.split(" "); return t !== p && (t === label || p === label); })) return false;
      // What is asked for by a cell or a word may be right.
      if (cell === null && !words && (by === "wrong" && !card.dataset.wrong)) return false;
      if (by === "drawn" && !card.dataset.drawn) return false;
      return !words || textOf(card).includes(words);
    };
    const found = cards.filter(fits);
    return by === "worst" ? found : found.sort((a, b) => a.dataset.at - b.dataset.at);
  }

  function show() {
    const found = chosen(), pages = Math.max(1, Math.ceil(found.length / perPage));
    state.page = Math.min(pages - 1, Math.max(0, state.page));
    const from = state.page * perPage, shown = found.slice(from, from + perPage);
    shown.forEach((card) => card.querySelectorAll("svg[data-bits]").forEach(paint));
    list.replaceChildren(...shown);
    told.textContent = found.length
      ? `${count(from + 1)} to ${count(from + shown.length)} of ${count(found.length)}` : "no such example among those kept";
    back.disabled = state.page === 0;
    on.disabled = state.page === pages - 1;
    picked.hidden = state.cell === null && state.label === null;
    picked.textContent = state.cell ? (state.cell[0] === state.cell[1] ? `${state.cell[0]}, right ✕`
      : `${state.cell[0]} taken for ${state.cell[1]} ✕`) : `mistakes with ${state.label} ✕`;
    picked.setAttribute("aria-label", picked.textContent.replace("✕", "– show all again"));
  }

  const fresh = () => { state.page = 0; show(); };
  const turn = (by) => () => { state.page += by; show(); };
  order.addEventListener("change", fresh);
  search.addEventListener("input", fresh);
  back.addEventListener("click", turn(-1));
  on.addEventListener("click", turn(1));
  picked.addEventListener("click", () => { state.cell = state.label = null; fresh(); search.focus(); });
  if (still) still.remove();
  list.before(make("div", { class: "controls", role: "group", "aria-label": "Examples" },
    make("label", {}, make("span", {}, "Show"), order), make("label", {}, make("span", {}, "with"), search), picked));
  list.after(make("div", { class: "pager" }, back, on, told));
  show();
  return {
    show(cell, label) {
      state.cell = cell;
      state.label = label;
      search.value = "";
      order.value = "worst";
      fresh();
      browser.closest("section").scrollIntoView({ block: "start" });
      picked.focus({ preventScroll: true });
    },
    knows: (label) => names.includes(label),
  };
}

const browsers = [...document.querySelectorAll(".browser")].map(liveBrowser);

// Labels in tables lead to the examples in which they are wrong.
for (const label of document.querySelectorAll("table .label")) {
  const name = label.textContent, goal = browsers.find((browser) => browser.knows(name));
  if (!goal) continue;
  const button = make("button", { type: "button", title: "Show the mistakes with this label", onclick: () => goal.show(null, name) });
  label.replaceWith(button);
  button.append(label);
  button.classList.add("link");
}
