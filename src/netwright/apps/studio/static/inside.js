// The page of what is inside a run: its views, each with its settings.

import { address, offerRuns, remember, showCommand } from "./chosen_run.js";
import { ask, element, find, say, table, trying } from "./elements.js";
import { fieldOf } from "./fields.js";

let views = {}, typed = {};

for (const [name, value] of address) if (name !== "run" && name !== "view") typed[name] = value;

const query = () => new URLSearchParams({ run: find("run").value, view: find("view").value, ...typed });

async function chooseRun() {
  say("The run is opened ...");
  views = await ask(`/api/views?run=${encodeURIComponent(find("run").value)}`);
  const wanted = find("view").value || address.get("view");
  find("view").replaceChildren(...Object.keys(views).map((name) => element("option", { value: name, selected: name === wanted }, name)));
  say("");
  await drawForm();
}

async function drawForm() {
  const view = views[find("view").value];
  find("view-hint").textContent = view.sentence;
  typed = Object.fromEntries(Object.entries(typed).filter(([name]) => view.fields.some((field) => field.name === name)));
  find("fields").replaceChildren(...view.fields.map((field) => fieldOf("", field, typed, () => trying(show))));
  await show();
}

async function show() {
  remember(Object.fromEntries(query()));
  say("measuring ...");
  const shown = await ask(`/api/view?${query()}`);
  find("shown").replaceChildren(
    element("h3", {}, shown.title),
    element("figure", {}, element("div", { className: "scroll" }, element("img", { alt: shown.title, src: shown.picture })),
      element("figcaption", {}, shown.caption)),
    table(shown.rows.slice(0, 200)),
    element("p", {}, element("a", { href: `/view?${query()}`, target: "_blank" }, "this view as a page of its own")));
  const { run, view, ...settings } = Object.fromEntries(query());
  showCommand(["netwright", "inspect", run, view, ...Object.entries(settings).flatMap(([name, value]) => ["--set", `${name}=${value}`])]);
  say("");
}

find("view").addEventListener("change", () => trying(drawForm));
find("show").addEventListener("click", () => trying(show));
find("settings").addEventListener("submit", (event) => event.preventDefault());
trying(() => offerRuns(chooseRun));
