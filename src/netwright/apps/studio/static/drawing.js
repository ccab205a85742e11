// A black square to draw on in white, as the handwritten digits are; it is sent as a picture or as its numbers.

import { element } from "./elements.js";

const SIDE = 280, WHITE = 255;
const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const CURSOR = "#d55e00";  // seen on black and on white

// Whether a run takes pictures, or numbers of which it is known what white is.
export const takesDrawing = ({ media, white }) => media.includes("image/*") || white !== null;

// `drawn` is called when a stroke has ended.
export function drawingOf(width, height, drawn) {
  const canvas = element("canvas", { width: SIDE, height: Math.round(SIDE * height / width), className: "drawing",
    tabIndex: 0, role: "img", "aria-label": "a place to draw on: with a mouse, a pen or a finger, or by arrows, which draw while Shift is held" });
  const paper = element("canvas", { width: canvas.width, height: canvas.height });  // what is drawn, without the cursor
  const pen = paper.getContext("2d", { willReadFrequently: true }), screen = canvas.getContext("2d");
  let before = null, cursor = null, isCursorSeen = false, isNew = false;
  const show = () => {
    screen.drawImage(paper, 0, 0);
    if (!isCursorSeen) return;
    const [x, y] = cursor, arm = SIDE / 24;
    screen.strokeStyle = CURSOR; screen.lineWidth = SIDE / 90;
    screen.beginPath();
    screen.moveTo(x - arm, y); screen.lineTo(x + arm, y);
    screen.moveTo(x, y - arm); screen.lineTo(x, y + arm);
    screen.stroke();
  };
  const showCursor = (isSeen) => { isCursorSeen = isSeen; show(); };
  const clear = () => {
    pen.fillStyle = "#000"; pen.fillRect(0, 0, paper.width, paper.height);
    before = null; isNew = false; cursor = [paper.width / 2, paper.height / 2];
    show();
  };
  clear();
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return [(event.clientX - box.left) * canvas.width / box.width, (event.clientY - box.top) * canvas.height / box.height];
  };
  const line = (from, to) => {
    pen.strokeStyle = "#fff"; pen.lineWidth = Math.max(SIDE / 12, 1.2 * SIDE / width); pen.lineCap = "round";
    pen.beginPath(); pen.moveTo(...from); pen.lineTo(...to); pen.stroke();
    isNew = true;
    show();
  };
  const stroke = (event) => {
    if (!before) return;
    const here = at(event);
    line(before, here);
    before = here;
  };
  const end = () => {
    before = null;
    if (!isNew) return;
    isNew = false;
    drawn();
  };
  canvas.addEventListener("pointerdown", (event) => { before = at(event); canvas.setPointerCapture(event.pointerId); stroke(event); });
  canvas.addEventListener("pointermove", stroke);
  for (const event of ["pointerup", "pointercancel", "blur"]) canvas.addEventListener(event, end);
  canvas.addEventListener("keydown", (event) => {
    if (!(event.key in MOVES)) return;
    event.preventDefault();
    const [right, down] = MOVES[event.key], pace = SIDE / 16;
    const here = [Math.min(canvas.width, Math.max(0, cursor[0] + right * pace)), Math.min(canvas.height, Math.max(0, cursor[1] + down * pace))];
    if (event.shiftKey) line(cursor, here);
    cursor = here;
    showCursor(true);
  });
  canvas.addEventListener("keyup", (event) => { if (event.key === "Shift") end(); });
  canvas.addEventListener("focus", () => showCursor(canvas.matches(":focus-visible")));
  canvas.addEventListener("blur", () => showCursor(false));
  const small = () => {
    const made = element("canvas", { width, height });
    const into = made.getContext("2d");
    into.imageSmoothingQuality = "high";
    into.drawImage(paper, 0, 0, width, height);
    return made;
  };
  const file = () => new Promise((give) => small().toBlob(give, "image/png"));
  // Its grey levels, 0 to 255, row by row.
  const pixels = () => [...small().getContext("2d").getImageData(0, 0, width, height).data].filter((_, at) => at % 4 === 0);
  const lines = (white) => Array.from({ length: height }, (_, row) =>
    pixels().slice(row * width, (row + 1) * width).map((one) => one * white / WHITE));
  // As a run takes it, and of which kind that is.
  const asTaken = async ({ white }) => (white === null ? [await file(), "image/png"]
    : [JSON.stringify({ inputs: [[lines(white)]] }), "application/json"]);
  return { canvas, clear, asTaken, pixels };
}
