// Data that a person makes in the playground: points on the plane, or drawings. Each is kept as text, for the address.

import { asRows } from "./plane_picture.js";

const SIDE = 8, PIXELS = SIDE * SIDE, WHITE = 15;  // of a drawing; two of its pixels are a byte
const FEWEST = 4;  // rows, of two classes, that a model learns from

const bytesOf = (text) => [...atob(text.replaceAll("-", "+").replaceAll("_", "/"))].map((one) => one.charCodeAt(0));
const textOf = (bytes) => btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_");

// One more drawing: its pixels, 0 to 255, and its class.
export function withDrawing(text, pixels, kind) {
  const shades = pixels.map((one) => Math.round(one * WHITE / 255));
  const pairs = Array.from({ length: PIXELS / 2 }, (_, at) => 16 * shades[2 * at] + shades[2 * at + 1]);
  return textOf([...(text ? bytesOf(text) : []), kind, ...pairs]);
}

// What such a text says, as rows for the studio: the pixels, then the class.
export function drawingRows(text) {
  const bytes = bytesOf(text), size = PIXELS / 2 + 1;
  return Array.from({ length: Math.floor(bytes.length / size) }, (_, place) => {
    const [kind, ...pairs] = bytes.slice(place * size, (place + 1) * size);
    return [...pairs.flatMap((pair) => [pair >> 4, pair & 15]), kind];
  });
}

// What a person is asked before a model can learn from such rows; nothing where they are enough.
export function wanted({ first }, rows) {
  const kinds = new Set(rows.map((row) => row.at(-1)));
  if (rows.length >= FEWEST && kinds.size > 1) return "";
  if (!rows.length) return first;
  return `${first} There ${rows.length === 1 ? "is" : "are"} ${rows.length}${kinds.size > 1 ? "" : `, of class ${[...kinds][0]}`}.`;
}

// By the name of the data: set of the same kind, name in an address and in what is sent, rows, what to do first.
export const OWN = {
  painted: { like: "moons", key: "points", rows: asRows, first: "Paint points of two classes on the plane." },
  drawn: { like: "digits", key: "drawings", rows: drawingRows, first: "Draw four pictures or more, of two classes at least: say which class each is and add it." }
};
