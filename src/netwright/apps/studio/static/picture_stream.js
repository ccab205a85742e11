// The messages of a playground: JSON, and the arrays of bytes that it names, after each other.

function read(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const size = view.getUint32(0, true);
  const numbers = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size)));
  let at = 4 + size;
  const arrays = {};
  for (const [name, shape] of Object.entries(numbers.arrays)) {
    const length = shape.reduce((all, side) => all * side, 1);
    arrays[name] = { shape, bytes: bytes.subarray(at, at + length) };
    at += length;
  }
  return { numbers, arrays };
}

// Opens a playground and gives each of its messages to `take`, until it ends or is left.
export async function watch(asked, take, leaving) {
  const reply = await fetch("/api/playground", {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(asked), signal: leaving,
  });
  if (!reply.ok) throw new Error((await reply.json()).error);
  const reader = reply.body.getReader();
  let kept = new Uint8Array(0);
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const joined = new Uint8Array(kept.length + value.length);
    joined.set(kept);
    joined.set(value, kept.length);
    kept = joined;
    while (kept.length >= 4) {
      const size = new DataView(kept.buffer, kept.byteOffset).getUint32(0, true);
      if (kept.length < 4 + size) break;
      if (size) take(read(kept.subarray(4, 4 + size)));
      kept = kept.subarray(4 + size);
    }
  }
}
