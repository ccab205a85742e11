// The form in which a run gets its tags and its note.

import { ask, element, trying } from "./elements.js";

export function openNotes(run, saved) {
  const tags = element("input", { type: "text", id: "note-tags", value: run.tags.join(" ") });
  const note = element("textarea", { id: "note-text", rows: 4, value: run.note });
  const message = element("p", { className: "bad", role: "alert" });
  const save = async () => {
    try {
      await ask("/api/note", { run: run.name, tags: tags.value.split(/[\s,]+/).filter(Boolean), note: note.value });
    } catch (error) {
      message.textContent = error.message;
      return;
    }
    dialog.close();
    await saved();
  };
  const form = element("form", { onsubmit: (event) => { event.preventDefault(); trying(save); } },
    element("h2", {}, `Tags and note of ${run.name}`),
    element("div", { className: "field" }, element("label", { htmlFor: "note-tags" }, "Tags"), tags, element("small", {}, "words, with spaces between them")),
    element("div", { className: "field" }, element("label", { htmlFor: "note-text" }, "Note"), note), message,
    element("button", { type: "submit", className: "main" }, "Save"),
    element("button", { type: "button", onclick: () => dialog.close() }, "Cancel"));
  const dialog = element("dialog", { className: "notes" }, form);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
