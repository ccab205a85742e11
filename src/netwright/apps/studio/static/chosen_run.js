// The field in which one of the finished runs is chosen; it is kept in the address.

import { ask, element, find, trying } from "./elements.js";

export const address = new URLSearchParams(location.search);

export function remember(values) {
  const kept = new URLSearchParams(Object.entries(values).filter(([, value]) => value !== ""));
  history.replaceState(null, "", `?${kept}`);
}

// A link may ask for what is not there: then something else is shown, and a sentence says so until another choice is made.
export function sayMissing(sentence) {
  document.querySelector("main h2").after(element("p", { className: "bad missing", role: "status" }, sentence));
}

export function forgetMissing() {
  for (const one of document.querySelectorAll(".missing")) one.remove();
}

export async function offerRuns(chosen, main) {
  const told = await ask("/api/runs");
  const done = told.runs.filter((run) => run.state === "finished" || (run.state === "stopped" && run.value !== null));
  if (!done.length) {
    find(main).disabled = true;
    find("message").replaceChildren("There is no finished run in this folder yet. ", element("a", { href: "/new" }, "Train one"));
    return;
  }
  find("run").replaceChildren(...done.map((run) => element("option", { value: run.name }, run.name)));
  const wanted = address.get("run");
  if (done.some((run) => run.name === wanted)) find("run").value = wanted;
  else if (wanted) {
    const there = told.runs.find((run) => run.name === wanted);
    sayMissing(`${there ? `${wanted} is ${there.state}` : `There is no run ${wanted} in this folder`}: ${find("run").value} is shown in its place.`);
  }
  find("run").addEventListener("change", () => { forgetMissing(); trying(chosen); });
  await chosen();
}

export function showCommand(words) {
  const typed = words.map((word) => (/^[\w./=@%+:,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");
  find("command").replaceChildren(element("p", { className: "note" }, "The same as a command:"),
    element("pre", {}, element("code", {}, typed)));
}
