// A number as a slider and a field beside it; a wide range is one of powers.

import { element } from "./elements.js";

const STEPS = 200;

// Between what a number may lie; where one end is open, a hundredth or a hundred times the usual.
function ends(field) {
  const usual = Number(field.default), isWhole = field.kind === "int";
  const found = (words) => Number(field.bounds.match(new RegExp(`(?:${words}) (-?[\\d.e+-]+)`))?.[1] ?? NaN);
  let low = found("at least|greater than"), high = found("at most|less than");
  if (Number.isNaN(low)) low = usual > 0 ? usual / 100 : usual * 100 - 1;
  if (Number.isNaN(high)) high = usual > 0 ? usual * 20 : Math.max(1, -usual);
  if (field.bounds.includes("greater than") && low >= 0) low += isWhole ? 1 : (high - low) / 1000;
  if (field.bounds.includes("less than")) high -= isWhole ? 1 : (high - low) / 1000;
  return isWhole ? [Math.ceil(low), Math.floor(high)] : [low, high];
}

export function sliderOf(field, typed, changed) {
  const [low, high] = ends(field), isWhole = field.kind === "int", isWide = low > 0 && high / low >= 50;
  const at = (share) => {
    const value = isWide ? low * (high / low) ** share : low + (high - low) * share;
    return isWhole ? Math.round(value) : Number(value.toPrecision(3));
  };
  const share = (value) => (isWide ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low || 1));
  const id = `set-${field.name}`, value = typed[field.name] ?? field.default;
  const number = element("input", { id, type: "number", step: isWhole ? 1 : "any", name: field.name, value, "aria-describedby": `${id}-hint` });
  const slider = element("input", { type: "range", min: 0, max: STEPS, step: 1, value: Math.round(STEPS * share(Number(value))),
    "aria-label": `${field.name}, from ${low} to ${high}` });
  const take = (given) => {
    if (Number(given) === Number(field.default)) delete typed[field.name];
    else typed[field.name] = Number(given);
    changed();
  };
  slider.addEventListener("input", () => { number.value = at(slider.value / STEPS); });
  slider.addEventListener("change", () => take(number.value));
  number.addEventListener("change", () => { slider.value = Math.round(STEPS * share(Number(number.value))); take(number.value); });
  return element("div", { className: "field slider" }, element("label", { htmlFor: id }, field.name.replaceAll("_", " ")),
    element("div", { className: "both" }, slider, number), element("small", { id: `${id}-hint` }, [field.doc, field.bounds].filter(Boolean).join("; ")));
}

export function switchOf(field, typed, changed) {
  const id = `set-${field.name}`;
  const input = element("input", { id, type: "checkbox", role: "switch", name: field.name, checked: (typed[field.name] ?? field.default) !== false,
    onchange: () => { if (input.checked) delete typed[field.name]; else typed[field.name] = false; changed(); } });
  return element("div", { className: "switch" }, input, element("label", { htmlFor: id }, element("b", {}, field.name.replaceAll("_", " ")), ` ${field.doc}`));
}
