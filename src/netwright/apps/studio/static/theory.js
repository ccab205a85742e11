// The page of theory: a claim, what it assumes, its parameters, and what an experiment says of it.

import { forgetMissing, sayMissing, showCommand } from "./chosen_run.js";
import { ask, element, find, say, table, trying } from "./elements.js";
import { fieldOf } from "./fields.js";
import { figureOf } from "./shown_view.js";
import { sliderOf, switchOf } from "./sliders.js";

const KINDS = { theorem: "theorem", empirical: "measured", false: "often said, and wrong" };
const MOODS = { holds: "good", fails: "bad", undecided: "" };
const LOOK_EVERY = 2000;  // milliseconds
const QUICK = 3;  // seconds: an experiment that takes no longer runs at each change
const address = new URLSearchParams(location.search);
let claims = [], told = null, typed = {}, checked = {}, asked = 0, isRunning = false, isWaiting = false;

for (const [name, value] of address) if (name.startsWith("set.")) typed[name.slice(4)] = value === "false" ? false : Number.isNaN(Number(value)) ? value : Number(value);
for (const name of ["size", "seed"]) if (address.get(name)) find(name).value = address.get(name);

function remember() {
  const kept = new URLSearchParams({ claim: find("claim").value });
  if (find("size").value !== "quick") kept.set("size", find("size").value);
  if (find("seed").value !== "0") kept.set("seed", find("seed").value);
  for (const [name, value] of Object.entries(typed)) kept.set(`set.${name}`, value);
  history.replaceState(null, "", `?${kept}`);
}

const byTopic = () => Object.entries(Object.groupBy ? Object.groupBy(claims, (one) => one.topic)
  : claims.reduce((all, one) => ({ ...all, [one.topic]: [...(all[one.topic] || []), one] }), {}));

async function begin() {
  claims = await ask("/api/claims");
  find("claim").replaceChildren(...byTopic().map(([topic, ones]) => element("optgroup", { label: topic },
    ...ones.map((one) => element("option", { value: one.name }, one.name)))));
  const wanted = address.get("claim");
  if (claims.some((one) => one.name === wanted)) find("claim").value = wanted;
  else if (wanted) sayMissing(`There is no claim ${wanted}: ${find("claim").value} is shown in its place.`);
  drawList();
  await choose();
}

async function choose() {
  const name = find("claim").value;
  told = await ask(`/api/claim?claim=${encodeURIComponent(name)}`);
  const symbols = Object.entries(told.symbols).map(([symbol, words]) => element("li", {}, element("code", {}, symbol), ` ${words}`));
  find("said").replaceChildren(element("p", { className: "statement" }, told.statement),
    element("p", { className: "note" }, `${KINDS[told.kind]}; expected: it ${told.expected}`),
    element("div", { className: "formula" }, element("img", { alt: told.formula_text, src: told.formula })),
    ...(symbols.length ? [element("details", {}, element("summary", {}, "Symbols"), element("ul", {}, ...symbols))] : []),
    ...(told.misprint ? [element("p", { className: "note" }, `${told.kind === "false" ? "What is true" : "Beware"}: ${told.misprint}`)] : []),
    element("p", { className: "note" }, `Source: ${told.source}`));
  drawFields();
  find("verdict").replaceChildren();
  await check();
}

function drawFields() {
  const isNumber = (field) => ["int", "float"].includes(field.kind);
  find("assumptions").replaceChildren(...told.assumptions.map((field) => switchOf(field, typed, changed)));
  find("parameters").replaceChildren(...told.parameters.map((field) => (isNumber(field) ? sliderOf : other)(field, typed, changed)));
}

const other = (field, values, then) => fieldOf("", field, values, then);

const changed = () => trying(async () => {
  remember();
  if ((checked[told.name]?.seconds ?? 0) <= QUICK) await check();
  else say("Press Check it: this experiment takes a while.");
});

// One at a time; what was changed meanwhile is asked for next.
async function check() {
  remember();
  showCommand(["netwright", "theory", told.name, ...Object.entries(typed).flatMap(([name, value]) => ["--set", `${name}=${value}`]),
    ...(find("size").value === "quick" ? [] : ["--size", find("size").value]), ...(find("seed").value === "0" ? [] : ["--seed", find("seed").value])]);
  if (isRunning) { isWaiting = true; return; }
  isRunning = true;
  const number = ++asked, name = told.name, isUsual = !Object.keys(typed).length;
  say("the experiment runs ...");
  find("verdict").classList.add("old");
  try {
    const found = await ask("/api/check", { claim: name, settings: typed, size: find("size").value, seed: Number(find("seed").value) });
    if (name === told.name && number === asked) show(found);
    checked[name] = { ...found, isUsual };
    say("");
    drawList();
  } finally {
    isRunning = false;
    find("verdict").classList.remove("old");
    if (isWaiting) { isWaiting = false; trying(check); }
  }
}

function show(found) {
  const surprise = found.expected && found.expected !== found.answer ? ", which was not expected" : "";
  find("verdict").dataset.answer = found.answer;
  find("verdict").replaceChildren(
    element("p", { className: "answer" }, "It ", element("span", { className: `badge ${MOODS[found.answer]}` }, found.words), `${surprise} (${found.seconds} s)`),
    figureOf(found),
    table(found.rows, ["predicted", "measured", "n"]));
}

function drawList() {
  const words = find("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (one) => words.every((word) => `${one.name} ${one.topic} ${one.statement}`.toLowerCase().includes(word));
  const row = (one) => {
    const seen = checked[one.name], link = element("a", { href: `?claim=${encodeURIComponent(one.name)}` }, one.name);
    const badge = seen ? element("span", { className: `badge ${seen.isUsual ? MOODS[seen.answer] : ""}` }, seen.isUsual ? seen.answer : `${seen.answer} as set`) : "";
    return element("tr", {}, element("td", {}, link), element("td", {}, one.statement), element("td", {}, KINDS[one.kind]), element("td", {}, badge));
  };
  find("claims").replaceChildren(...byTopic().map(([topic, ones]) => [topic, ones.filter(fits)]).filter(([, ones]) => ones.length)
    .map(([topic, ones]) => element("details", { open: Boolean(words.length) || ones.some((one) => checked[one.name]) },
      element("summary", {}, `${topic} (${ones.length})`),
      element("div", { className: "scroll" }, element("table", { className: "claims" }, element("tbody", {}, ...ones.map(row)))))));
}

async function makeLedger() {
  await ask("/api/ledger", {});
  await showLedger();
}

// The page of all claims, when no command writes it any more.
async function showLedger() {
  let state = await ask("/api/ledger/state");
  while (state.is_running) {
    find("ledger-words").textContent = "checking all claims ...";
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY));
    state = await ask("/api/ledger/state");
  }
  const link = state.is_made ? element("a", { href: "/ledger", target: "_blank" }, "the ledger") : "";
  find("ledger-words").replaceChildren(state.said, " ", link);
}

const on = (name, event, action) => find(name).addEventListener(event, () => trying(action));
on("claim", "change", () => { forgetMissing(); typed = {}; return choose(); });
on("check", "click", check);
on("reset", "click", () => { typed = {}; drawFields(); return check(); });
on("size", "change", changed);
on("seed", "change", changed);
on("filter", "input", drawList);
on("ledger", "click", makeLedger);
find("settings").addEventListener("submit", (event) => event.preventDefault());
trying(begin);
trying(showLedger);
