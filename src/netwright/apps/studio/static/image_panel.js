// Small images: one that is looked at, drawn or chosen, what it is taken for, and others beside it.

import { drawingOf } from "./drawing.js";
import { element, say } from "./elements.js";

export class ImagePanel {
  // `look` is called with the pixels of the image that is looked at; `add` with a drawing and its class.
  constructor(place, look, add) {
    Object.assign(this, { look, add, told: null, pixels: null, buttons: [] });
    this.pad = element("div");
    this.bars = element("div", { className: "bars" });
    this.kind = element("select", { id: "drawn-class" }, ...Array.from({ length: 10 }, (_, kind) => element("option", { value: String(kind) }, `class ${kind}`)));
    this.adding = element("div", { className: "adding" },
      element("div", { className: "field" }, element("label", { htmlFor: "drawn-class" }, "This drawing is of"), this.kind),
      element("button", { type: "button", id: "add-drawing", onclick: () => this.keep() }, "Add it to the data"));
    this.others = element("div", { className: "others" });
    this.words = element("p", { className: "note" });
    place.append(element("div", { className: "asked-image" }, element("div", {}, this.pad, this.adding), this.bars), this.others, this.words);
  }

  // `isOwn`: whether drawings are the data.
  open(told, images, isOwn) {
    const isNewSize = String(this.told?.shape) !== String(told.shape);
    this.told = told;
    this.adding.hidden = !isOwn;
    if (isNewSize) this.offerPad(told.shape);
    this.rows = told.classes.map((name) => ({ bar: element("progress", { max: 255, value: 0, "aria-label": `probability of ${name}` }), value: element("span") }));
    this.bars.replaceChildren(...told.classes.flatMap((name, place) => [element("span", {}, name), this.rows[place].bar, this.rows[place].value]));
    const size = told.shape.reduce((all, side) => all * side, 1);
    this.buttons = told.targets.map((target, place) => this.choice(images.bytes.subarray(place * size, (place + 1) * size), told.classes[target]));
    this.others.replaceChildren(...this.buttons.map(({ button }) => button));
    const learned = told.targets.length - told.held;
    const whose = [told.held ? `${learned ? `the first ${told.held}` : "all"} held out` : "", learned ? `${told.held ? "the others" : "all"} learned from` : ""];
    this.words.textContent = told.targets.length ? [`Draw, or choose one of these images: ${whose.filter(Boolean).join(", ")}. Below each stands what it is taken for`,
      ...told.notes].join("; ") : "";
    this.mark();
    if (this.pixels) this.look(this.pixels);  // what is looked at stays, whatever has changed
  }

  offerPad([, high, wide]) {
    this.pixels = null;
    this.drawing = drawingOf(wide, high, () => this.see(this.drawing.pixels()));
    const clear = element("button", { type: "button", id: "clear-drawing", onclick: () => this.clear() }, "Clear the drawing");
    this.pad.replaceChildren(this.drawing.canvas, element("div", {}, clear));
  }

  // Grey pixels, as many as the images have in each of their channels.
  see(grey) {
    this.lookAt(Array.from({ length: this.told.shape[0] }, () => grey).flat());
  }

  lookAt(pixels) {
    this.pixels = pixels;
    this.mark();
    this.look(pixels);
  }

  // Which of the images is looked at: until one is chosen or drawn it is the first.
  mark() {
    const at = this.pixels ? this.buttons.findIndex(({ bytes }) => bytes.every((one, place) => one === this.pixels[place])) : 0;
    this.buttons.forEach(({ button }, place) => button.setAttribute("aria-pressed", place === at));
  }

  // What is looked at is black as well, or else the answers to the old drawing would stay.
  clear() {
    this.drawing.clear();
    this.see(this.drawing.pixels());
  }

  choice(bytes, name) {
    const [channels, high, wide] = this.told.shape, size = high * wide;
    const canvas = element("canvas", { width: wide, height: high, ariaHidden: "true" }), said = element("span");
    const pen = canvas.getContext("2d"), image = pen.createImageData(wide, high);
    for (let at = 0; at < size; at += 1) {
      for (let part = 0; part < 3; part += 1) image.data[4 * at + part] = bytes[(channels === 3 ? part : 0) * size + at];
      image.data[4 * at + 3] = 255;
    }
    pen.putImageData(image, 0, 0);
    const button = element("button", { type: "button", className: "image", onclick: () => this.lookAt([...bytes]) }, canvas, said);
    return { button, said, name, bytes };
  }

  // Answers (N + 1, K) and what each image is taken for: the one that is looked at, then the others; null where an answer is not finite.
  draw({ answers }, taken) {
    if (!answers) return;
    const [looked, ...others] = taken, nothing = "not finite";
    this.rows.forEach(({ bar, value }, place) => {
      bar.value = looked === null ? 0 : answers.bytes[place];
      value.textContent = looked === null ? nothing : (answers.bytes[place] / 255).toFixed(2);
    });
    this.buttons.forEach(({ button, said, name }, place) => {
      const answer = this.told.classes[others[place]] ?? nothing;
      if (said.textContent === answer) return;
      said.textContent = answer;
      button.classList.toggle("wrong", answer !== name);
      button.setAttribute("aria-label", `an image of ${name}, taken for ${answer}: look at it`);
    });
  }

  keep() {
    const pixels = this.drawing.pixels();
    if (!pixels.some(Boolean)) return say("There is nothing on the black square yet: draw there, and then add it.", true);
    this.add(pixels, Number(this.kind.value));
    this.clear();
  }
}
