// The page of `classify serve`: sends reads, follows the answer as it comes, and shows what they are.
"use strict";

const MAX_ROWS = 200000; // reads that the table keeps; counts and downloads have all
const PAGE_ROWS = 25;
const FEWEST_RINGS = 2, MOST_RINGS = 6;
const CENTER = 74, EDGE = 294;
const ARC_LEAST = 0.004; // radians; narrower arcs are left out
const ZOOM_MS = 420;
const COLUMNS = [
  ["read", "Read"], ["length", "Length (bp)", "right"], ["name", "Taxon"], ["rank", "Rank"], ["taxid", "Taxid", "right"],
  ["hits", "Hits", "right"], ["target", "Best target"],
];
const RANKS = {U: "unclassified", R: "root", D: "domain", K: "kingdom", P: "phylum", C: "class", O: "order", F: "family", G: "genus", S: "species"};

const at = (id) => document.getElementById(id);
const whole = new Intl.NumberFormat("en");
const count = (number, what) => `${whole.format(number)} ${what}${number === 1 ? "" : "s"}`;
const percent = (share) => `${(100 * share).toFixed(share >= 0.0995 || share === 0 ? 1 : 2)} %`;
const short = new Intl.NumberFormat("en", {notation: "compact", maximumFractionDigits: 1});
const bases = (size) => (size < 1e6 ? [(size / 1e3).toFixed(1), "kbp"] : size < 1e9 ? [(size / 1e6).toFixed(1), "Mbp"] : [(size / 1e9).toFixed(1), "Gbp"]);
const bytes = (size) => (size < 1e6 ? `${(size / 1e3).toFixed(1)} kB` : `${(size / 1e6).toFixed(1)} MB`);

function make(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

function draw(name, attributes = {}, text = "") {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.textContent = text;
  return element;
}

// ---- The server -----------------------------------------------------------------------------------------------------

async function askServer() {
  try {
    const info = await (await fetch("/info")).json();
    const database = info.database;
    const device = info.device.split(" (")[0];
    at("database").textContent = `${count(database.targets, "reference sequence")}, ${whole.format(database.taxa)} taxa, on ${device}`;
    showTiles("facts", [
      ["reference sequences", whole.format(database.targets), ""], ["taxa", whole.format(database.taxa), ""],
      ["of references", ...bases(database.letters)], ["features", short.format(database.features), ""],
    ]);
  } catch {
    at("database").textContent = "The server does not answer.";
  }
}

async function askHealth() {
  const state = at("state");
  try {
    const health = await (await fetch("/health")).json();
    state.textContent = health.status !== "ok" ? "ending" : health.held ? `${count(health.held, "request")} at work` : "ready";
    state.className = health.status === "ok" ? "state ok" : "state bad";
  } catch {
    state.textContent = "not reached";
    state.className = "state bad";
  }
}

function address(format) {
  const words = new URLSearchParams({format});
  if (at("lowest").value) words.set("lowest", at("lowest").value);
  if (at("interleaved").checked) words.set("interleaved", "1");
  return `/classify?${words}`;
}

// Sends the file; `progress` hears of bytes sent, `answered` of the text so far. Waits and tries again while the server is busy.
function classify(file, format, {sent = () => {}, answered = () => {}, waits = () => {}, signal} = {}) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const fail = (message) => reject(new Error(message));
    request.open("POST", address(format));
    request.responseType = "text";
    request.upload.onprogress = (event) => sent(event.loaded, event.total);
    request.upload.onload = () => sent(file.size, file.size);
    request.onprogress = () => request.status === 200 && answered(request.responseText);
    request.onerror = () => fail("The answer broke off. The reads may be damaged; the server's messages say more.");
    request.onabort = () => fail("");
    request.onload = () => {
      if (request.status === 200) {
        resolve(request.responseText);
      } else if (request.status === 429) {
        const seconds = Number(request.getResponseHeader("Retry-After")) || 1;
        waits(seconds);
        setTimeout(() => (signal?.aborted ? fail("") : classify(file, format, {sent, answered, waits, signal}).then(resolve, reject)), 1000 * seconds);
      } else {
        let message = `The server answered with status ${request.status}.`;
        try { message = JSON.parse(request.responseText).error; } catch { /* it is no JSON */ }
        fail(message);
      }
    };
    signal?.addEventListener("abort", () => request.abort());
    request.send(file);
  });
}

