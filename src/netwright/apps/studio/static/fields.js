// Fields made from the settings of a config: what each takes, its bounds, its default.

import { element } from "./elements.js";

export const shown = (value) => Array.isArray(value) ? value.join(",")
  : value === null ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);

// What a setting takes, in words: a form is read by people who do not program.
const KINDS = { int: "a whole number", float: "a number", text: "", mapping: "as {name: value}", "list of int": "whole numbers, with commas",
  "list of float": "numbers, with commas", "list of text": "words, with commas" };

function takes(kind) {
  const [first, ...others] = kind.split(" or "), words = [KINDS[first] ?? first];
  for (const other of others) words.push(other === "nothing" ? "" : `or ${KINDS[other] || other}`);
  return [words.filter(Boolean).join(" "), others.includes("nothing") && words[0] ? "or empty" : ""].filter(Boolean).join(", ");
}

// A field with its label and its hint; `typed` holds what is not the default, by the field's path.
export function fieldOf(section, field, typed, changed) {
  const path = section ? `${section}.${field.name}` : field.name, id = path;
  const usual = field.default === "(needed)" ? "" : shown(field.default);
  const given = typed[path] ?? usual;
  const take = (event) => {
    if (event.target.value === usual) delete typed[path];
    else typed[path] = event.target.value;
    changed(path);
  };
  const common = { id, name: path, "aria-describedby": `${id}-hint`, onchange: take };
  let input;
  if (field.options.length) {
    const names = field.options.includes(usual) ? field.options : [usual, ...field.options];
    const nothing = /\bdefault: /.test(field.doc) ? "(default)" : "(none)";
    input = element("select", common, ...names.map((name) =>
      element("option", { value: name, selected: name === given }, name || nothing)));
  } else {
    const isNumber = /^(int|float)( or nothing)?$/.test(field.kind);
    input = element("input", { ...common, type: "text", inputMode: isNumber ? "decimal" : "text", value: given });
  }
  const hint = [field.doc, field.bounds].filter(Boolean).join("; ");
  const told = [takes(field.kind), usual ? `usually ${usual}` : ""].filter(Boolean).join("; ");
  const more = field.options.length || !told ? "" : ` (${told})`;
  return element("div", { className: "field" }, element("label", { htmlFor: id }, field.name.replaceAll("_", " ")),
    input, element("small", { id: `${id}-hint` }, hint + more));
}
