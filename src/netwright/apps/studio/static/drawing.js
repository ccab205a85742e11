// A black square to draw on in white, as the handwritten digits are; it is sent as a picture.

import { element } from "./elements.js";

const SIDE = 280;
const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export function drawingOf(width, height, drawn) {
  const canvas = element("canvas", { width: SIDE, height: Math.round(SIDE * height / width), className: "drawing",
    tabIndex: 0, role: "img", "aria-label": "a place to draw on: with a mouse, a pen or a finger, or by arrows, which draw while Shift is held" });
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  const clear = () => { pen.fillStyle = "#000"; pen.fillRect(0, 0, canvas.width, canvas.height); };
  clear();
  let before = null, cursor = [canvas.width / 2, canvas.height / 2];
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return [(event.clientX - box.left) * canvas.width / box.width, (event.clientY - box.top) * canvas.height / box.height];
  };
  const line = (from, to) => {
    pen.strokeStyle = "#fff"; pen.lineWidth = Math.max(SIDE / 12, 1.2 * SIDE / width); pen.lineCap = "round";
    pen.beginPath(); pen.moveTo(...from); pen.lineTo(...to); pen.stroke();
  };
  const stroke = (event) => {
    if (!before) return;
    const here = at(event);
    line(before, here);
    before = here;
  };
  canvas.addEventListener("pointerdown", (event) => { before = at(event); canvas.setPointerCapture(event.pointerId); stroke(event); });
  canvas.addEventListener("pointermove", stroke);
  canvas.addEventListener("pointerup", () => { before = null; drawn(); });
  canvas.addEventListener("keydown", (event) => {
    if (!(event.key in MOVES)) return;
    event.preventDefault();
    const [right, down] = MOVES[event.key], pace = SIDE / 16;
    const here = [Math.min(canvas.width, Math.max(0, cursor[0] + right * pace)), Math.min(canvas.height, Math.max(0, cursor[1] + down * pace))];
    if (event.shiftKey) line(cursor, here);
    cursor = here;
  });
  canvas.addEventListener("keyup", (event) => { if (event.key === "Shift") drawn(); });
  const small = () => {
    const made = element("canvas", { width, height });
    const into = made.getContext("2d");
    into.imageSmoothingQuality = "high";
    into.drawImage(canvas, 0, 0, width, height);
    return made;
  };
  const file = () => new Promise((give) => small().toBlob(give, "image/png"));
  // Its grey levels, 0 to 255, row by row.
  const pixels = () => [...small().getContext("2d").getImageData(0, 0, width, height).data].filter((_, at) => at % 4 === 0);
  return { canvas, clear, file, pixels };
}