// Reads of a file, counted by this browser, or null where it cannot decompress the file.
async function countReads(file, signal) {
  try {
    const head = new Uint8Array(await file.slice(0, 2).arrayBuffer());
    const packed = head[0] === 0x1f && head[1] === 0x8b;
    const stream = packed ? file.stream().pipeThrough(new DecompressionStream("gzip")) : file.stream();
    let lines = 0, records = 0, fasta = null, fresh = true, reader = stream.getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      if (signal.aborted) return null;
      const data = part.value;
      if (fasta === null && data.length) fasta = data[0] === 0x3e;
      for (let place = 0; place < data.length; ) {
        if (fresh && data[place] === 0x3e) records += 1;
        const end = data.indexOf(10, place);
        fresh = end >= 0;
        lines += fresh ? 1 : 0;
        place = fresh ? end + 1 : data.length;
      }
    }
    return fasta ? records : Math.ceil(lines / 4);
  } catch {
    return null;
  }
}

// ---- A run ----------------------------------------------------------------------------------------------------------

let run = null; // the file, its rows and its tree

async function start(file) {
  run?.abort.abort();
  const abort = new AbortController(), began = performance.now();
  const current = {file, abort, rows: [], reads: 0, classified: 0, taxa: new Set(), seen: 0, total: null, json: ""};
  run = current;
  at("error").hidden = at("result").hidden = at("welcome").hidden = true;
  at("work").hidden = false;
  at("work-title").textContent = file.name;
  at("work-text").textContent = "";
  at("invite").textContent = "Drop other reads, or choose a file";
  at("form").classList.add("after");
  showSent(0, file.size);
  showDone(current, began);
  countReads(file, abort.signal).then((reads) => {
    current.total = reads && at("interleaved").checked ? Math.ceil(reads / 2) : reads;
    showDone(current, began);
  });
  try {
    const options = {
      signal: abort.signal,
      sent: showSent,
      waits: (seconds) => { at("work-text").textContent = `The server is busy; trying again in ${seconds} s.`; },
    };
    const answered = (text) => { takeLines(current, text); showDone(current, began); };
    current.json = await classify(file, "json", {...options, answered});
    answered(current.json);
    at("work-text").textContent = "Counting taxa";
    const seconds = (performance.now() - began) / 1000;
    current.kreport = await classify(file, "kreport", {...options, sent: () => {}});
    if (run === current) showResult(current, seconds);
  } catch (error) {
    if (run !== current) return;
    at("work").hidden = true;
    at("error").textContent = error.message;
    at("error").hidden = !error.message;
  }
  askHealth();
}

function takeLines(current, text) {
  for (let end = text.indexOf("\n", current.seen); end >= 0; end = text.indexOf("\n", current.seen)) {
    const read = JSON.parse(text.slice(current.seen, end)), best = read.candidates[0];
    current.seen = end + 1;
    current.reads += 1;
    if (read.name !== null) {
      current.classified += 1;
      current.taxa.add(read.name);
    }
    if (current.rows.length < MAX_ROWS) {
      current.rows.push({
        read: read.read, length: read.length + (read.mate_length ?? 0), name: read.name ?? "", rank: read.rank ?? "",
        taxid: read.taxid, hits: best?.hits ?? 0, target: best?.target ?? "",
      });
    }
  }
}

function showSent(done, total) {
  at("sent").value = total ? done / total : 0;
  at("sent-text").textContent = `${bytes(done)} of ${bytes(total)}`;
}

function showDone(current, began) {
  const bar = at("done"), seconds = (performance.now() - began) / 1000;
  if (current.total) bar.value = Math.min(1, current.reads / current.total);
  else bar.removeAttribute("value");
  const rate = current.reads ? `, ${whole.format(Math.round(current.reads / seconds))} per s` : "";
  at("done-text").textContent = `${count(current.reads, "read")}${rate}`;
}

function showTiles(id, facts) {
  at(id).replaceChildren(...facts.map(([what, number, more]) =>
    make("div", {}, make("dt", {textContent: what}), make("dd", {textContent: number}, make("small", {textContent: more})))));
}

