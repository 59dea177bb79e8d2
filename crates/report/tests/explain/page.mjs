// Reads a page as a browser would, less the drawing: the policy's hashes, the page data, and where things lie.
// Its argument is the page of the `snapshot` report of `samples.rs`.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const GIB = 2 ** 30;
const page = readFileSync(process.argv[2], "utf8");

const between = (start, end) => page.split(start)[1].split(end)[0];
const script = between('<script type="module">', "</script>");
const hash = (text) => createHash("sha256").update(text).digest("base64");
assert.ok(page.includes(`script-src &#39;sha256-${hash(script)}&#39;`), "the script is the one that the policy names");
assert.ok(page.includes(`style-src &#39;sha256-${hash(between("<style>", "</style>"))}&#39;`), "so is the style");

// The whole script parses; only a browser can run it.
new Function(script);

// What needs no document stands above `look.js`, which starts with `$`.
const pure = script.slice(0, script.indexOf("const $"));
const names = ["decodePage", "decodeColumn", "columnsOf", "rasterSpans", "wrapSegments", "mergeStacks", "layoutFlame",
  "placeOf", "showBytes", "zoomed", "upperBound", "ticks", "rowBytesFor", "apart"];
const made = new Function(`"use strict"; ${pure}; return { ${names.join(", ")} };`)();

const data = made.decodePage(between('id="page-data">', "</script>"));
const [device] = data.devices;
assert.equal(device.name, "rank 0, cuda:0");
assert.deepEqual([device.events, device.peak_event, device.oom_event], [5, 2, 3]);
assert.equal(device.total_bytes, 24 * GIB);
assert.deepEqual([...device.total.event], [0, 2, 4]);
assert.deepEqual([...device.total.time], [0, 2, 4].map((event) => 1.7e15 + event));
assert.deepEqual([...device.total.allocated], [4 * GIB, 16 * GIB, 4 * GIB]);
assert.deepEqual([...device.total.reserved], [8 * GIB, 20 * GIB, 20 * GIB]);
assert.deepEqual([...device.span.from], [0, 2]);
assert.deepEqual([...device.span.length], [5, 2]);
assert.deepEqual([...device.span.stack], [0, 1]);
assert.deepEqual([...device.segment.address], [0x7f0000000000]);
assert.deepEqual([...device.segment.kind], [2 + 4]);
assert.deepEqual([...device.segment.firstBlock], [0, 2]);
assert.deepEqual([...device.block.offset], [0, 5 * GIB]);
assert.deepEqual([...device.stack.category].map((category) => data.categories[category]), ["parameters", "activations"]);
assert.deepEqual([...device.step.event], [1]);
assert.equal(made.placeOf(device, 0), "no stack was recorded");
assert.equal(made.placeOf(device, 1), "gpt/model.py:57 forward");

// A reader refuses what it does not know, and pads what was cut off.
assert.throws(() => made.decodePage('{"format":"oomph-page","version":2,"devices":[]}'), /expected oomph-page version 1/);
assert.deepEqual([...made.decodeColumn({ length: 3, delta: false, data: "rAI=" })], [300, 0, 0]);
assert.deepEqual([...made.decodeColumn({ length: 3, delta: true, data: "AgEE" })], [1, 0, 2]);

// The peak of a column of pixels survives, however many events it stands for.
const whole = made.columnsOf(device.total, 0, 5, 1);
assert.deepEqual([whole.event[0], whole.allocated[0], whole.reserved[0]], [2, 16 * GIB, 20 * GIB]);
const five = made.columnsOf(device.total, 0, 5, 5);
assert.deepEqual([...five.allocated].map((bytes) => bytes / GIB), [4, 4, 16, 16, 4]);
assert.deepEqual([[...five.event], [...five.point]], [[0, 1, 2, 3, 4], [0, 0, 2, 2, 4]], "spans are looked up where the total was taken");

