// The page of what is inside a run: its views, each with its settings.

import { address, forgetMissing, offerRuns, remember, sayMissing, showCommand } from "./chosen_run.js";
import { drawingOf, takesDrawing } from "./drawing.js";
import { ask, element, find, say, trying } from "./elements.js";
import { fieldOf } from "./fields.js";
import { shownView, viewOf } from "./shown_view.js";

let views = {}, typed = {}, told = null, drawing = null, takesText = false, text = address.get("of") || "";

for (const [name, value] of address) if (!["run", "view", "of"].includes(name)) typed[name] = value;

const query = () => new URLSearchParams({ run: find("run").value, view: find("view").value, ...typed });

async function chooseRun() {
  say("The run is opened ...");
  const run = encodeURIComponent(find("run").value);
  [views, told] = await Promise.all([ask(`/api/views?run=${run}`), ask(`/api/run?run=${run}`)]);
  const wanted = find("view").value || address.get("view");
  find("view").replaceChildren(...Object.keys(views).map((name) => element("option", { value: name, selected: name === wanted }, name)));
  if (wanted && !(wanted in views)) sayMissing(`${find("run").value} has no view ${wanted}: ${find("view").value} is shown in its place.`);
  say("");
  await drawForm();
}

async function drawForm() {
  const view = views[find("view").value];
  find("view-hint").textContent = view.sentence;
  typed = Object.fromEntries(Object.entries(typed).filter(([name]) => view.fields.some((field) => field.name === name)));
  find("fields").replaceChildren(...view.fields.map((field) => fieldOf("", field, typed, () => trying(show))));
  find("own").replaceChildren(...(view.own_input ? ownInput() : []));
  await show();
}

// What takes the place of an example: a text that is typed, or a drawing; without one an example is shown.
function ownInput() {
  drawing = null;
  takesText = told.generates || told.takes.keys.includes("texts");
  if (takesText) {
    const input = element("textarea", { id: "own-text", rows: 2, value: text, onchange: (event) => { text = event.target.value; trying(show); } });
    return [element("div", { className: "field" }, element("label", { htmlFor: "own-text" }, "A text of your own"), input,
      element("small", {}, "in the place of an example of the data"))];
  }
  if (!takesDrawing(told.takes)) return [];
  const [, height, width] = told.takes.shape;
  drawing = drawingOf(width, height, () => { drawing.isUsed = true; trying(show); });
  const clear = element("button", { type: "button", onclick: () => { drawing.clear(); drawing.isUsed = false; trying(show); } }, "Clear");
  return [element("div", {}, drawing.canvas, element("div", {}, clear), element("small", { className: "faint" }, "draw in the place of an example of the data"))];
}

// What is sent, and how a command says it; null: an example is shown.
async function own() {
  if (!views[find("view").value].own_input) return null;
  if (drawing?.isUsed) return [...await drawing.asTaken(told.takes), told.takes.white === null ? "picture.png" : null];
  if (!text || !takesText) return null;
  return [JSON.stringify(told.generates ? { text } : { texts: [text] }), "application/json", text];
}

async function show() {
  const given = await own();
  remember({ ...Object.fromEntries(query()), of: given && !drawing ? text : "" });
  say("measuring ...");
  const shown = given ? await viewOf(Object.fromEntries(query()), given[0], given[1]) : await ask(`/api/view?${query()}`);
  const link = element("p", {}, element("a", { href: `/view?${query()}`, target: "_blank" }, "this view as a page of its own"));
  find("shown").replaceChildren(...shownView(shown), ...(given ? [] : [link]));
  const { run, view, ...settings } = Object.fromEntries(query());
  const words = ["netwright", "inspect", run, view, ...Object.entries(settings).flatMap(([name, value]) => ["--set", `${name}=${value}`])];
  if (given && given[2] === null) find("command").replaceChildren();  // the numbers of a drawing are too long for a command
  else showCommand([...words, ...(given ? ["--of", given[2]] : [])]);
  say("");
}

find("view").addEventListener("change", () => { forgetMissing(); trying(drawForm); });
find("show").addEventListener("click", () => trying(show));
find("settings").addEventListener("submit", (event) => event.preventDefault());
trying(() => offerRuns(chooseRun, "show"));