function showResult(current, seconds) {
  at("work").hidden = true;
  at("result").hidden = false;
  const share = current.reads ? current.classified / current.reads : 0;
  const facts = [
    ["reads or pairs", whole.format(current.reads), ""], ["classified", percent(share), whole.format(current.classified)],
    ["taxa", whole.format(current.taxa.size), ""], ["seconds, upload included", seconds.toFixed(2), ""],
  ];
  showTiles("tiles", facts);
  current.tree = treeOf(current.kreport);
  table.sort = "";
  at("search").value = "";
  choose(current.tree);
  at("result").scrollIntoView({block: "start"});
}

// ---- The tree of taxa -----------------------------------------------------------------------------------------------

function treeOf(kreport) {
  const all = {name: "All reads", rank: "", taxid: -1, reads: 0, own: 0, below: [], above: null, level: 0};
  const path = [all];
  for (const line of kreport.split("\n").filter(Boolean)) {
    const [, clade, own, letter, taxid, indented] = line.split("\t");
    const name = indented.trimStart(), depth = (indented.length - name.length) / 2 + 1;
    const rank = letter.length > 1 ? `below ${RANKS[letter[0]]}` : RANKS[letter];
    const node = {name, rank, taxid: Number(taxid), reads: Number(clade), own: Number(own), below: [], above: path[depth - 1]};
    node.above.below.push(node);
    path.splice(depth, path.length, node);
  }
  all.reads = all.below.reduce((sum, node) => sum + node.reads, 0);
  simplify(all);
  place(all, 0, 2 * Math.PI);
  colour(all);
  return all;
}

// Ranks that tell nothing apart (one taxon, the same reads) are left out of the picture; their taxids stay for the table.
function simplify(node) {
  node.taxids = new Set([node.taxid]);
  for (const below of node.below) below.above = node;
  while (node.below.length === 1 && node.below[0].reads === node.reads && node.taxid !== -1) {
    const only = node.below[0];
    Object.assign(node, {name: only.name, rank: only.rank, taxid: only.taxid, own: only.own, below: only.below});
    node.taxids.add(only.taxid);
    for (const below of node.below) below.above = node;
  }
  if (node.taxid === -1) { // the root is no ring of its own
    node.below = node.below.flatMap((below) => {
      if (below.rank !== "root" && below.taxid !== 1) return [below];
      node.own += below.own;
      node.taxids.add(below.taxid);
      return below.below;
    });
    for (const below of node.below) below.above = node;
  }
  for (const below of node.below) {
    simplify(below);
    below.taxids.forEach((taxid) => node.taxids.add(taxid));
  }
  node.below.sort((a, b) => (a.taxid === 0) - (b.taxid === 0) || b.reads - a.reads);
}

function place(node, begin, end, level = 0) {
  Object.assign(node, {begin, end, level});
  let from = begin;
  for (const below of node.below) {
    const to = from + ((end - begin) * below.reads) / (node.reads || 1);
    place(below, from, to, level + 1);
    from = to;
  }
}

function colour(node) {
  const turn = 220 + (360 * (node.begin + node.end)) / (4 * Math.PI) * 0.92;
  node.colour = node.taxid === 0 || node.level === 0 ? "var(--quiet)"
    : `oklch(calc(var(--arc-light) + ${Math.min(4, node.level - 1)} * var(--arc-step)) var(--arc-chroma) ${turn.toFixed(1)})`;
  node.below.forEach(colour);
}

// Taxa that reads were called, those with most reads first.
const called = (node) => [node, ...node.below.flatMap(called)].filter((taxon) => taxon.own).sort((a, b) => b.own - a.own || a.level - b.level);
const inside = (node, taxon) => node === taxon || (node.above !== null && inside(node.above, taxon));
const depth = (node) => Math.max(0, ...node.below.map((below) => 1 + depth(below)));
const lineage = (node) => (node.above ? [...lineage(node.above), node] : [node]);

// ---- The sunburst ---------------------------------------------------------------------------------------------------

let chosen = null, view = null;

function choose(node) {
  const shown = node.below.length || !node.above ? node : node.above; // a taxon with none below it is seen among its neighbours
  const to = {begin: shown.begin, end: shown.end, level: shown.level, rings: Math.min(MOST_RINGS, Math.max(FEWEST_RINGS, depth(shown)))};
  const from = view ?? to;
  const still = chosen === null || !inside(node, run.tree) || !inside(chosen, run.tree) || matchMedia("(prefers-reduced-motion: reduce)").matches;
  chosen = node;
  showChosen();
  showTable();
  const began = performance.now();
  const step = (now) => {
    const done = still ? 1 : Math.min(1, (now - began) / ZOOM_MS), ease = 1 - (1 - done) ** 3;
    view = Object.fromEntries(Object.keys(to).map((key) => [key, from[key] + (to[key] - from[key]) * ease]));
    if (chosen !== node) return;
    drawArcs(done === 1);
    look(null);
    if (done < 1) requestAnimationFrame(step);
  };
  step(began);
}

