// The network: each unit as its own picture, each weight as a line, thick where it is large.

import { element } from "./elements.js";
import { aroundZero, COLOURS, css, letters, Pixels, rgb, sharpen } from "./shades.js";

const MOST_UNITS = 16, GAP = 6;

export class Network {
  // `chosen` is called with the number of the unit that was clicked.
  constructor(place, chosen) {
    this.canvas = element("canvas", { role: "img" });
    this.words = element("p", { className: "note" });
    place.append(this.canvas, this.words);
    this.columns = [];
    this.pixels = new Pixels();  // all pictures below each other: the inputs, then the units
    this.canvas.addEventListener("click", (event) => {
      const unit = this.unitAt(event);
      if (unit !== null) chosen(unit);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      this.canvas.classList.toggle("over", this.unitAt(event) !== null);
    });
  }

  // Layers are columns of units, after one of the inputs.
  open(layers, inputs, words) {
    const key = JSON.stringify([layers, inputs, words]);
    if (key === this.key) return false;
    this.key = key;
    const shown = layers.map((layer) => Math.min(MOST_UNITS, layer.units));
    this.columns = [inputs.length, ...shown];
    this.names = [...inputs];
    this.layers = layers;
    const widths = layers.map((layer) => layer.units).join(", ");
    const more = layers.some((layer) => layer.units > MOST_UNITS) ? ` The first ${MOST_UNITS} units of a layer are shown.` : "";
    this.words.textContent = layers.length
      ? `${words}: blue is positive, orange negative. Lines are weights.${more}`
      : "This model has no layers of units: its answers show all that it has learned.";
    this.canvas.setAttribute("aria-label", layers.length ? `the network: ${inputs.length} inputs, layers of ${widths} units` : "no network");
    this.canvas.hidden = !layers.length;
    return true;
  }

  place() {
    const { width, height } = this.canvas, scale = window.devicePixelRatio || 1;
    const most = Math.max(...this.columns, 1), top = 1.4 * letters();
    const side = Math.min((height - top) / most - GAP * scale, width / this.columns.length * 0.55, 0.14 * height);
    const apart = this.columns.length > 1 ? (width - side - 2 * scale) / (this.columns.length - 1) : 0;
    this.side = side;
    this.spots = this.columns.map((count, column) => Array.from({ length: count }, (_, unit) => {
      const pitch = Math.min(side + GAP * 2 * scale, (height - top) / count);
      return [scale + column * apart, top + (height - top - pitch * count) / 2 + unit * pitch + (pitch - side) / 2];
    }));
  }

  draw(arrays, chosen) {
    if (!this.layers?.length) return;
    sharpen(this.canvas);
    this.place();
    const pen = this.canvas.getContext("2d"), scale = window.devicePixelRatio || 1;
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    this.layers.forEach((_, place) => this.drawLines(pen, arrays[`weights ${place}`], place, scale));
    const { shape: [, side], bytes } = arrays.units;
    this.colour(side, bytes, arrays.inputs?.bytes);
    this.spots.flat().forEach(([x, y], place) => {
      const isChosen = chosen !== null && place === this.columns[0] + chosen;
      pen.drawImage(this.pixels.canvas, 0, place * side, side, side, x, y, this.side, this.side);
      pen.lineWidth = (isChosen ? 3 : 1) * scale;
      pen.strokeStyle = css(isChosen ? "--accent" : "--faint");
      pen.strokeRect(x, y, this.side, this.side);
    });
    this.name(pen, "inputs", this.spots[0][0][0], false);
    this.layers.forEach(({ units }, place) => this.name(pen, `${units} unit${units === 1 ? "" : "s"}`,
      this.spots[place + 1][0][0], place === this.layers.length - 1));
  }

  // The inputs are pictures too: an image, or features of which one rises to the right, the other upwards.
  colour(side, bytes, image) {
    const shades = aroundZero(), [inputs] = this.columns, size = side * side;
    this.pixels.fit(side, inputs * side + bytes.length / side);
    const { colours } = this.pixels;
    for (let at = 0; at < inputs * size; at += 1) {
      const rises = at < size ? at % side : side - 1 - Math.floor((at % size) / side);
      colours[at] = shades[image ? image[at] : Math.round(1 + 254 * rises / (side - 1))];
    }
    for (let at = 0; at < bytes.length; at += 1) colours[inputs * size + at] = shades[bytes[at]];
    this.pixels.put();
  }

  name(pen, words, x, isLast) {
    pen.font = `${letters()}px system-ui, sans-serif`;
    pen.fillStyle = css("--faint");
    pen.textAlign = isLast ? "right" : "left";
    pen.fillText(words, isLast ? x + this.side : x, letters());
    pen.textAlign = "left";
  }

  drawLines(pen, weights, place, scale) {
    if (!weights) return;
    const [units, reads] = weights.shape;
    for (let unit = 0; unit < units; unit += 1) {
      for (let read = 0; read < reads; read += 1) {
        const shade = weights.bytes[unit * reads + read] - 128, size = Math.abs(shade) / 127;
        if (size < 0.02) continue;
        const [x0, y0] = this.spots[place][read], [x1, y1] = this.spots[place + 1][unit];
        const from = x0 + this.side, middle = (from + x1) / 2, half = this.side / 2;
        pen.strokeStyle = rgb(COLOURS[shade < 0 ? 1 : 0], 0.15 + 0.7 * size);
        pen.lineWidth = (0.5 + 4 * size) * scale;
        pen.beginPath();
        pen.moveTo(from, y0 + half);
        pen.bezierCurveTo(middle, y0 + half, middle, y1 + half, x1, y1 + half);
        pen.stroke();
      }
    }
  }

  unitAt(event) {
    if (!this.spots) return null;
    const box = this.canvas.getBoundingClientRect(), scale = this.canvas.width / box.width;
    const [px, py] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
    const found = this.spots.slice(1).flat().findIndex(([x, y]) => px >= x && px <= x + this.side && py >= y && py <= y + this.side);
    return found < 0 ? null : found;
  }
}
