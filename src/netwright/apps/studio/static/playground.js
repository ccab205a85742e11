// The page of the playground: what is chosen is sent, and pictures come back while the model learns.

import { ask, element, find, say, trying } from "./elements.js";
import { fieldOf } from "./fields.js";
import { ImagePanel } from "./image_panel.js";
import { LossChart } from "./loss_chart.js";
import { Network } from "./network_picture.js";
import { OWN, wanted, withDrawing } from "./own_data.js";
import { watch } from "./picture_stream.js";
import { asText, Plane } from "./plane_picture.js";

const USUAL = { "model.hidden": "8,8", "model.activation": "tanh", "model.dropout": "0" };
const BUILT_IN = ["moons", "circles", "xor", "spirals", "blobs", "digits"];
const COUNTS = /^(id|index|row|number|unnamed: 0|)$|[_ ]id$/i;  // columns that tell rows apart, and nothing else
const UNITS = {
  plane: "Each square shows what one unit answers all over the plane",
  image: "A unit that reads the pixels shows its weights, a filter where in the image it responds, and any other unit has the colour of its answer"
};
// Settings of training that a playground does not heed: it computes on the CPU and keeps nothing.
const FIXED = [
  "log_every", "eval_every", "save_every", "save_steps", "keep", "keep_path", "track", "doctor", "profile",
  "precision", "compile", "activation_checkpointing", "capture", "onednn", "channels_last", "parallel",
  "offload", "rank_timeout", "workers", "device", "restore_best"
];
const address = new URLSearchParams(location.search);
let typed = {}, model = address.get("model") || "mlp", stage = "plane", readsImages = false, missing = "";
const made = Object.fromEntries(Object.entries(OWN).map(([data, { key }]) => [data, address.get(key) || ""]));
let name = "", isPlaying = false, leaving = new AbortController(), latest = null, inputs = ["x1", "x2"], formsOf = "", frame = 0, areUnitsNew = false;

for (const [path, value] of address) if (path.includes(".")) typed[path] = value;
if (!address.has("model")) typed = { ...USUAL, "train.optimizer": "adam", ...typed };
for (const [field, path] of [["rate", "train.lr"], ["noise", "data.noise"]]) if (typed[path]) find(field).value = typed[path];
for (const field of ["data", "seed", "speed"]) if (address.get(field)) find(field).value = address.get(field);
const gone = find("data").value ? "" : address.get("data");
if (gone) find("data").value = BUILT_IN[0];
typed["train.lr"] = find("rate").value;

const plane = new Plane(find("plane"), () => (find("brush").disabled ? "" : find("brush").value), paint);
const network = new Network(find("network"), (unit) => { find("shown").value = find("shown").value === String(unit) ? "" : String(unit); redraw(); });
const images = new ImagePanel(find("images"), (pixels) => trying(() => name && readsImages && !missing && act("look", { pixels })), (pixels, kind) => {
  made.drawn = withDrawing(made.drawn, pixels, kind);
  trying(change);
});
const chart = new LossChart(find("losses"));

const own = () => OWN[find("data").value];
const isFile = () => !own() && !BUILT_IN.includes(find("data").value);

function plan() {
  const data = find("data").value;
  const settings = Object.fromEntries(Object.entries(typed).filter(([path]) => !path.startsWith("data.") || !own()));
  return { data: own()?.like ?? data, model, settings, seed: Number(find("seed").value), ...(own() ? { [own().key]: own().rows(made[data]) } : {}) };
}

// What is shown is in the address, so that a link or a reload shows the same.
function remember() {
  const kept = new URLSearchParams({ data: find("data").value, model, seed: find("seed").value, speed: find("speed").value, ...typed });
  if (own()) kept.set(own().key, made[find("data").value]);
  for (const id of ["x", "y"]) if (isFile() && find(`column-${id}`)) kept.set(id, find(`column-${id}`).value);
  history.replaceState(null, "", `?${kept}`);
}

// The models that read such data, and the forms of the one that is chosen.
async function offer() {
  let told = await ask("/api/plan", { ...plan(), points: undefined, drawings: undefined });
  model = told.model;
  const key = [find("data").value, model].join("|");
  if (key !== formsOf) {
    formsOf = key;
    find("model").replaceChildren(...Object.entries(told.models).map(([one, sentence]) =>
      element("option", { value: one, selected: one === model, title: sentence }, one)));
    for (const section of ["model", "train"]) {
      find(`${section}-fields`).replaceChildren(...told.fields[section].filter((field) => section !== "train" || !FIXED.includes(field.name)).map((field) => fieldOf(section, field, typed, () => trying(change))));
    }
    offerActivations(told.fields.model.find((field) => field.name === "activation"));
    const noise = told.fields.data.find((field) => field.name === "noise");
    find("noise").disabled = Boolean(own()) || !noise;
    if (noise && !typed["data.noise"]) setNoise(String(noise.default));
    offerColumns(told.columns);
    if (isFile()) told = await ask("/api/plan", plan());  // now that its columns are known
  }
  const said = own() || !told.command ? [] : [element("p", { className: "note" }, "The same training as a command:"),
    element("pre", {}, element("code", {}, told.command))];
  find("command").replaceChildren(...said);
}

