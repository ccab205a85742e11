// The page on which a run is asked, in the form that suits its inputs.

import { address, offerRuns, remember, showCommand } from "./chosen_run.js";
import { drawingOf, takesDrawing } from "./drawing.js";
import { ask, element, find, say, table, trying } from "./elements.js";
import { shownView, viewOf } from "./shown_view.js";

let told = null, drawing = null, picture = null, asked = null;
const explanation = element("div");
const reasons = element("details", { id: "hangs-on", ontoggle: () => trying(explain) }, element("summary", {}, "What the answer hangs on"), explanation);

const name = () => find("run").value;
const MOST_FIELDS = 200;
const isForecast = () => told.takes.first_row > 0;  // of a table: one row alone is not enough
const isRow = () => !isForecast() && told.takes.keys.includes("rows") && told.takes.columns.length > 0 && told.takes.columns.length <= MOST_FIELDS;
const jsonKey = () => (told.takes.keys.includes("inputs") ? "inputs" : "rows");
const given = (field) => address.get(`asked.${field}`) || "";
const values = () => Object.fromEntries([...find("asked").elements].filter((one) => one.name).map((one) => [one.name, one.value]));

// Under names of their own: a column may be called `run`.
const keep = (fields) => remember({ run: name(), ...Object.fromEntries(Object.entries(fields).map(([field, value]) => [`asked.${field}`, value])) });

function field(label, input, hint = "") {
  input.id = `asked-${input.name}`;
  return element("div", { className: "field" }, element("label", { htmlFor: input.id }, label), input,
    ...(hint ? [element("small", {}, hint)] : []));
}

function columnField(column) {
  const value = given(column.name);
  if (column.values) {
    return field(column.name, element("select", { name: column.name }, ...["", ...column.values].map((one) =>
      element("option", { value: one, selected: one === value }, one || "(missing)"))));
  }
  if (column.example) {
    return field(column.name, element("input", { type: "text", name: column.name, value }), `a number, written as ${column.example}`);
  }
  if (column.type === "number") {
    return field(column.name, element("input", { type: "text", inputMode: "decimal", name: column.name, value }));
  }
  return field(column.name, element("textarea", { rows: 3, name: column.name, value }));
}