function drawArcs(last) {
  const picture = at("sunburst"), arcs = [], labels = [];
  const width = (EDGE - CENTER) / view.rings;
  const angle = (value) => Math.max(0, Math.min(1, (value - view.begin) / (view.end - view.begin || 1))) * 2 * Math.PI;
  const visit = (node) => {
    const begin = angle(node.begin), end = angle(node.end), ring = node.level - view.level - 1;
    if (end - begin < ARC_LEAST || ring >= view.rings - 0.01) return;
    if (ring > -1) {
      const inner = CENTER + Math.max(0, ring) * width, outer = CENTER + (ring + 1) * width;
      arcs.push(arcOf(node, begin, end, inner, outer));
      if (last) labels.push(...labelOf(node, begin, end, (inner + outer) / 2, width));
    }
    node.below.forEach(visit);
  };
  visit(run.tree);
  const center = draw("circle", {class: "center", r: CENTER - 4});
  if (chosen.above) {
    center.append(draw("title", {}, `Back to ${chosen.above.name}`));
    center.onclick = () => choose(chosen.above);
  }
  picture.replaceChildren(...arcs, ...labels, center, ...centerText(chosen));
}

function arcOf(node, begin, end, inner, outer) {
  const point = (radius, turn) => `${(radius * Math.sin(turn)).toFixed(2)} ${(-radius * Math.cos(turn)).toFixed(2)}`;
  const stop = Math.min(end, begin + 2 * Math.PI - 1e-4), wide = stop - begin > Math.PI ? 1 : 0;
  const arc = draw("path", {
    class: "arc", role: "button", tabindex: stop - begin > 0.06 ? 0 : -1, "aria-label": spoken(node),
    d: `M${point(outer, begin)}A${outer} ${outer} 0 ${wide} 1 ${point(outer, stop)}L${point(inner, stop)}A${inner} ${inner} 0 ${wide} 0 ${point(inner, begin)}Z`,
  });
  arc.style.fill = node.colour;
  arc.taxon = node;
  arc.onclick = () => choose(node);
  arc.onkeydown = (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(node); at("crumbs").lastChild.firstChild.focus?.(); } };
  arc.onpointermove = (event) => { look(node); showTip(node, event); };
  arc.onfocus = () => look(node);
  arc.onpointerleave = arc.onblur = () => { look(null); at("tip").hidden = true; };
  return arc;
}

// The name along the arc, or across it, where there is room for a good part of it.
function labelOf(node, begin, end, radius, width) {
  const along = (end - begin) * radius - 14, across = width - 8, letter = 6.7;
  const middle = (begin + end) / 2;
  const fitted = (room) => (node.name.length * letter <= room ? node.name : `${node.name.slice(0, Math.floor(room / letter) - 1)}\u2026`);
  const least = Math.min(node.name.length, 12) * letter, tone = node.level > 2 ? "label dark" : "label";
  if (along > least) {
    const low = middle > Math.PI / 2 && middle < 1.5 * Math.PI, id = `arc${node.taxid}`;
    const [from, to] = low ? [end, begin] : [begin, end], line = low ? radius + 4 : radius - 4;
    const point = (turn) => `${(line * Math.sin(turn)).toFixed(2)} ${(-line * Math.cos(turn)).toFixed(2)}`;
    const path = draw("path", {id, fill: "none", d: `M${point(from)}A${line} ${line} 0 ${end - begin > Math.PI ? 1 : 0} ${low ? 0 : 1} ${point(to - (end - begin > 6.28 ? 1e-3 : 0))}`});
    const text = draw("text", {class: tone, "text-anchor": "middle", "aria-hidden": "true"});
    text.append(draw("textPath", {href: `#${id}`, startOffset: "50%"}, fitted(along)));
    return [path, text];
  }
  if ((end - begin) * radius > 14 && least <= across) {
    const turn = (middle * 180) / Math.PI - 90, flip = middle > Math.PI ? 180 : 0;
    return [draw("text", {class: tone, "text-anchor": "middle", dy: "0.35em", "aria-hidden": "true", transform: `rotate(${turn}) translate(${radius} 0) rotate(${flip})`}, fitted(across))];
  }
  return [];
}

