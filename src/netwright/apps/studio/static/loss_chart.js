// Losses on training and held-out rows by step, as they come.

import { element } from "./elements.js";
import { css, letters, sharpen } from "./shades.js";

const MOST = 600;  // places of a line; of more every second is let go
const LINES = { train: "--accent", val: "--bad" };
const NAMES = { train: "learned from", val: "held out" };

export class LossChart {
  constructor(place) {
    this.canvas = element("canvas", { role: "img", "aria-label": "no losses yet" });
    place.append(this.canvas);
    this.clear();
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  clear() {
    this.rows = [];
  }

  add(step, losses) {
    if (this.rows.at(-1)?.step === step) this.rows.pop();
    this.rows.push({ step, ...losses });
    if (this.rows.length > MOST) this.rows = this.rows.filter((_, place) => place % 2 === 0 || place === this.rows.length - 1);
    this.draw();
  }

  draw() {
    sharpen(this.canvas);
    const { width, height } = this.canvas, pen = this.canvas.getContext("2d"), scale = window.devicePixelRatio || 1;
    pen.clearRect(0, 0, width, height);
    const size = letters(), left = 4 * size, low = 1.8 * size, values = this.rows.flatMap((row) => [row.train, row.val]).filter(Number.isFinite);
    if (!values.length) return;
    const most = Math.max(...values, 1e-6), last = Math.max(this.rows.at(-1).step, 1);
    const x = (step) => left + (width - left - 4 * scale) * step / last;
    const y = (loss) => 6 * scale + (height - low - 6 * scale) * (1 - loss / most);
    pen.strokeStyle = css("--line");
    pen.lineWidth = scale;
    pen.strokeRect(left, 6 * scale, width - left - 4 * scale, height - low - 6 * scale);
    pen.fillStyle = css("--faint");
    pen.font = `${size}px system-ui, sans-serif`;
    pen.textAlign = "right";
    pen.fillText(most.toPrecision(2), left - size / 2, 1.2 * size);
    pen.fillText("0", left - size / 2, height - low);
    pen.fillText(`${last} step${last === 1 ? "" : "s"}`, width - 4 * scale, height - size / 2);
    pen.textAlign = "left";
    for (const [place, [name, colour]] of Object.entries(LINES).entries()) {
      const line = this.rows.filter((row) => Number.isFinite(row[name]));
      if (!line.length) continue;
      pen.strokeStyle = pen.fillStyle = css(colour);
      pen.lineWidth = 2 * scale;
      pen.beginPath();
      line.forEach((row, at) => pen[at ? "lineTo" : "moveTo"](x(row.step), y(row[name])));
      pen.stroke();
      pen.fillText(`loss, ${NAMES[name]}`, left + (0.5 + 11 * place) * size, height - size / 2);
    }
    const now = this.rows.at(-1);
    this.canvas.setAttribute("aria-label", `loss after ${now.step} steps: ${now.train?.toPrecision(3)} on rows learned from`
      + (Number.isFinite(now.val) ? `, ${now.val.toPrecision(3)} on rows held out` : ""));
  }
}
