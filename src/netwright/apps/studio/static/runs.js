// The page of all runs: a table that follows the studio's events.

import { ask, element, find, say, table, trying } from "./elements.js";
import { openNotes } from "./note_form.js";
import { sparkline } from "./sparkline.js";

const CAN = {
  training: ["stop"],
  stopped: ["resume", "delete"],
  interrupted: ["resume", "delete"],
  finished: ["delete"],
  unreadable: [],
};
const COLUMNS = {
  run: (run) => run.name,
  state: (run) => run.state,
  "loss by step": (run) => lastLoss(run),
  result: (run) => run.value,
  epoch: (run) => run.epoch,
  model: (run) => run.model,
  data: (run) => run.data,
  seed: (run) => run.seed,
  began: (run) => run.began,
};
const TAG = "tag:";  // before the whole of a tag in the filter
const MOOD = { finished: "good", training: "live", unreadable: "bad", interrupted: "bad" };
const address = new URLSearchParams(location.search);
const ticked = new Set(address.getAll("tick"));
const sort = { by: address.get("sort") || "began", up: address.get("up") === "1" };
const stopping = new Set();  // asked to stop, and still training
let told = { runs: [], jobs: [] };

find("filter").value = address.get("filter") || "";
find("state").value = address.get("state") || "";

// The day and the time, neither of them broken.
function began(seconds) {
  const at = new Date(seconds * 1000);
  return `${at.toLocaleDateString([], { dateStyle: "short" })} ${at.toLocaleTimeString([], { timeStyle: "short" }).replace(/\s/g, "\u00a0")}`;
}

function lastLoss(run) {
  const line = run.curves["val/loss"] || run.curves["train/loss"] || [];
  return line.length ? line.at(-1)[1] : null;
}

const isCompared = (run) => run.state === "finished" && ticked.has(run.name);
const number = (value) => Number(value.toPrecision(4)).toString();

// What is shown is in the address, so that a link or a reload shows the same.
function remember() {
  const kept = new URLSearchParams();
  if (find("filter").value) kept.set("filter", find("filter").value);
  if (find("state").value) kept.set("state", find("state").value);
  if (sort.by !== "began" || sort.up) { kept.set("sort", sort.by); kept.set("up", sort.up ? "1" : "0"); }
  for (const name of ticked) kept.append("tick", name);
  history.replaceState(null, "", kept.size ? `?${kept}` : location.pathname);
}

const said = (run) => `${run.name} ${run.model} ${run.data} ${run.state} ${run.tags.join(" ")} ${run.note}`.toLowerCase();