// The older span lies below; what is not alive is not there.
const owners = made.rasterSpans(device.span, [0, 2, 4], 20, 20 * GIB);
const column = (at) => [...owners.subarray(at * 20, at * 20 + 20)];
assert.deepEqual(column(0), [...Array(4).fill(0), ...Array(16).fill(-1)]);
assert.deepEqual(column(1), [...Array(4).fill(0), ...Array(12).fill(1), ...Array(4).fill(-1)]);
assert.deepEqual(column(2), column(0));

// The same as a plain search for who owns each pixel, for spans without a pattern. A pixel is two bytes high here; as ends
// are rounded half up, it belongs to the owner of its lower byte.
let seed = 1;
const below = (limit) => { seed = (seed * 48271) % 2147483647; return seed % limit; };
const from = Array.from({ length: 60 }, () => below(100)).sort((one, other) => one - other);
const many = { from, length: from.map(() => below(40)), bytes: from.map(() => 1 + below(9)) };
const events = Array.from({ length: 120 }, (_, at) => at);
const fast = made.rasterSpans(many, events, 64, 128);
events.forEach((event) => {
  const alive = from.map((_, row) => row).filter((row) => from[row] <= event && from[row] + many.length[row] > event);
  const expected = alive.flatMap((row) => Array(many.bytes[row]).fill(row));
  for (let pixel = 0; pixel < 64; pixel++) {
    assert.equal(fast[event * 64 + pixel], expected[pixel * 2] ?? -1, `event ${event}, pixel ${pixel}`);
  }
});

// Segments fill their rows and nothing is lost at the ends of rows.
const pieces = made.wrapSegments([6, 3, 10], 8);
assert.equal(pieces.reduce((sum, piece) => sum + piece.to - piece.from, 0), 19);
assert.deepEqual(pieces.map((piece) => [piece.segment, piece.row, piece.from, piece.to]),
  [[0, 0, 0, 6], [1, 0, 6, 8], [1, 1, 0, 1], [2, 1, 1, 8], [2, 2, 0, 3]]);
assert.equal(made.rowBytesFor(20 * GIB, 28) % 2 ** 20, 0);

// Stacks merge from the outside in.
const root = made.mergeStacks(device);
assert.equal(root.bytes, 16 * GIB);
assert.equal(root.children.size, 2);
const boxes = made.layoutFlame(root, 0);
const placed = boxes.map(({ node, left, width }) => [node.depth, left, width]);
// The quarter without a stack stands beside the recorded stacks.
assert.deepEqual(placed.toSorted(), [[0, 0, 1], [1, 0, 0.75], [1, 0.75, 0.25], [2, 0, 0.75]]);

assert.equal(made.showBytes(1.5 * GIB), "1.50 GiB");
assert.equal(made.showBytes(512), "512 B");
assert.deepEqual(made.zoomed({ from: 0, to: 1000 }, 0.5, 0, 1000), { from: 0, to: 500 });
assert.deepEqual(made.zoomed({ from: 0, to: 1000 }, 2, 0.5, 1000), { from: 0, to: 1000 });
assert.equal(made.upperBound([1, 3, 3, 7], 3), 3);
assert.deepEqual(made.ticks(20 * GIB), [5, 10, 15, 20].map((gib) => gib * GIB));
assert.deepEqual(made.ticks(0), []);

// Words give way downwards, past all that they would cover, and only then.
const words = (left, top, width = 100) => ({ left, right: left + width, top, bottom: top + 14 });
assert.deepEqual(made.apart([]), []);
assert.deepEqual(made.apart([words(0, 0), words(100, 0), words(0, 14)]), [words(0, 0), words(100, 0), words(0, 14)]);
assert.deepEqual(made.apart([words(0, 0), words(50, 5), words(90, 10)]), [words(0, 0), words(50, 14), words(90, 28)]);
assert.deepEqual(made.apart([words(0, 20), words(60, 8), words(60, 0)]), [words(0, 20), words(60, 34), words(60, 0)]);
