// A view as the studio tells of it: its picture, caption and table.

import { element, table } from "./elements.js";

// Its picture, which says so where it is wider than the screen.
export function figureOf(told) {
  const image = element("img", { alt: told.title, src: told.picture });
  const scroll = element("div", { className: "scroll" }, image), figure = element("figure", {}, scroll, element("figcaption", {}, told.caption));
  new ResizeObserver(() => figure.classList.toggle("pushed", scroll.scrollWidth > scroll.clientWidth + 1)).observe(image);
  return figure;
}

export const shownView = (told) => [
  element("h3", {}, told.title),
  figureOf(told),
  table(told.rows.slice(0, 200)),
];

// A view of an input that is sent: JSON, or a picture.
export async function viewOf(query, body, media) {
  const reply = await fetch(`/api/view/own?${new URLSearchParams(query)}`, { method: "POST", body, headers: { "Content-Type": media } });
  const told = await reply.json();
  if (!reply.ok) throw new Error(told.error);
  return told;
}
