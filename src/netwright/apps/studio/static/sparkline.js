// A small picture of losses by step, on a scale of its own.

const SVG = "http://www.w3.org/2000/svg";
const WIDE = 150, HIGH = 38, EDGE = 3;

function shape(tag, settings) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(settings)) made.setAttribute(name, value);
  return made;
}

const short = (value) => value === undefined ? "" : Number(value.toPrecision(3)).toString();

export function sparkline(curves) {
  const lines = Object.entries(curves).filter(([, points]) => points.length);
  const drawn = shape("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, class: "spark", role: "img" });
  const points = lines.flatMap(([, line]) => line);
  const told = lines.map(([name, line]) => `${name} ${short(line.at(-1)[1])}`).join(", ");
  drawn.setAttribute("aria-label", told || "no losses yet");
  if (points.length) drawn.append(titled(told));
  const steps = points.map(([step]) => step), losses = points.map(([, loss]) => loss);
  const right = Math.max(...steps, 1), low = Math.min(...losses), high = Math.max(...losses);
  const across = (step) => EDGE + (WIDE - 2 * EDGE) * step / right;
  const down = (loss) => HIGH - EDGE - (HIGH - 2 * EDGE) * (high > low ? (loss - low) / (high - low) : 0.5);
  for (const [name, line] of lines) {
    const kind = name.replace("/", "-");
    if (line.length === 1) {
      drawn.append(shape("circle", { cx: across(line[0][0]), cy: down(line[0][1]), r: 2.5, class: kind }));
    } else {
      const path = line.map(([step, loss]) => `${across(step).toFixed(1)},${down(loss).toFixed(1)}`);
      drawn.append(shape("polyline", { points: path.join(" "), class: kind }));
    }
  }
  return drawn;
}

function titled(words) {
  const made = shape("title", {});
  made.textContent = words;
  return made;
}
