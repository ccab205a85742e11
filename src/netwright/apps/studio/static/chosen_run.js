// The field in which one of the finished runs is chosen; it is kept in the address.

import { ask, element, find, say } from "./elements.js";

export const address = new URLSearchParams(location.search);

export function remember(values) {
  const kept = new URLSearchParams(Object.entries(values).filter(([, value]) => value !== ""));
  history.replaceState(null, "", `?${kept}`);
}

export async function offerRuns(chosen) {
  const told = await ask("/api/runs");
  const done = told.runs.filter((run) => run.state === "finished" || (run.state === "stopped" && run.value !== null));
  if (!done.length) return say("There is no finished run in this folder yet.", true);
  find("run").replaceChildren(...done.map((run) => element("option", { value: run.name }, run.name)));
  if (done.some((run) => run.name === address.get("run"))) find("run").value = address.get("run");
  find("run").addEventListener("change", chosen);
  await chosen();
}

export function showCommand(words) {
  const typed = words.map((word) => (/^[\w./=@%+:,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");
  find("command").replaceChildren(element("p", { className: "note" }, "The same as a command:"),
    element("pre", {}, element("code", {}, typed)));
}
