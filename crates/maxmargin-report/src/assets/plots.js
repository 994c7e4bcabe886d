// ---- plots

function livePlot(figure) {
  const data = JSON.parse(figure.querySelector("script").textContent);
  const canvas = figure.querySelector(".canvas");
  if (!data.x.length || !data.y.length || !data.series.length) return;
  const many = data.series.length > 1;
  const state = { x: 0, y: 0, hiddenRuns: new Set(), hiddenCurves: new Set(), cross: null };
  data.series.forEach((run, r) => run.off && state.hiddenRuns.add(r));
  const xLog = data.x.map((axis) => axis.log), yLog = data.y.map((axis) => axis.log);
  let view = null, frame = null, known = 0;

  const styleOf = (run, curve) => {
    const main = many ? run : curve;
    const round = many ? curve + Math.floor(run / COLOURS) : curve;
    return { colour: main % COLOURS, dash: DASHES[round % DASHES.length], kind: main % 4 };
  };
  const curveKey = (curve) => state.y + ":" + curve;
  const nameOf = (run, curve) => {
    const quantity = data.y[state.y].curves[curve][1], several = data.y[state.y].curves.length > 1;
    if (many && several) return data.series[run].name + ", " + quantity;
    return several ? quantity : data.series[run].name;
  };

  function look() {
    const x = data.x[state.x], y = data.y[state.y], logX = xLog[state.x], logY = yLog[state.y];
    const draws = (value) => typeof value === "number";
    const fits = (log, value) => !log || value >= TINY;
    const lines = [];
    let dropped = 0;
    data.series.forEach((run, r) => {
      const xs = run.columns[x.curves[0][0]];
      if (!xs || state.hiddenRuns.has(r)) return;
      y.curves.forEach(([key], c) => {
        const ys = run.columns[key];
        if (!ys || state.hiddenCurves.has(curveKey(c))) return;
        let pieces = [[]];
        const rows = Math.min(xs.v.length, ys.v.length);
        for (let i = 0; i < rows; i++) {
          const a = xs.v[i], b = ys.v[i];
          if (a === null || b === null) continue;
          const drawn = draws(a) && draws(b);
          if (drawn && fits(logX, a) && fits(logY, b)) {
            const low = ys.lo && ys.lo[i], high = ys.hi && ys.hi[i];
            const band = draws(low) && draws(high) && fits(logY, low) && fits(logY, high);
            pieces[pieces.length - 1].push({ x: a, y: b, band: band ? [low, high] : null });
          } else {
            if (drawn) dropped++;
            if (pieces[pieces.length - 1].length) pieces.push([]);
          }
        }
        pieces = pieces.filter((piece) => piece.length);
        if (pieces.length) lines.push({ run: r, curve: c, pieces, points: pieces.flat() });
      });
    });
    let domains = null;
    if (lines.length) {
      const across = [Infinity, -Infinity], up = [Infinity, -Infinity];
      const widen = (range, value) => {
        range[0] = Math.min(range[0], value);
        range[1] = Math.max(range[1], value);
      };
      for (const line of lines) {
        for (const point of line.points) {
          widen(across, point.x);
          widen(up, point.y);
          if (point.band) point.band.forEach((edge) => widen(up, edge));
        }
      }
      for (const [, value] of y.guides) if (draws(value) && fits(logY, value)) widen(up, value);
      domains = [
        withTicks(domainAround(logX, ...across, false), x.ticks[+logX]),
        withTicks(domainAround(logY, ...up, true), y.ticks[+logY]),
      ];
    }
    return { x, y, lines, dropped, domains };
  }

  function summary() {
    const most = 8;
    let text = `${view.y.label} against ${view.x.label}.`;
    if (!view.lines.length) text += " There are no points to show.";
    for (const line of view.lines.slice(0, most)) {
      const first = line.points[0], last = line.points[line.points.length - 1];
      text += ` ${nameOf(line.run, line.curve)}: from ${say(first.y)} at ${say(first.x)}` +
        ` to ${say(last.y)} at ${say(last.x)}.`;
    }
    if (view.lines.length > most) text += ` And ${view.lines.length - most} more lines.`;
    return text;
  }

  function draw() {
    view = look();
    const width = Math.max(240, Math.round(canvas.clientWidth) || 720);
    const hidden = state.hiddenRuns.size + state.hiddenCurves.size;
    const bare = !view.domains && !hidden;
    const height = bare ? 160 : Math.round(Math.min(420, Math.max(260, 0.55 * width)));
    known = width;
    const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
    const write = (attributes, text) => svg.append(shape("text", attributes, text));
    const path = (name, d, dash) => d && svg.append(shape("path", { class: name, d, "stroke-dasharray": dash }));
    frame = null;
    if (!view.domains) {
      write({ class: "dim", "text-anchor": "middle", x: width / 2, y: height / 2 },
        view.dropped ? "No positive values to show on a log axis"
          : hidden ? "Every line is switched off" : "No points to show");
    } else {
      const [across, up] = view.domains;
      const ladderX = view.x.ticks[+across.log], ladderY = view.y.ticks[+up.log];
      const upTicks = ticksOf(up, Math.min(7, Math.max(4, Math.floor(height / 60))), ladderY);
      const left = Math.max(20, ...upTicks.map(([, label]) => widthOf(label))) + 12;
      const right = width - 18, top = 30, bottom = height - 44;
      const px = (value) => left + (right - left) * place(across, value);
      const py = (value) => bottom - (bottom - top) * place(up, value);
      frame = { left, right, top, bottom, px, py, svg, width, height };
      write({ class: "name", x: 0, y: 14 }, view.y.label);
      let grid = "";
      for (const [value, label] of upTicks) {
        grid += `M${at(left)} ${at(py(value))}H${at(right)}`;
        write({ class: "tick", "text-anchor": "end", x: at(left - 8), y: at(py(value) + 4.5) }, label);
      }
      for (const [value, label] of ticksOf(across, Math.min(8, Math.max(4, Math.floor(width / 100))), ladderX)) {
        grid += `M${at(px(value))} ${at(top)}V${at(bottom)}`;
        const middle = Math.min(px(value), width - widthOf(label) / 2);
        write({ class: "tick", "text-anchor": "middle", x: at(middle), y: at(bottom + 19) }, label);
      }
      path("grid", grid);
      let axis = `M${at(left)} ${at(top)}V${at(bottom)}H${at(right)}`;
      for (const [value] of minorTicks(across, ladderX)) axis += `M${at(px(value))} ${at(bottom)}v4`;
      for (const [value] of minorTicks(up, ladderY)) axis += `M${at(left)} ${at(py(value))}h-4`;
      path("axis", axis);
      write({ class: "name", "text-anchor": "end", x: at(right), y: height - 6 }, view.x.label);
      for (const [label, value] of view.y.guides) {
        const y = py(value);
        if (!(y >= top - 0.5 && y <= bottom + 0.5)) continue;
        path("guide", `M${at(left)} ${at(y)}H${at(right)}`);
        // On the left, for what falls to a guide comes to lie on it on the right.
        write({ class: "dim", x: at(left + 6), y: at(y < top + 16 ? y + 14 : y - 5) }, label);
      }
      for (const line of view.lines) {
        let d = "";
        for (const piece of line.pieces) {
          let edges = [];
          const close = () => {
            if (edges.length) {
              d += "M" + edges.map((p) => `${at(px(p.x))} ${at(py(p.band[1]))}`).join("L") + "L" +
                edges.reverse().map((p) => `${at(px(p.x))} ${at(py(p.band[0]))}`).join("L") + "Z";
            }
            edges = [];
          };
          for (const point of piece) point.band ? edges.push(point) : close();
          close();
        }
        path("band c" + styleOf(line.run, line.curve).colour, d);
      }
      for (const line of view.lines) {
        const { colour, dash, kind } = styleOf(line.run, line.curve);
        const few = line.points.length <= MARKED;
        let d = "", marks = "";
        for (const piece of line.pieces) {
          d += "M" + piece.map((p) => `${at(px(p.x))} ${at(py(p.y))}`).join("L");
          if (few || piece.length === 1) for (const p of piece) marks += markerPath(px(p.x), py(p.y), kind);
        }
        path("line c" + colour, d, dash);
        path("mark c" + colour, marks);
      }
      frame.cross = svg.appendChild(shape("g", {}));
    }
    canvas.replaceChildren(svg);
    canvas.setAttribute("aria-label", summary() + " Arrow keys move along the x axis.");
    note.textContent = !view.dropped ? ""
      : view.dropped === 1 ? "1 point at or below zero has no place on a log axis and is left out."
      : `${view.dropped} points at or below zero have no place on a log axis and are left out.`;
    note.hidden = !view.dropped;
    saveButton.disabled = pngButton.disabled = !frame;
    pointTo(state.cross);
  }

  function sample(run, curve) {
    const { colour, dash, kind } = styleOf(run, curve);
    return shape("svg", { viewBox: "0 0 28 12", "aria-hidden": "true" },
      shape("path", { class: "line c" + colour, d: "M1 6H27", "stroke-dasharray": dash }),
      shape("path", { class: "mark c" + colour, d: markerPath(14, 6, kind) }));
  }

  // The x values to step through with the arrow keys.
  function stops() {
    return [...new Set(view.lines.flatMap((line) => line.points.map((p) => p.x)))].sort((a, b) => a - b);
  }

  function nearest(points, goal) {
    let best = null, least = Infinity;
    for (const p of points) {
      const distance = Math.abs(frame.px(p.x) - goal);
      if (distance < least) [best, least] = [p, distance];
    }
    return best;
  }

  // Shows the values at an x value, or at the ends of the lines.
  function pointTo(x) {
    state.cross = x;
    readout.hidden = !frame;
    if (!frame) return;
    const list = make("ul");
    const ends = new Set(view.lines.map((line) => line.points[line.points.length - 1].x));
    const common = x === null && ends.size === 1;
    const goal = x === null ? null : frame.px(x);
    frame.cross.replaceChildren();
    if (goal !== null && Number.isFinite(goal)) {
      frame.cross.append(shape("path", { class: "cross", d: `M${at(goal)} ${at(frame.top)}V${at(frame.bottom)}` }));
    }
    for (const line of view.lines) {
      const point = goal === null ? line.points[line.points.length - 1] : nearest(line.points, goal);
      const near = common || (goal !== null && Math.abs(frame.px(point.x) - goal) <= 1.5);
      const { colour } = styleOf(line.run, line.curve);
      if (goal !== null) {
        frame.cross.append(shape("circle", {
          class: "spot c" + colour, cx: at(frame.px(point.x)), cy: at(frame.py(point.y)), r: 4,
        }));
      }
      const name = nameOf(line.run, line.curve);
      const item = make("div", {}, name + " ", make("b", {}, say(point.y)));
      if (point.band) {
        item.append(" ", make("small", {}, `${say(point.band[0])} to ${say(point.band[1])}`));
      }
      if (!near) item.append(" ", make("small", {}, "at " + say(point.x)));
      list.append(make("li", {}, sample(line.run, line.curve), item));
    }
    const head = x !== null ? `${view.x.label} ${say(x)}:`
      : common ? `At the end, ${view.x.label} ${say([...ends][0])}:` : "At the end of each line:";
    readout.replaceChildren(make("p", {}, head), list);
  }

  function follow(event) {
    if (!frame) return;
    const box = frame.svg.getBoundingClientRect();
    const goal = (event.clientX - box.left) * (frame.width / box.width);
    const point = nearest(view.lines.flatMap((line) => line.points), goal);
    readout.setAttribute("aria-live", "off");
    if (point) pointTo(point.x);
  }

  function step(event) {
    if (!frame) return;
    const xs = stops(), jump = Math.max(1, Math.round(xs.length / 10));
    let i = state.cross === null ? -1 : xs.findIndex((x) => x >= state.cross);
    const fresh = i < 0;
    if (event.key === "ArrowRight") i = fresh ? 0 : i + 1;
    else if (event.key === "ArrowLeft") i = fresh ? xs.length - 1 : i - 1;
    else if (event.key === "PageUp") i = fresh ? xs.length - 1 : i - jump;
    else if (event.key === "PageDown") i = fresh ? 0 : i + jump;
    else if (event.key === "Home") i = 0;
    else if (event.key === "End") i = xs.length - 1;
    else if (event.key === "Escape") return pointTo(null);
    else return;
    event.preventDefault();
    readout.setAttribute("aria-live", "polite");
    pointTo(xs[Math.min(xs.length - 1, Math.max(0, i))]);
  }

  // Controls.
  function choice(label, key, axes) {
    const select = make("select", { onchange: () => {
      if (key === "x") state.cross = null;
      state[key] = +select.value;
      dress();
      draw();
    } }, ...axes.map((axis, i) => make("option", { value: String(i) }, axis.label)));
    select.value = "0";
    return make("label", {}, make("span", {}, label), select);
  }
  function logSwitch(letter, flags, key) {
    const button = make("button", { type: "button", class: "switch", onclick: () => {
      flags[state[key]] = !flags[state[key]];
      dress();
      draw();
    } }, "log " + letter);
    return button;
  }
  const controls = make("div", { class: "controls", role: "group", "aria-label": "Axes" });
  if (data.y.length > 1) controls.append(choice("Show", "y", data.y));
  if (data.x.length > 1) controls.append(choice(data.y.length > 1 ? "against" : "Against", "x", data.x));
  const switchY = logSwitch("y", yLog, "y"), switchX = logSwitch("x", xLog, "x");
  controls.append(switchY, switchX);
  const saveButton = make("button",
    { type: "button", title: "Save this view as an SVG picture", onclick: saveSvg }, "Save SVG");
  const pngButton = make("button",
    { type: "button", title: "Save this view as a PNG picture", onclick: savePng }, "Save PNG");
  const below = make("div", { class: "below" }, make("span", { class: "save" }, saveButton, pngButton,
    make("button", { type: "button", title: "Save the numbers of this plot", onclick: saveCsv }, "Save CSV")));
  const legend = make("ul", { class: "legend", "aria-label": "Lines" });
  const old = figure.querySelector(".dropped");
  const note = old || make("p", { class: "dropped" });
  const readout = make("div", { class: "readout", "aria-live": "off" });

  function toggle(sampleOf, name, set, key) {
    const button = make("button", { type: "button", onclick: () => {
      set.has(key) ? set.delete(key) : set.add(key);
      button.setAttribute("aria-pressed", String(!set.has(key)));
      draw();
    } }, sampleOf, make("span", {}, name));
    button.setAttribute("aria-pressed", String(!set.has(key)));
    return make("li", {}, button);
  }

  // Puts switches and legend in the state of the chosen axes.
  function dress() {
    switchX.setAttribute("aria-pressed", String(xLog[state.x]));
    switchY.setAttribute("aria-pressed", String(yLog[state.y]));
    const curves = data.y[state.y].curves, items = [];
    if (many) data.series.forEach((run, r) => items.push(toggle(sample(r, 0), run.name, state.hiddenRuns, r)));
    if (curves.length > 1) {
      curves.forEach(([, label], c) => {
        let look = sample(0, c);
        if (many) {
          look = shape("svg", { viewBox: "0 0 28 12", "aria-hidden": "true" },
            shape("path", { class: "line c6", d: "M1 6H27", "stroke-dasharray": DASHES[c % DASHES.length] }));
        }
        items.push(toggle(look, label, state.hiddenCurves, curveKey(c)));
      });
    }
    if (data.series.length > FEW_RUNS) {
      const all = (word, hide) => make("li", {}, make("button", { type: "button", onclick: () => {
        state.hiddenRuns.clear();
        if (hide) data.series.forEach((_, r) => state.hiddenRuns.add(r));
        dress();
        draw();
        [...legend.querySelectorAll("button")].find((button) => button.textContent === word).focus();
      } }, word));
      items.unshift(...items.splice(data.series.length), all("Show all", false), all("Hide all", true));
    }
    legend.replaceChildren(...items);
    legend.hidden = !items.length;
  }

  function fileName(ending) {
    const stem = (data.heading || "plot").toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "");
    return (stem || "plot") + ending;
  }

  function saveCsv() {
    const keys = new Map();
    for (const axis of [...data.x, ...data.y]) for (const [key, label] of axis.curves) keys.set(key, label);
    const quote = (text) => '"' + String(text).replace(/"/g, '""') + '"';
    const rows = [["Series", ...keys.values()].map(quote).join(",")];
    for (const run of data.series) {
      const columns = [...keys.keys()].map((key) => (run.columns[key] ? run.columns[key].v : []));
      const length = Math.max(0, ...columns.map((column) => column.length));
      for (let i = 0; i < length; i++) {
        const cells = columns.map((column) => (typeof column[i] === "number" ? column[i] : ""));
        rows.push([quote(run.name), ...cells].join(","));
      }
    }
    save(fileName(".csv"), "text/csv", rows.join("\r\n") + "\r\n");
  }

  // The picture as it is on the page, with its colours and a legend inside.
  // The view as a picture of its own: its text, and its size.
  function picture() {
    pointTo(null);
    const svg = frame.svg.cloneNode(true), from = frame.svg.querySelectorAll("*");
    const wanted = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "font-family",
      "font-size", "font-weight"];
    svg.querySelectorAll("*").forEach((node, i) => {
      const style = getComputedStyle(from[i]);
      for (const name of wanted) node.setAttribute(name, style.getPropertyValue(name));
      node.removeAttribute("class");
    });
    let x = 0, y = frame.height + 14;
    const card = getComputedStyle(figure);
    if (view.lines.length > 1) {
      for (const line of view.lines) {
        const { colour, dash, kind } = styleOf(line.run, line.curve);
        const ink = card.getPropertyValue("--s" + colour), name = nameOf(line.run, line.curve);
        if (x > 0 && x + 48 + widthOf(name) > frame.width) [x, y] = [0, y + 20];
        svg.append(
          shape("path", { d: `M${x} ${y}h24`, stroke: ink, "stroke-width": 2, "stroke-dasharray": dash }),
          shape("path", { d: markerPath(x + 12, y, kind), fill: ink }),
          shape("text", { x: x + 30, y: y + 4.5, fill: card.color, "font-family": card.fontFamily, "font-size": 13 }, name));
        x += 48 + widthOf(name);
      }
      y += 14;
    } else {
      y = frame.height;
    }
    svg.setAttribute("viewBox", `-8 -8 ${frame.width + 16} ${y + 16}`);
    svg.setAttribute("width", frame.width + 16);
    svg.setAttribute("height", y + 16);
    svg.prepend(shape("rect", { x: -8, y: -8, width: "100%", height: "100%", fill: card.backgroundColor }));
    return [new XMLSerializer().serializeToString(svg), frame.width + 16, y + 16];
  }

  function saveSvg() {
    if (frame) save(fileName(".svg"), "image/svg+xml", picture()[0]);
  }

  // The same in pixels, three for one, which is enough for print.
  function savePng() {
    if (!frame) return;
    const [text, width, height] = picture();
    const image = new Image(), paper = make("canvas", { width: 3 * width, height: 3 * height });
    image.onload = () => {
      paper.getContext("2d").drawImage(image, 0, 0, paper.width, paper.height);
      paper.toBlob((blob) => save(fileName(".png"), "image/png", blob));
    };
    image.src = "data:image/svg+xml," + encodeURIComponent(text);
  }

  canvas.before(controls, legend);
  canvas.after(note, readout, below);
  const numbers = figure.querySelector("details");
  if (numbers) below.prepend(numbers);
  if (data.thinned) {
    readout.after(make("p", { class: "dropped" }, "Long series are thinned for this plot; extremes are kept."));
  }
  fill(canvas, {
    tabindex: "0", role: "group", "aria-roledescription": "interactive plot",
    onpointermove: follow, onpointerdown: follow, onkeydown: step,
    onpointerleave: (event) => event.pointerType === "mouse" && pointTo(null),
    onblur: () => pointTo(null),
  }, []);
  dress();
  draw();
  figure.classList.add("live");
  new ResizeObserver(() => {
    if (canvas.clientWidth && Math.round(canvas.clientWidth) !== known) draw();
  }).observe(canvas);
}

document.querySelectorAll("figure.plot").forEach(livePlot);
