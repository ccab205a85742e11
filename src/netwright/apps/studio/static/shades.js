// Colours of pictures, and canvases that are as sharp as the screen.

import { element } from "./elements.js";

// Okabe and Ito's: told apart also by eyes that do not tell red from green.
export const COLOURS = [[0, 114, 178], [213, 94, 0], [0, 158, 115], [204, 121, 167], [230, 159, 0], [86, 180, 233], [140, 109, 49],
  [90, 90, 90], [176, 164, 12], [123, 78, 163]];

export const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
export const rgb = ([r, g, b], alpha = 1) => `rgb(${r} ${g} ${b} / ${alpha})`;
export const colourOf = (place) => COLOURS[place % COLOURS.length];

function ground() {
  const hex = css("--paper");
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

const mixed = (from, to, share) => from.map((one, place) => one + (to[place] - one) * share);

// 256 shades from one colour over the ground to another: 128 is nothing.
export function aroundZero() {
  const paper = ground();
  return Array.from({ length: 256 }, (_, shade) => {
    const size = Math.min(1, Math.abs(shade - 128) / 127);
    return mixed(paper, shade < 128 ? COLOURS[1] : COLOURS[0], size);
  });
}

// The shades of each class, by how sure it is; of K classes none is surer than the others at 1 / K.
export function ofClasses(kinds) {
  const paper = ground(), least = 1 / kinds.length;
  return kinds.map((kind) => Array.from({ length: 256 }, (_, shade) => {
    const share = Math.max(0, (shade / 255 - least) / (1 - least));
    return mixed(paper, colourOf(kind), 0.12 + 0.58 * share);
  }));
}

// A small canvas with one pixel for each number; `colour` gives the colour of a place.
export function small(wide, high, colour, old = null) {
  const canvas = old && old.width === wide && old.height === high ? old : element("canvas", { width: wide, height: high });
  const pen = canvas.getContext("2d");
  const pixels = pen.createImageData(wide, high);
  const { data } = pixels;
  for (let at = 0, to = 0; at < wide * high; at += 1, to += 4) {
    const shade = colour(at);
    data[to] = shade[0]; data[to + 1] = shade[1]; data[to + 2] = shade[2]; data[to + 3] = 255;
  }
  pen.putImageData(pixels, 0, 0);
  return canvas;
}

// Pixels of a letter, which grow with the page: a projector's are larger.
export const letters = () => 0.72 * parseFloat(getComputedStyle(document.documentElement).fontSize) * (window.devicePixelRatio || 1);

// Makes a canvas as many pixels wide and high as it is shown with; true where that has changed.
export function sharpen(canvas) {
  const scale = window.devicePixelRatio || 1;
  const wide = Math.round(canvas.clientWidth * scale), high = Math.round(canvas.clientHeight * scale);
  if (canvas.width === wide && canvas.height === high) return false;
  canvas.width = wide;
  canvas.height = high;
  return true;
}
