// A black square to draw on in white, as the handwritten digits are; it is sent as a picture.

import { element } from "./elements.js";

const SIDE = 280;

export function drawingOf(width, height, drawn) {
  const canvas = element("canvas", { width: SIDE, height: Math.round(SIDE * height / width), className: "drawing",
    tabIndex: 0, "aria-label": "a place to draw on, with a mouse, a pen or a finger" });
  const pen = canvas.getContext("2d");
  const clear = () => { pen.fillStyle = "#000"; pen.fillRect(0, 0, canvas.width, canvas.height); };
  clear();
  let before = null;
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return [(event.clientX - box.left) * canvas.width / box.width, (event.clientY - box.top) * canvas.height / box.height];
  };
  const line = (event) => {
    if (!before) return;
    const here = at(event);
    pen.strokeStyle = "#fff"; pen.lineWidth = SIDE / 12; pen.lineCap = "round";
    pen.beginPath(); pen.moveTo(...before); pen.lineTo(...here); pen.stroke();
    before = here;
  };
  canvas.addEventListener("pointerdown", (event) => { before = at(event); canvas.setPointerCapture(event.pointerId); line(event); });
  canvas.addEventListener("pointermove", line);
  canvas.addEventListener("pointerup", () => { before = null; drawn(); });
  const file = () => {
    const small = element("canvas", { width, height });
    const into = small.getContext("2d");
    into.imageSmoothingQuality = "high";
    into.drawImage(canvas, 0, 0, width, height);
    return new Promise((give) => small.toBlob(give, "image/png"));
  };
  return { canvas, clear, file };
}