function shown() {
  const words = find("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const state = find("state").value;
  const fits = (run) => (!state || run.state === state)
    && words.every((word) => (word.startsWith(TAG) ? run.tags.some((tag) => TAG + tag.toLowerCase() === word) : said(run).includes(word)));
  const value = COLUMNS[sort.by] || COLUMNS.began;
  const order = (a, b) => {
    const [x, y] = [value(a), value(b)];
    if (x === null || y === null) return (x === null) - (y === null);
    const before = typeof x === "number" ? x - y : String(x).localeCompare(String(y), undefined, { numeric: true });
    return sort.up ? before : -before;
  };
  return told.runs.filter(fits).sort(order);
}

function head() {
  const cells = Object.keys(COLUMNS).map((name) => {
    const isHere = sort.by === name;
    const mark = isHere ? (sort.up ? " ▲" : " ▼") : "";
    const turn = () => { sort.up = isHere ? !sort.up : name !== "began"; sort.by = name; draw(); };
    return element("th", { scope: "col", "aria-sort": isHere ? (sort.up ? "ascending" : "descending") : "none" },
      element("button", { type: "button", className: "plain", onclick: turn }, name + mark));
  });
  return element("tr", {}, element("th", { scope: "col" }, element("span", { className: "hidden" }, "tick")),
    ...cells, element("th", { scope: "col" }, element("span", { className: "hidden" }, "actions")));
}

function result(run) {
  if (run.value === null) {
    const loss = lastLoss(run);
    return loss === null ? [run.state === "unreadable" ? element("span", { className: "note-of" }, run.trouble) : ""] : [element("span", { className: "faint" }, `loss ${number(loss)} so far`)];
  }
  const beside = run.baseline === null ? "" : `baseline ${number(run.baseline)}`;
  return [element("b", {}, number(run.value)), ` ${run.metric} `, element("span", { className: "faint whole" }, beside)];
}

async function act(name, run) {
  if (name === "delete" && !confirm(`Move ${run.name} to the bin?`)) return;
  if (name === "stop") { stopping.add(run.name); draw(); }
  try {
    say((await ask(`/api/${name}`, { run: run.name })).said);
  } catch (error) {
    stopping.delete(run.name);
    draw();
    throw error;
  }
  if (name === "delete") ticked.delete(run.name);
  take(await ask("/api/runs"));
}

function actions(run) {
  if (stopping.has(run.name)) return [element("span", { className: "faint" }, "stopping")];
  const made = (name, action) => element("button", { type: "button", "aria-label": `${name} ${run.name}`, onclick: action }, name);
  const note = made("note", () => openNotes(run, async () => take(await ask("/api/runs"))));
  return [...(CAN[run.state] || []).map((name) => made(name, () => trying(() => act(name, run)))), ...(run.state === "unreadable" ? [] : [note])];
}

// Tags, each of which filters by itself, and the note.
function remarks(run) {
  const tags = run.tags.map((tag) => element("button", { type: "button", className: "tag", "aria-label": `only runs tagged ${tag}`,
    onclick: () => { find("filter").value = TAG + tag; draw(); } }, tag));
  return [...(tags.length ? [element("div", { className: "tags" }, ...tags)] : []),
    ...(run.note ? [element("div", { className: "faint note-of" }, run.note)] : []),
    ...(run.trouble && run.state !== "unreadable" ? [element("div", { className: "faint note-of" }, run.trouble)] : [])];
}

function rowOf(run) {
  const tick = element("input", {
    type: "checkbox", checked: isCompared(run), "aria-label": `compare ${run.name}`,
    disabled: run.state !== "finished",
    onchange: (event) => { ticked[event.target.checked ? "add" : "delete"](run.name); remember(); offer(); },
  });
  const name = run.has_report
    ? element("a", { href: `/report?run=${encodeURIComponent(run.name)}`, target: "_blank" }, run.name)
    : element("span", {}, run.name);
  const epochs = run.epochs && run.state !== "finished" ? `${run.epoch} of ${run.epochs}` : String(run.epoch || "");
  const cells = [
    [tick], [name, ...remarks(run)], [element("span", { className: `badge ${MOOD[run.state] || ""}` }, run.state)],
    [sparkline(run.curves)], result(run), [epochs],
    ...(run.state === "unreadable" ? [[], [], []] : [[run.model || "own"], [run.data || "own"], [String(run.seed)]]),
    [run.began ? began(run.began) : ""], actions(run),
  ];
  const names = ["", "", "", "", "", "epoch", "model", "data", "seed", "began", ""];
  return element("tr", { "data-run": run.name }, ...cells.map((parts, place) => {
    const cell = element("td", {}, ...parts);
    if (names[place]) cell.dataset.of = names[place];
    return cell;
  }));
}

function draw() {
  remember();
  offer();
  const focus = document.activeElement?.getAttribute("aria-label");
  const runs = shown();
  const body = runs.length ? element("table", { className: "many runs" },
    element("thead", {}, head()), element("tbody", {}, ...runs.map(rowOf)))
    : told.runs.length ? element("p", { className: "note" }, "No run fits the filter.")
    : element("p", {}, "There are no runs in this folder yet. ", element("a", { href: "/new" }, "Train one"), ", or watch a model learn in the ",
      element("a", { href: "/playground" }, "playground"), ".");
  find("runs").replaceChildren(element("div", { className: "scroll" }, body));
  if (focus) find("runs").querySelector(`[aria-label="${CSS.escape(focus)}"]`)?.focus();
  drawJobs();
}

function drawJobs() {
  const failed = told.jobs.filter((job) => job.said);
  find("jobs").replaceChildren(...failed.map((job) =>
    element("p", { className: "bad" }, element("code", {}, job.command), ` failed: ${job.said}`)));
}

function offer() {
  const chosen = told.runs.filter(isCompared).length;
  find("compare").disabled = chosen < 2;
  find("compare").textContent = chosen < 2 ? "Tick two runs to compare them" : `Compare ${chosen} runs`;
}

async function compare() {
  const asked = new URLSearchParams();
  for (const run of shown().reverse()) if (isCompared(run)) asked.append("run", run.name);
  const said = await ask(`/api/compare?${asked}`);
  find("comparison").replaceChildren(
    element("h3", {}, said.title), element("p", { className: "note" }, said.setting),
    table(said.rows, ["seeds", "mean", "std", "gap to first", "95 % interval", "parameters", "seconds per fit"]),
    ...said.remarks.map((words) => element("p", {}, words)),
    element("p", {}, element("a", { href: `/comparison?${asked}`, target: "_blank" }, "the whole page of this comparison")));
  say("");
}

function take(state) {
  told = state;
  const training = new Set(told.runs.filter((run) => run.state === "training").map((run) => run.name));
  for (const name of stopping) if (!training.has(name)) stopping.delete(name);
  draw();
}

find("filter").addEventListener("input", draw);
find("state").addEventListener("change", draw);
find("compare").addEventListener("click", () => trying(compare));
const events = new EventSource("/api/events");
events.onmessage = (event) => { take(JSON.parse(event.data)); find("runs").dataset.live = "yes"; };
events.onerror = () => say("The studio does not answer: it may have ended.", true);
events.onopen = () => say("");
