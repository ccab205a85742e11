// Elements made of words, never of markup: whatever a name holds, it stays text.

export function element(tag, settings = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(settings)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name in made && name !== "list") made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export const find = (name) => document.getElementById(name);

export function say(words, isBad = false) {
  const place = find("message");
  place.textContent = words;
  place.classList.toggle("bad", isBad);
}

// The answer of the studio; what it refuses is thrown as its sentence.
export async function ask(path, body) {
  const sent = body === undefined ? {} : {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  };
  const reply = await fetch(path, sent);
  const told = await reply.json();
  if (!reply.ok) throw new Error(told.error);
  return told;
}

export async function trying(action) {
  try {
    await action();
  } catch (error) {
    say(error.message, true);
  }
}

export function table(rows, numbers = []) {
  if (!rows.length) return element("div");
  const columns = Object.keys(rows[0]);
  const kind = (name) => (numbers.includes(name) ? "number" : "");
  const head = columns.map((name) => element("th", { className: kind(name), scope: "col" }, name));
  const body = rows.map((row) => element("tr", {}, ...columns.map((name, place) => {
    const cell = element("td", { className: kind(name) }, row[name]);
    if (place) cell.dataset.of = name;
    return cell;
  })));
  const made = element("table", { className: columns.length > 3 ? "many" : "" },
    element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...body));
  return element("div", { className: "scroll" }, made);
}
