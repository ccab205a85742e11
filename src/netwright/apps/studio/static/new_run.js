// The page of a new run: each change asks the studio what it means.

import { ask, element, find, say, trying } from "./elements.js";
import { fieldOf } from "./fields.js";

const FIRST = ["epochs", "lr", "batch_size", "optimizer"];
const COLUMNS = ["target", "text", "source"];
const address = new URLSearchParams(location.search);
const typed = {};
let asked = 0, formsOf = "";

for (const [name, value] of address) if (name.includes(".")) typed[name] = value;
const wanted = address.get("data") || "";
find("data").value = wanted;
find("seed").value = address.get("seed") || "0";
let model = address.get("model") || "mlp";

function plan() {
  return { data: find("data").value, model, settings: typed, seed: Number(find("seed").value) };
}

// What is planned is in the address, so that a link or a reload shows the same.
function remember() {
  const { data, seed } = plan();
  const kept = new URLSearchParams({ data, model, ...(seed ? { seed } : {}), ...typed });
  history.replaceState(null, "", `?${kept}`);
}

function drawForms(told) {
  const key = [find("data").value, told.model, told.columns.join(), typed["data.text"] || "", typed["data.source"] || ""].join("|");
  if (key === formsOf) return;
  formsOf = key;
  model = told.model;
  find("model").replaceChildren(...Object.entries(told.models).map(([name, sentence]) =>
    element("option", { value: name, selected: name === model, title: sentence }, name)));
  find("model-hint").textContent = told.models[model] || "those that read such data";
  const usual = told.fields.model.filter((field) => field.kind !== "text" || field.options.length);  // no paths of files
  const first = [...usual.slice(0, 2).map((field) => ["model", field]),
    ...told.fields.train.filter((field) => FIRST.includes(field.name)).map((field) => ["train", field])];
  find("first").replaceChildren(...first.map(([section, field]) => fieldOf(section, field, typed, refresh)));
  const isShown = (section, field) => first.some(([, one]) => one === field)
    || (section === "data" && COLUMNS.includes(field.name));
  for (const section of ["model", "train", "data"]) {
    const fields = told.fields[section].filter((field) => !isShown(section, field));
    find(`${section}-fields`).replaceChildren(...fields.map((field) => fieldOf(section, field, typed, refresh)));
  }
  drawColumns(told);
}

function drawColumns(told) {
  const named = told.columns.length ? told.fields.data.filter((field) => COLUMNS.includes(field.name)) : [];
  const offered = named.length && !named.some((field) => field.name === "text")
    ? [...named, { name: "text", doc: "the column of texts, for a table of texts", kind: "text", default: null, bounds: "" }] : named;
  find("columns").replaceChildren(...offered.map((field) => fieldOf("data",
    { ...field, default: null, bounds: "", options: ["", ...told.columns] }, typed, refresh)));
}

async function refresh() {
  remember();
  const number = ++asked;
  find("train").disabled = find("doctor").disabled = true;
  if (!find("data").value) {
    find("told").hidden = true;
    return;
  }
  await trying(async () => {
    const told = await ask("/api/plan", plan());
    if (number !== asked) return;  // a later change is on its way
    drawForms(told);
    remember();
    say(told.error, true);
    find("told").hidden = !told.command;
    for (const name of ["command", "yaml", "python"]) {
      find(name).replaceChildren(...(told[name] ? [element("pre", {}, element("code", {}, told[name]))] : []));
    }
    find("train").disabled = find("doctor").disabled = Boolean(told.error);
  });
}

async function upload() {
  const [file] = find("upload").files;
  if (!file) return;
  say(`uploading ${file.name} ...`);
  const name = file.name.replace(/[^A-Za-z0-9 _.-]/g, "_").replace(/^[^A-Za-z0-9]+/, "");
  const reply = await fetch(`/api/upload?name=${encodeURIComponent(name)}`, { method: "POST", body: file });
  const told = await reply.json();
  if (!reply.ok) throw new Error(told.error);
  find("data").append(element("option", { value: told.path }, `in this folder: ${told.path}`));
  find("data").value = told.path;
  say("");
  await chooseData();
}

async function chooseData() {
  for (const name of Object.keys(typed)) if (name.startsWith("data.")) delete typed[name];
  await refresh();
}

async function examine() {
  say("The doctor looks at the data and the first steps of the model ...");
  const told = await ask("/api/doctor", plan());
  find("said").replaceChildren(element("pre", {}, element("code", {}, told.said)),
    element("p", { className: "note" }, element("code", {}, told.command)));
  say("");
}

async function train() {
  const told = await ask("/api/train", plan());
  find("said").replaceChildren(element("p", {}, `${told.said}. `, element("a", { href: "/" }, "See it among the runs")));
  say("");
}

find("data").addEventListener("change", () => trying(chooseData));
find("model").addEventListener("change", () => {
  for (const name of Object.keys(typed)) if (name.startsWith("model.")) delete typed[name];
  model = find("model").value;
  refresh();
});
find("seed").addEventListener("change", refresh);
find("upload").addEventListener("change", () => trying(upload));
find("doctor").addEventListener("click", () => trying(examine));
find("train").addEventListener("click", () => trying(train));
find("plan").addEventListener("submit", (event) => event.preventDefault());
if (find("data").value !== wanted) {
  find("data").value = "";
  say(`There is no data ${wanted} in this folder: choose some.`, true);
}
refresh();
