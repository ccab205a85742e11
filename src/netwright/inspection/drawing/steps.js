"use strict";
// Keys turn the steps of a page from the moment it is open: arrows, space, Home, End, and the
// PageDown and PageUp that a presenter's remote sends. The buttons work without this script.
document.addEventListener("keydown", (event) => {
  const moves = { ArrowRight: 1, ArrowDown: 1, PageDown: 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1,
    " ": event.shiftKey ? -1 : 1, Home: -Infinity, End: Infinity };
  const isOurs = Object.hasOwn(moves, event.key) && !event.ctrlKey && !event.altKey && !event.metaKey;
  const presses = event.key === " " && event.target.closest("a, summary");
  // Where they are scrolled out of sight the keys scroll, as on any page.
  const steps = [...document.querySelectorAll(".steps")].find((one) => {
    const { top, bottom } = one.getBoundingClientRect();
    return bottom > 0 && top < window.innerHeight;
  });
  if (!isOurs || presses || !steps) return;
  event.preventDefault();
  const choices = [...steps.querySelectorAll(":scope > input")];
  const here = choices.findIndex((choice) => choice.checked);
  const there = choices[Math.min(Math.max(here + moves[event.key], 0), choices.length - 1)];
  there.checked = true;
  if (steps.contains(document.activeElement)) there.focus({ preventScroll: true });
});