function fields() {
  drawing = picture = null;
  const { keys, media, columns, shape } = told.takes;
  if (told.generates) {
    return [field("Prompt", element("textarea", { rows: 3, name: "prompt", value: given("prompt") })),
      field("Tokens", element("input", { type: "number", name: "max_tokens", value: 100, min: 1 }), "how long the text may become"),
      field("Temperature", element("input", { type: "number", step: "any", name: "temperature", value: 1 }), "lower: likelier words")];
  }
  if (isForecast()) {
    const before = told.takes.first_row, head = columns.map((column) => (/[",\n]/.test(column.name) ? JSON.stringify(column.name).replaceAll('\\"', '""') : column.name)).join(",");
    return [field("Rows as CSV", element("textarea", { rows: 14, name: "table", value: `${head}\n` }),
      `the oldest first, ${before + 1} at least: each row after the first ${before} is forecast from the ${before} before it`)];
  }
  if (isRow()) return columns.map(columnField);
  if (keys.includes("texts")) return [field("Text", element("textarea", { rows: 3, name: "text", value: given("text") }))];
  if (takesDrawing(told.takes)) {
    const [, height, width] = shape;
    drawing = drawingOf(width, height, () => trying(question));
    const clear = element("button", { type: "button", onclick: () => { drawing.clear(); find("answer").replaceChildren(); } }, "Clear");
    const pad = element("div", {}, drawing.canvas, element("div", {}, clear), element("small", { className: "faint" }, "Draw on the black square: each stroke is answered."));
    if (!media.includes("image/*")) return [pad];
    picture = element("input", { type: "file", accept: "image/*", name: "picture", onchange: () => trying(question) });
    return [pad, field("Or a picture", picture)];
  }
  const zeros = (sizes) => sizes.length ? Array(sizes[0]).fill(zeros(sizes.slice(1))) : 0;
  const inJson = (value) => element("textarea", { rows: 8, name: jsonKey(), value: JSON.stringify([value]) });
  if (jsonKey() === "inputs") return [field("Inputs as JSON", inJson(zeros(shape)), `of shape ${shape.join(" x ")}`)];
  const row = Object.fromEntries(columns.map((column) => [column.name, column.type === "number" ? 0 : column.example ?? column.values?.[0] ?? ""]));
  return [field("Rows as JSON", inJson(row), `of ${columns.length} columns`)];
}

async function choose() {
  find("answer").replaceChildren();
  find("command").replaceChildren();
  told = await ask(`/api/run?run=${encodeURIComponent(name())}`);
  find("fields").replaceChildren(...fields());
  remember({ run: name() });
  const silent = !told.generates && !told.takes.keys.length;
  find("ask").disabled = silent;
  say(silent ? "This run predicts nothing by itself." : "", silent);
}

// A row as the command reads it: pairs where no sign of a cell could be taken for one between them. Cells are texts, as there.
function asTyped(row) {
  const pairs = Object.entries(row), isClear = (word) => word === word.trim() && !word.includes(",");
  const isPlain = pairs.every(([column, cell]) => isClear(column) && isClear(cell) && !/[={]/.test(column));
  return isPlain ? pairs.map((pair) => pair.join("=")).join(",") : JSON.stringify(row);
}

const proba = () => (["class", "labels"].includes(told.gives.target) ? ["--proba"] : []);

async function sent() {
  const fields = values();
  if (drawing) {
    const sent = picture?.files[0] ? [picture.files[0], "image/png"] : await drawing.asTaken(told.takes);
    if (picture) picture.value = "";
    return [...sent, picture ? ["netwright", "predict", name(), "picture.png", ...proba()] : []];
  }
  if (isForecast()) return [fields.table, "text/csv", ["netwright", "predict", name(), "rows.csv"]];
  if (isRow()) {
    const row = Object.fromEntries(told.takes.columns.map((column) => [column.name, fields[column.name]]));
    return [JSON.stringify({ rows: [row] }), "application/json", ["netwright", "predict", name(), "--row", asTyped(row), ...proba()]];
  }
  if ("text" in fields) return [JSON.stringify({ texts: [fields.text] }), "application/json", ["netwright", "predict", name(), "texts.txt"]];
  return [`{"${jsonKey()}": ${fields[jsonKey()]}}`, "application/json", []];
}

const share = (part) => (part < 0.00005 ? "< 0.0001" : part.toFixed(4));
const bar = (part) => element("progress", { max: 1, value: part, "aria-hidden": "true" });

// Of one input: the prediction by the name of its target, and the probability of each class.
function answered(answer) {
  const isPart = ([label, value]) => label.startsWith("p(") && typeof value === "number";
  const parts = Object.entries(answer).filter(isPart).sort((a, b) => b[1] - a[1]);
  const rows = parts.slice(0, 20).map(([label, value]) => element("tr", {}, element("td", {}, label),
    element("td", { className: "number" }, share(value)), element("td", {}, bar(value))));
  const said = Object.entries(answer).filter((entry) => !isPart(entry)).map(([label, value]) => label === "mask"
    ? element("img", { alt: "the predicted mask", src: `data:image/png;base64,${value}`, className: "mask" })
    : element("div", { className: "tile" }, element("div", { className: "label" }, label === "prediction" ? label : `prediction: ${label}`), element("div", { className: "value" },
      typeof value === "number" ? Number(value.toPrecision(5)).toString() : typeof value === "object" ? JSON.stringify(value) : value)));
  return element("div", {}, element("div", { className: "tiles" }, ...said), element("table", {}, element("tbody", {}, ...rows)));
}

async function question() {
  if (told.generates) return generate();
  const [body, media, words] = await sent();
  const reply = await fetch(`/api/predict?run=${encodeURIComponent(name())}`, { method: "POST", body, headers: { "Content-Type": media } });
  const said = await reply.json();
  if (!reply.ok) throw new Error(said.error);
  find("answer").replaceChildren(...(isForecast() ? [table(said.answers, Object.keys(said.answers[0] ?? {}))] : said.answers.map(answered)),
    ...(said.remarks || []).map((remark) => element("p", { className: "bad" }, remark)), reasons);
  if (words.length) showCommand(words);
  if (!drawing) keep(isRow() || "text" in values() ? values() : {});  // JSON is too long for an address
  say("");
  asked = { body, media };
  explanation.replaceChildren();
  await explain();
}

// How far the answer falls when a part of the input is hidden. It is measured only while it is open: the training mean that
// hides a part is that of the run's data, which takes a while to load.
async function explain() {
  if (!reasons.open || explanation.hasChildNodes()) return;
  const mine = asked;
  explanation.replaceChildren(element("p", { className: "faint" }, "measuring ..."));
  const found = await viewOf({ run: name(), view: "occlusion" }, mine.body, mine.media).then(shownView).catch((error) => [element("p", { className: "faint" }, error.message)]);
  if (asked === mine) explanation.replaceChildren(...found);
}

async function generate() {
  const { prompt, max_tokens, temperature } = values();
  const body = JSON.stringify({ prompt, max_tokens: Number(max_tokens), temperature: Number(temperature) });
  const reply = await fetch(`/api/generate?run=${encodeURIComponent(name())}`, { method: "POST", body, headers: { "Content-Type": "application/json" } });
  if (!reply.ok) throw new Error((await reply.json()).error);
  const text = element("code", {}, prompt);
  find("answer").replaceChildren(element("pre", {}, text));
  showCommand(["netwright", "generate", name(), prompt, "--max-tokens", max_tokens, "--temperature", temperature]);
  const pieces = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let piece = await pieces.read(); !piece.done; piece = await pieces.read()) text.append(piece.value);
  keep({ prompt });
  say("");
}

find("ask").addEventListener("click", () => trying(question));
find("asked").addEventListener("submit", (event) => { event.preventDefault(); trying(question); });
trying(() => offerRuns(choose, "ask"));