function setNoise(value) {
  const field = find("noise");
  if (![...field.options].some((one) => one.value === value)) field.append(element("option", { value }, value));
  field.value = value;
}

function offerActivations(field) {
  const chosen = typed["model.activation"] || field?.default;
  find("activation").replaceChildren(...(field ? field.options : ["(none)"]).map((one) => element("option", { value: one, selected: one === chosen }, one)));
  find("activation").disabled = !field;
}

// Of a table: the two columns that are the features, and the one that is predicted.
function offerColumns(names) {
  const telling = names.filter((one) => !COUNTS.test(one)), [x, y] = telling.length > 2 ? telling : names;
  const kept = (id, usual) => (names.includes(address.get(id)) ? address.get(id) : usual);
  const chosen = { x: kept("x", x), y: kept("y", y), target: typed["data.target"] || names.at(-1) };
  const fields = isFile() ? Object.entries({ x: "To the right", y: "Upwards", target: "Predicted" }) : [];
  find("columns").replaceChildren(...fields.map(([id, words]) => element("div", { className: "field" },
    element("label", { htmlFor: `column-${id}` }, words),
    element("select", { id: `column-${id}`, onchange: () => trying(async () => { chooseColumns(names); await change(); }) },
      ...names.map((one) => element("option", { value: one, selected: one === chosen[id] }, one))))));
  if (isFile()) chooseColumns(names);
}

function chooseColumns(names) {
  const [x, y, target] = ["x", "y", "target"].map((id) => find(`column-${id}`).value);
  typed["data.target"] = target;
  const dropped = names.filter((one) => ![x, y, target].includes(one));
  delete typed["data.drop"];
  if (dropped.length) typed["data.drop"] = JSON.stringify(dropped);
}

const act = (action, more = {}) => ask("/api/playground/act", { name, action, ...more });

// What a person has to make of the data before a model can learn from it; what it learned before is not shown.
function seeWhatIsMissing() {
  missing = own() ? wanted(own(), own().rows(made[find("data").value])) : "";
  if (missing) latest = null;
  return missing;
}

async function change() {
  remember();
  await offer();
  remember();
  if (seeWhatIsMissing()) {
    if (name) await act("pause");  // it learns from other data
    return say(missing);
  }
  if (name) await act("change", plan());
  else open(false);
  say("");
}

// A playground lives as long as its pictures are read.
function open(playing) {
  leaving.abort();
  leaving = new AbortController();
  const asked = { ...plan(), playing, speed: Number(find("speed").value) };
  watch(asked, take, leaving.signal)
    .then(() => { name = ""; showPlaying(false); say("The studio has ended this playground.", true); })
    .catch((error) => { if (error.name !== "AbortError") { name = ""; showPlaying(false); say(error.message, true); } });
}

function take(message) {
  const { numbers, arrays } = message;
  if (numbers.kind === "begun") name = numbers.name;
  else if (missing) return;  // it is of other data
  else if (numbers.kind === "opening") begin(numbers, arrays);
  else show(numbers, arrays);
}

function begin(told, arrays) {
  latest = null;
  inputs = told.features;
  readsImages = told.stage === "image";
  setStage(told.stage);
  if (stage === "image") images.open(told, arrays.images, Boolean(own()));
  else openPlane(told);
}

// A plane of points, or images: each has what is painted with or drawn on.
function setStage(kind) {
  stage = kind;
  const isImage = kind === "image";
  find("images").hidden = !isImage;
  for (const part of [find("plane"), find("keep"), find("brush").parentElement, find("shown").parentElement]) part.hidden = isImage;
  find("clear").hidden = isImage && find("data").value !== "drawn";
  find("clear").textContent = isImage ? "Remove all drawings" : "Remove all points";
}

function openPlane(told) {
  plane.open(told);
  find("brush").disabled = !plane.canBePainted;
}

function show(numbers, arrays) {
  latest = { step: numbers.step, taken: numbers.taken ?? latest?.taken, arrays: { ...latest?.arrays, ...arrays } };  // units come less often
  areUnitsNew ||= Boolean(arrays.units);
  if (numbers.step < (chart.rows.at(-1)?.step ?? 0)) chart.clear();
  if (numbers.train) {
    chart.add(numbers.step, { train: numbers.train.loss, val: numbers.val?.loss });
    measures(numbers);
  }
  showPlaying(numbers.playing);
  if (numbers.kind === "end") say(numbers.said === "finished" ? "It has learned all that this model learns: start again, or change something." : numbers.said, numbers.said !== "finished");
  if (numbers.layers && network.open(numbers.layers, inputs, UNITS[stage])) offerUnits(numbers.layers);
  frame ||= requestAnimationFrame(drawNewest);
}

