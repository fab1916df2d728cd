"use strict";
// Draws the figures in the colours of the screen or of paper, and sorts and filters the tables.
const given = JSON.parse(document.getElementById("figures").textContent);
const dark = matchMedia("(prefers-color-scheme: dark)");
const NARROW = 600, PAPER = 690;  // pixels
const AXIS = 64, AROUND = 190;  // pixels: of an axis with its title, and around the plot

// Colours are written for paper; on a dark screen each that has a counterpart is replaced by it.
function coloured(value, colours, key = "") {
  if (typeof value === "string") return /color/.test(key) && Object.hasOwn(colours, value) ? colours[value] : value;
  if (Array.isArray(value)) return value.map((one) => coloured(one, colours, key));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, coloured(one, colours, name)]));
}

function draw(printed) {
  const colours = dark.matches && !printed ? given.dark : {};
  return Promise.all(given.figures.map((figure, number) => {
    const place = document.getElementById(`figure-${number + 1}`);
    const { traces, layout } = coloured(figure, colours);
    const width = Math.min(printed ? PAPER : place.clientWidth, layout.widest ?? Infinity);
    Object.assign(layout, { template: { layout: coloured(given.template, colours) }, width, height: figure.height });
    if (width < NARROW) {
      const { traces: changes, ...others } = layout.narrow ?? {};
      const legend = { orientation: "h", x: 0, y: -AXIS / Math.max(figure.height - AROUND, AXIS), yanchor: "top" };
      Object.assign(layout, { legend, margin: { ...layout.margin, r: 16 } }, others);
      for (const trace of traces) Object.assign(trace, changes);
    }
    delete layout.narrow;
    delete layout.widest;
    place.style.minHeight = `${layout.height}px`;
    return Plotly.react(place, traces, layout, given.config);
  }));
}

let shown = innerWidth;
dark.addEventListener("change", () => draw(false));
addEventListener("resize", () => { if (innerWidth !== shown) { shown = innerWidth; draw(false); } });
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details")) details.open = true;
  draw(true);
});
addEventListener("afterprint", () => draw(false));

// A cell's number is in its data; what is missing comes last in either direction.
function sorted(rows, column, up) {
  const key = (row) => row.cells[column].dataset.v ?? row.cells[column].textContent;
  const words = new Intl.Collator("en", { numeric: true });
  return rows.map((row) => [key(row), row]).sort(([a], [b]) => {
    if (a === "NA" || b === "NA") return (a === "NA") - (b === "NA");
    const order = isNaN(a) || isNaN(b) ? words.compare(a, b) : a - b;
    return up ? order : -order;
  }).map(([, row]) => row);
}

for (const section of document.querySelectorAll("section.table")) {
  const body = section.querySelector("tbody"), heads = [...section.querySelectorAll("th")];
  heads.forEach((head, column) => head.firstElementChild.addEventListener("click", () => {
    const first = head.className === "number" ? "descending" : "ascending";
    const other = first === "ascending" ? "descending" : "ascending";
    const order = head.getAttribute("aria-sort") === first ? other : first;
    for (const one of heads) one.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", order);
    body.append(...sorted([...body.rows], column, order === "ascending"));
  }));
  const box = section.querySelector("input"), count = section.querySelector("output");
  box?.addEventListener("input", () => {
    const word = box.value.toLowerCase();
    let found = 0;
    for (const row of body.rows) {
      row.hidden = !row.textContent.toLowerCase().includes(word);
      found += !row.hidden;
    }
    count.textContent = word ? `${found.toLocaleString("en")} of ${body.rows.length.toLocaleString("en")} rows` : "";
  });
}

draw(false).then(() => { document.body.dataset.drawn = "yes"; });
