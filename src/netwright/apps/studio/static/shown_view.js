// A view as the studio tells of it: its picture, caption and table.

import { element, table } from "./elements.js";

export const shownView = (told) => [
  element("h3", {}, told.title),
  element("figure", {}, element("div", { className: "scroll" }, element("img", { alt: told.title, src: told.picture })),
    element("figcaption", {}, told.caption)),
  table(told.rows.slice(0, 200)),
];

// A view of an input that is sent: JSON, or a picture.
export async function viewOf(query, body, media) {
  const reply = await fetch(`/api/view/own?${new URLSearchParams(query)}`, { method: "POST", body, headers: { "Content-Type": media } });
  const told = await reply.json();
  if (!reply.ok) throw new Error(told.error);
  return told;
}