// Once for each frame of the screen: what came meanwhile is not seen by anybody.
function drawNewest() {
  frame = 0;
  if (!latest) return;  // another plan has begun since the frame was asked for
  redraw(areUnitsNew);
  areUnitsNew = false;
  find("stage").dataset.pictures = Number(find("stage").dataset.pictures || 0) + 1;
  find("stage").dataset.step = latest.step;
}

function redraw(withUnits = true) {
  if (!latest) return;
  const { arrays } = latest;
  if (stage === "image") {
    images.draw(arrays, latest.taken);
    if (withUnits) network.draw(arrays, null);
    return;
  }
  const unit = find("shown").value === "" || !arrays.units ? null : Number(find("shown").value);
  plane.draw(arrays, unit);
  if (withUnits) network.draw(arrays, unit);
}

function measures(numbers) {
  const rows = ["train", "val"].filter((split) => numbers[split]).flatMap((split) => Object.entries(numbers[split]).map(([measure, value]) =>
    [`${measure}, ${split === "train" ? "learned from" : "held out"}`, value === null ? "not finite" : Number(value.toPrecision(4)).toString()]));
  find("measures").replaceChildren(...[["steps", String(numbers.step)], ...rows].map(([label, value]) => element("div", { className: "tile" },
    element("div", { className: "label" }, label), element("div", { className: "value" }, value))));
}

function offerUnits(layers) {
  let number = 0;
  const units = layers.flatMap((layer, place) => Array.from({ length: Math.min(16, layer.units) }, (_, unit) => {
    number += 1;
    return element("option", { value: String(number - 1) }, `unit ${unit + 1} of layer ${place + 1}`);
  }));
  find("shown").replaceChildren(element("option", { value: "" }, "decision regions"), ...units);
}

function showPlaying(playing) {
  isPlaying = playing;
  find("play").textContent = playing ? "Pause" : "Play";
}

function paint(points) {
  if (!own()) find("data").value = "painted";
  made.painted = asText(points);
  trying(change);
}

async function chooseData() {
  for (const path of Object.keys(typed)) if (path.startsWith("data.")) delete typed[path];
  if (seeWhatIsMissing()) openOwn();
  if (find("data").value === "painted" && !find("brush").value) find("brush").value = "0";
  await change();
}

// What is painted or drawn on while the studio cannot be asked.
function openOwn() {
  if (find("data").value === "painted") {
    setStage("plane");
    const points = { train: OWN.painted.rows(made.painted) };
    openPlane({ x: [-1, 1], y: [-1, 1], points, features: ["x1", "x2"], target: "class", classes: ["0", "1"] });
  } else {
    setStage("image");
    images.open({ shape: [1, 8, 8], classes: [], targets: [], held: 0, notes: [] }, { bytes: new Uint8Array(0) }, true);
  }
}

async function keep() {
  const rows = OWN.painted.rows(made.painted).map(([x, y, target]) => `${x.toFixed(4)},${y.toFixed(4)},class ${target}`);
  const body = new Blob([["x1,x2,class", ...rows].join("\n"), "\n"]);
  const reply = await fetch("/api/upload?name=points.csv", { method: "POST", body });
  const told = await reply.json();
  if (!reply.ok) throw new Error(told.error);
  find("data").append(element("option", { value: told.path }, `in this folder: ${told.path}`));
  say(`kept as ${told.path}: it can be trained on as any table`);
}

const on = (field, event, action) => find(field).addEventListener(event, () => trying(action));
on("play", "click", async () => { showPlaying(!isPlaying); if (name) await act(isPlaying ? "play" : "pause"); else open(isPlaying); });
on("step", "click", () => (name ? act("step") : open(false)));
on("restart", "click", async () => { chart.clear(); await (name ? act("restart", plan()) : open(false)); });
on("speed", "change", async () => { remember(); if (name) await act("speed", { speed: Number(find("speed").value) }); });
on("rate", "change", async () => { typed["train.lr"] = find("rate").value; await change(); });
on("noise", "change", async () => { typed["data.noise"] = find("noise").value; await change(); });
on("activation", "change", async () => { typed["model.activation"] = find("activation").value; await change(); });
on("seed", "change", change);
on("data", "change", chooseData);
on("shown", "change", () => redraw());
on("keep", "click", keep);
on("clear", "click", () => { find("data").value = stage === "image" ? "drawn" : "painted"; made[find("data").value] = ""; return chooseData(); });
on("model", "change", async () => {
  for (const path of Object.keys(typed)) if (path.startsWith("model.")) delete typed[path];
  model = find("model").value;
  if (model === "mlp") typed = { ...USUAL, ...typed };
  await change();
});
new ResizeObserver(() => redraw()).observe(find("stage"));
find("plan").addEventListener("submit", (event) => event.preventDefault());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { if (plane.told) plane.open(plane.told); redraw(); });
setStage("plane");
trying(async () => {
  await (own() ? chooseData : change)();
  if (gone) say(`There is no data ${gone} in this folder: ${find("data").value} are shown in their place.`, true);
});
