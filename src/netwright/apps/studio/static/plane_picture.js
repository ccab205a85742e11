// The plane of two features: regions or one unit on it, the points, and painting.

import { element } from "./elements.js";
import { aroundZero, colourOf, css, ofClasses, partsOf, Pixels, rgb, sharpen } from "./shades.js";

const CELLS = 256;  // places along each side that a painted point can have
const CLASSES = 6;  // that painted points can have
const FINER = 4;  // times as many places are coloured as the studio sends
const APART = 14;  // pixels between two points of one stroke
const NEAR = 16;  // pixels from which a point is erased

export class Plane {
  // `painted` is called with the points when a stroke has ended; `brush` gives what is painted.
  constructor(place, brush, painted) {
    this.pixels = new Pixels();  // as few as are coloured: the screen makes them larger
    this.regions = this.pixels.canvas;
    this.regions.ariaHidden = "true";
    this.top = element("canvas", { tabIndex: 0, role: "img" });
    this.words = element("p", { className: "note" });
    place.append(element("div", { className: "layers" }, this.regions, this.top), this.words);
    Object.assign(this, { brush, painted, told: null, points: [], last: null, cursor: null });
    this.top.addEventListener("pointerdown", (event) => this.begin(event));
    this.top.addEventListener("pointermove", (event) => this.stroke(event));
    this.top.addEventListener("pointerup", () => this.end());
    this.top.addEventListener("keydown", (event) => this.key(event));
    this.top.addEventListener("blur", () => { this.cursor = null; this.drawPoints(); });
    new ResizeObserver(() => this.drawPoints()).observe(this.top);
  }

  open(told) {
    this.told = told;
    const { x, y, points } = told;
    const part = ([low, high], value) => (value - low) / (high - low);
    // In parts of the plane, from its left and from above.
    // A class that is a number keeps its colour, whichever others there are.
    const kinds = told.classes.map((name, place) => (/^\d$/.test(name) ? Number(name) : place));
    this.points = Object.entries(points).flatMap(([split, rows]) => rows.map(([first, second, target]) =>
      ({ x: part(x, first), y: 1 - part(y, second), target: kinds[target] ?? target, split })));
    this.canBePainted = told.target === "class" && kinds.every((kind) => kind < CLASSES);
    this.shades = told.target === "class" ? ofClasses(kinds) : aroundZero();
    this.words.textContent = `${told.features[0]} to the right, ${told.features[1]} upwards; `
      + ["filled points are learned from, hollow ones are held out", ...(told.notes || [])].join("; ");
    this.top.setAttribute("aria-label", `the plane of ${told.features.join(" and ")}, ${this.points.length} points; `
      + "arrows move a cross, Enter paints there");
    this.drawPoints();
  }

  // The regions, or the picture of one unit in their place.
  draw(arrays, unit = null) {
    if (unit !== null) {
      const shades = aroundZero(), [, high, wide] = arrays.units.shape, from = unit * wide * high;
      this.pixels.fit(wide, high);
      for (let at = 0; at < wide * high; at += 1) this.pixels.colours[at] = shades[arrays.units.bytes[from + at]];
    } else if (arrays.answers) {
      colourBetween(arrays.answers, this.told.target === "class" ? this.shades : [this.shades], this.pixels);
    } else {
      return;
    }
    this.pixels.put();
  }

  drawPoints() {
    if (!this.told) return;
    sharpen(this.top);
    const { width, height } = this.top, pen = this.top.getContext("2d");
    const size = Math.max(3.5, width / 100);
    pen.clearRect(0, 0, width, height);
    pen.lineWidth = size / 3;
    for (const point of this.points) {
      const shade = this.told.target === "class" ? colourOf(point.target)
        : partsOf(aroundZero()[Math.round(255 * (point.target - this.told.range[0]) / (this.told.range[1] - this.told.range[0] || 1))]);
      pen.beginPath();
      pen.arc(point.x * width, point.y * height, size, 0, 2 * Math.PI);
      pen.fillStyle = point.split === "val" ? css("--paper") : rgb(shade);
      pen.strokeStyle = point.split === "val" ? rgb(shade) : css("--paper");
      pen.fill();
      pen.stroke();
    }
    if (this.cursor) this.drawCursor(pen, width, height, size);
  }