function centerText(node) {
  const share = run.tree.reads ? node.reads / run.tree.reads : 0;
  const back = node.above ? [draw("text", {class: "share-of", y: 46}, "\u2190 back")] : [];
  return [draw("text", {class: "share", y: 4}, percent(share)), draw("text", {class: "share-of", y: 25}, count(node.reads, "read")), ...back];
}

const spoken = (node) => `${node.name}, ${node.rank}, ${count(node.reads, "read")}, ${percent(node.reads / (run.tree.reads || 1))}`;

function look(taxon) {
  const node = taxon ?? (chosen.below.length ? null : chosen);
  at("sunburst").classList.toggle("looking", node !== null);
  for (const arc of at("sunburst").querySelectorAll(".arc")) arc.classList.toggle("on", node !== null && inside(node, arc.taxon));
  for (const button of at("below").querySelectorAll("button")) button.classList.toggle("on", taxon !== null && inside(taxon, button.taxon));
}

function showTip(node, event) {
  const tip = at("tip");
  tip.hidden = false;
  tip.replaceChildren(make("b", {textContent: node.name}), `${node.rank}, ${count(node.reads, "read")}, ${percent(node.reads / (run.tree.reads || 1))}`);
  tip.style.left = `${Math.min(event.clientX + 16, innerWidth - tip.offsetWidth - 8)}px`;
  tip.style.top = `${Math.min(event.clientY + 16, innerHeight - tip.offsetHeight - 8)}px`;
}

function showChosen() {
  const tree = run.tree;
  at("crumbs").replaceChildren(...lineage(chosen).map((node) => {
    const button = make("button", {type: "button", textContent: node.name, onclick: () => choose(node)});
    if (node === chosen) button.setAttribute("aria-current", "true");
    return make("li", {}, button);
  }));
  at("chosen").textContent = chosen.name;
  at("chosen-text").textContent = `${chosen.rank ? `${chosen.rank}, ` : ""}${count(chosen.reads, "read")}. Most frequent calls:`;
  at("below").replaceChildren(...called(chosen).slice(0, 100).map((node) => {
    const dot = draw("svg", {viewBox: "0 0 10 10", "aria-hidden": "true"}), spot = draw("circle", {cx: 5, cy: 5, r: 5});
    const bar = draw("svg", {class: "bar", viewBox: "0 0 100 5", preserveAspectRatio: "none", "aria-hidden": "true"});
    const length = draw("rect", {height: 5, width: (100 * node.own) / (chosen.reads || 1)});
    spot.style.fill = length.style.fill = node.colour;
    dot.append(spot);
    bar.append(length);
    const name = make("span", {className: "name", textContent: node.name, title: node.name}, make("small", {textContent: node.taxid ? node.rank : ""}));
    const number = make("span", {className: "number", textContent: whole.format(node.own)});
    const share = make("span", {className: "number", textContent: percent(node.own / (tree.reads || 1))});
    const button = make("button", {type: "button", onclick: () => choose(node)}, dot, name, number, share, bar);
    button.taxon = node;
    button.onpointerenter = button.onfocus = () => look(node);
    button.onpointerleave = button.onblur = () => look(null);
    return make("li", {}, button);
  }));
  at("within-label").hidden = chosen === tree;
  at("within-name").textContent = chosen.name;
}

// ---- The table of reads ---------------------------------------------------------------------------------------------

const table = {sort: "", down: false, page: 0};

function rowsWanted() {
  const words = at("search").value.trim().toLowerCase();
  const taxa = chosen !== run.tree && at("within").checked ? chosen.taxids : null;
  const rows = run.rows.filter((row) => (!taxa || taxa.has(row.taxid))
    && (!words || `${row.read}\n${row.name}\n${row.target}\n${row.taxid}\n${row.rank}`.toLowerCase().includes(words)));
  if (table.sort) {
    const key = table.sort, sign = table.down ? -1 : 1;
    rows.sort((a, b) => sign * (typeof a[key] === "number" ? a[key] - b[key] : a[key].localeCompare(b[key], "en", {numeric: true})));
  }
  return rows;
}

