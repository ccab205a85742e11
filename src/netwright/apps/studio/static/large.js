// A large mode, for a projector: the button is on every page, and the choice is kept.

import { element } from "./elements.js";

const KEY = "netwright-large";
const isLarge = () => document.documentElement.classList.contains("large");
const button = element("button", { type: "button", className: "large", onclick: () => turn(!isLarge()) }, "Large");

function turn(large) {
  document.documentElement.classList.toggle("large", large);
  button.setAttribute("aria-pressed", String(large));
  if (large) localStorage.setItem(KEY, "1");
  else localStorage.removeItem(KEY);
}

document.querySelector("nav.site").append(button);
const asked = new URLSearchParams(location.search).get("large");  // a link may ask for it
turn(asked === null ? localStorage.getItem(KEY) === "1" : asked === "1");
