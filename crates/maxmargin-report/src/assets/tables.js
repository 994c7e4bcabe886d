// ---- tables that are sorted by a click on the head of a column

// The number that a cell shows: `1,234`, `3.2 s`, `−1.2×10⁻⁵`. Cells without one come last.
function numberOf(text) {
  const digits = "⁰¹²³⁴⁵⁶⁷⁸⁹";
  const power = (_, exponent) => "e" + [...exponent].map((c) => (c === "⁻" ? "-" : digits.indexOf(c))).join("");
  return parseFloat(text.replace(/,/g, "").replace(/−/g, "-").replace(/×10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)/, power));
}

function liveTable(table) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  heads.forEach((head, column) => {
    const numeric = head.classList.contains("num");
    const button = make("button", { type: "button", class: "sort", title: "Sort by this column", onclick: () => {
      // Numbers from the largest down at first, names from A to Z.
      const now = head.getAttribute("aria-sort"), first = numeric ? "descending" : "ascending";
      const other = numeric ? "ascending" : "descending", next = now === first ? other : first;
      heads.forEach((each) => each.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", next);
      const sign = next === "ascending" ? 1 : -1, text = (row) => row.cells[column].textContent;
      const rank = (a, b) => {
        if (!numeric) return sign * text(a).localeCompare(text(b), "en", { numeric: true });
        const x = numberOf(text(a)), y = numberOf(text(b));
        return Number.isNaN(x) || Number.isNaN(y) ? Number.isNaN(x) - Number.isNaN(y) : sign * (x - y);
      };
      body.append(...[...body.rows].sort(rank));
    } }, ...head.childNodes);
    head.append(button);
  });
}

document.querySelectorAll("table.sortable").forEach(liveTable);
