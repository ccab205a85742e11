// Colours of pictures, and canvases that are as sharp as the screen.

import { element } from "./elements.js";

// Okabe and Ito's: told apart also by eyes that do not tell red from green.
export const COLOURS = [[0, 114, 178], [213, 94, 0], [0, 158, 115], [204, 121, 167], [230, 159, 0], [86, 180, 233], [140, 109, 49],
  [90, 90, 90], [176, 164, 12], [123, 78, 163]];

const known = new Map();  // what a style is costs more than a picture, and changes with the scheme alone
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => known.clear());
const remembered = (key, make) => known.get(key) ?? known.set(key, make()).get(key);

export const css = (name) => remembered(name, () => getComputedStyle(document.documentElement).getPropertyValue(name).trim());
export const rgb = ([r, g, b], alpha = 1) => `rgb(${r} ${g} ${b} / ${alpha})`;
export const colourOf = (place) => COLOURS[place % COLOURS.length];

function ground() {
  const hex = css("--paper");
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

// Colours of pixels are numbers of 32 bits: blue, green and red from the higher to the lower bytes.
const mixed = (from, to, share) => {
  const [r, g, b] = from.map((one, place) => Math.round(one + (to[place] - one) * share));
  return (255 << 24 | b << 16 | g << 8 | r) >>> 0;
};
export const partsOf = (colour) => [colour & 255, colour >> 8 & 255, colour >> 16 & 255];

// 256 shades from one colour over the ground to another: 128 is nothing.
export const aroundZero = () => remembered("around zero", () => {
  const paper = ground();
  return Uint32Array.from({ length: 256 }, (_, shade) =>
    mixed(paper, shade < 128 ? COLOURS[1] : COLOURS[0], Math.min(1, Math.abs(shade - 128) / 127)));
});

// The shades of each class, by how sure it is; of K classes none is surer than the others at 1 / K.
export function ofClasses(kinds) {
  const paper = ground(), least = 1 / kinds.length;
  return kinds.map((kind) => Uint32Array.from({ length: 256 }, (_, shade) =>
    mixed(paper, colourOf(kind), 0.12 + 0.58 * Math.max(0, (shade / 255 - least) / (1 - least)))));
}

// A canvas of few pixels, whose colours are written as numbers.
export class Pixels {
  constructor() {
    this.canvas = element("canvas", { width: 0, height: 0 });
    this.pen = this.canvas.getContext("2d", { willReadFrequently: true });  // in memory, where they are written
  }

  fit(wide, high) {
    if (this.canvas.width === wide && this.canvas.height === high) return;
    Object.assign(this.canvas, { width: wide, height: high });
    this.image = this.pen.createImageData(wide, high);
    this.colours = new Uint32Array(this.image.data.buffer);
  }

  put() {
    this.pen.putImageData(this.image, 0, 0);
  }
}

// Pixels of a letter, which grow with the page: a projector's are larger.
export function letters() {
  const share = document.documentElement.classList.contains("large") ? 0.85 : 0.75;
  return share * parseFloat(getComputedStyle(document.documentElement).fontSize) * (window.devicePixelRatio || 1);
}

// Makes a canvas as many pixels wide and high as it is shown with; true where that has changed.
export function sharpen(canvas) {
  const scale = window.devicePixelRatio || 1;
  const wide = Math.round(canvas.clientWidth * scale), high = Math.round(canvas.clientHeight * scale);
  if (canvas.width === wide && canvas.height === high) return false;
  canvas.width = wide;
  canvas.height = high;
  return true;
}