  drawCursor(pen, width, height, size) {
    const [x, y] = [this.cursor.x * width, this.cursor.y * height];
    pen.strokeStyle = css("--ink");
    pen.beginPath();
    pen.moveTo(x - 3 * size, y); pen.lineTo(x + 3 * size, y);
    pen.moveTo(x, y - 3 * size); pen.lineTo(x, y + 3 * size);
    pen.stroke();
  }

  at(event) {
    const box = this.top.getBoundingClientRect();
    return { x: (event.clientX - box.left) / box.width, y: (event.clientY - box.top) / box.height };
  }

  begin(event) {
    if (!this.brush() || !this.told) return;
    this.top.setPointerCapture(event.pointerId);
    this.last = { x: -1, y: -1 };
    this.stroke(event);
  }

  stroke(event) {
    if (!this.last) return;
    const here = this.at(event), box = this.top.getBoundingClientRect();
    if (Math.hypot((here.x - this.last.x) * box.width, (here.y - this.last.y) * box.height) < APART) return;
    this.last = here;
    this.put(here, box.width);
  }

  put(here, width) {
    const brush = this.brush();
    if (here.x < 0 || here.x > 1 || here.y < 0 || here.y > 1) return;
    if (brush === "erase") this.points = this.points.filter((point) => Math.hypot(point.x - here.x, point.y - here.y) * width > NEAR);
    else this.points.push({ ...here, target: Number(brush), split: "train" });
    this.drawPoints();
  }

  end() {
    if (this.last) this.painted(this.points);
    this.last = null;
  }

  key(event) {
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (!this.brush() || !(event.key in moves || event.key === "Enter")) return;
    event.preventDefault();
    this.cursor ||= { x: 0.5, y: 0.5 };
    if (event.key === "Enter") {
      this.put(this.cursor, this.top.clientWidth);
      this.painted(this.points);
    } else {
      const clip = (value) => Math.min(1, Math.max(0, value));
      const [x, y] = moves[event.key];
      this.cursor = { x: clip(this.cursor.x + x / 40), y: clip(this.cursor.y + y / 40) };
    }
    this.drawPoints();
  }
}

// Colours FINER times as many places along each side, on lines between those given, by the largest of
// the K answers there and its shades.
function colourBetween({ shape: [count, side], bytes }, shades, pixels) {
  const wide = side * FINER, row = new Float32Array(count * side);
  pixels.fit(wide, wide);
  const place = (at) => Math.min(side - 1, Math.max(0, (at + 0.5) / FINER - 0.5));
  const { colours } = pixels;
  for (let y = 0; y < wide; y += 1) {
    const down = place(y), above = Math.min(side - 2, Math.floor(down)), share = down - above;
    for (let plane = 0; plane < count; plane += 1) {
      for (let x = 0, at = (plane * side + above) * side; x < side; x += 1, at += 1) {
        row[plane * side + x] = bytes[at] + (bytes[at + side] - bytes[at]) * share;
      }
    }
    for (let x = 0; x < wide; x += 1) {
      const right = place(x), left = Math.min(side - 2, Math.floor(right)), part = right - left;
      let best = 0, most = -1;
      for (let plane = 0, at = left; plane < count; plane += 1, at += side) {
        const value = row[at] + (row[at + 1] - row[at]) * part;
        if (value > most) { most = value; best = plane; }
      }
      colours[y * wide + x] = shades[best][Math.round(most)];
    }
  }
}

// Points as text for an address: a byte for each side of the plane and one for the class.
export function asText(points) {
  const cell = (value) => Math.min(CELLS - 1, Math.max(0, Math.round(value * (CELLS - 1))));
  const bytes = points.flatMap((point) => [cell(point.x), cell(point.y), point.target]);
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_");
}

// What such a text says, as rows for the studio: both features between -1 and 1, and the class.
export function asRows(text) {
  const bytes = [...atob(text.replaceAll("-", "+").replaceAll("_", "/"))].map((one) => one.charCodeAt(0));
  const rows = [];
  for (let at = 0; at + 2 < bytes.length; at += 3) {
    rows.push([2 * bytes[at] / (CELLS - 1) - 1, 1 - 2 * bytes[at + 1] / (CELLS - 1), bytes[at + 2]]);
  }
  return rows;
}