function showTable(page = 0) {
  const rows = rowsWanted(), pages = Math.max(1, Math.ceil(rows.length / PAGE_ROWS));
  table.page = Math.max(0, Math.min(page, pages - 1));
  for (const cell of at("head").children) cell.setAttribute("aria-sort", cell.dataset.key !== table.sort ? "none" : table.down ? "descending" : "ascending");
  const colours = new Map();
  const note = (node) => { node.taxids.forEach((taxid) => colours.set(taxid, node.colour)); node.below.forEach(note); };
  note(run.tree);
  at("rows").replaceChildren(...rows.slice(table.page * PAGE_ROWS, (table.page + 1) * PAGE_ROWS).map((row) =>
    make("tr", {}, ...COLUMNS.map(([key, , side]) => cellOf(row, key, side, colours)))));
  const kept = run.reads > run.rows.length ? ` (the table has the first ${whole.format(run.rows.length)}; downloads have all)` : "";
  at("shown").textContent = `${whole.format(rows.length)} of ${count(run.reads, "read")}${kept}`;
  at("page").textContent = `${table.page + 1} / ${pages}`;
  at("before").disabled = table.page === 0;
  at("after").disabled = table.page === pages - 1;
}

function cellOf(row, key, side, colours) {
  const none = !row.name && ["name", "rank", "taxid"].includes(key), value = row[key];
  const text = none ? (key === "name" ? "unclassified" : "") : typeof value === "number" && key !== "taxid" ? whole.format(value) : String(value);
  const cell = make("td", {className: [side ?? "", none ? "none" : ""].join(" ").trim(), title: text});
  if (key === "name") {
    const dot = make("span", {className: "dot"});
    if (row.name && colours.has(row.taxid)) dot.style.background = colours.get(row.taxid);
    cell.append(dot);
  }
  cell.append(text);
  return cell;
}

// ---- Downloads, and what the user does ------------------------------------------------------------------------------

async function save(button) {
  const {format, name} = button.dataset, stem = run.file.name.replace(/(\.(fastq|fq|fasta|fa|fna|txt))?(\.gz)?$/i, "") || "reads";
  button.disabled = true;
  try {
    at("save-text").textContent = "";
    const waits = (seconds) => { at("save-text").textContent = `The server is busy; trying again in ${seconds} s.`; };
    const text = {json: run.json, kreport: run.kreport}[format] ?? (await classify(run.file, format, {waits}));
    const link = make("a", {href: URL.createObjectURL(new Blob([text])), download: stem + name});
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    at("save-text").textContent = `${link.download}, ${bytes(new Blob([text]).size)}`;
  } catch (error) {
    at("save-text").textContent = error.message;
  }
  button.disabled = false;
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  try { localStorage.setItem("theme", theme); } catch { /* nothing is kept */ }
}

function begin() {
  let theme = new URLSearchParams(location.search).get("theme");
  try { theme ??= localStorage.getItem("theme"); } catch { /* nothing was kept */ }
  setTheme(theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
  at("theme").onclick = () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  at("head").replaceChildren(...COLUMNS.map(([key, title, side]) => {
    const sort = () => { table.down = table.sort === key && !table.down; table.sort = key; showTable(); };
    const cell = make("th", {scope: "col", className: side ?? ""}, make("button", {type: "button", textContent: title, onclick: sort}));
    cell.dataset.key = key;
    return cell;
  }));
  const drop = at("drop");
  for (const kind of ["dragenter", "dragover"]) addEventListener(kind, (event) => { event.preventDefault(); drop.classList.add("over"); });
  for (const kind of ["dragleave", "drop"]) addEventListener(kind, (event) => { event.preventDefault(); drop.classList.remove("over"); });
  addEventListener("drop", (event) => event.dataTransfer.files.length && start(event.dataTransfer.files[0]));
  at("file").onchange = (event) => { if (event.target.files.length) start(event.target.files[0]); event.target.value = ""; };
  at("form").onsubmit = (event) => event.preventDefault();
  at("cancel").onclick = () => run.abort.abort();
  at("search").oninput = () => showTable();
  at("within").onchange = () => showTable();
  at("before").onclick = () => showTable(table.page - 1);
  at("after").onclick = () => showTable(table.page + 1);
  for (const button of at("saves").children) button.onclick = () => save(button);
  at("curl").textContent = `curl --data-binary @reads.fastq.gz '${location.origin}/classify?format=tsv'`;
  askServer();
  askHealth();
  setInterval(() => document.hidden || askHealth(), 5000);
}

begin();
