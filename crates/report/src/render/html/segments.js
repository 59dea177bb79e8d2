// The segments as a map: rows of equal bytes in address order, blocks in the colour of their stack, free memory
// hatched.

const ROW_HEIGHT = 16;
const ROW_GAP = 3;
const ROWS = 28;

/** Draws into `#segments` and answers the pointer and the arrow keys. */
function segmentMap(page) {
  const canvas = $("segments");
  const state = { device: null, by: "category", pieces: [], rowBytes: 1, chosen: -1 };

  function draw() {
    const { device } = state;
    const sizes = Array.from(device.segment.bytes);
    $("segment-section").hidden = sizes.length === 0;
    if (sizes.length === 0) return;
    state.rowBytes = rowBytesFor(sizes.reduce((sum, size) => sum + size, 0), ROWS);
    state.pieces = wrapSegments(sizes, state.rowBytes);
    const rows = state.pieces.at(-1).row + 1;
    const sheet = prepare(canvas, rows * (ROW_HEIGHT + ROW_GAP));
    const colours = paletteOf(page, device, state.by);
    const hatch = hatching(sheet.context);
    state.pieces.forEach((piece) => paint(sheet, piece, colours, hatch));
    state.scale = sheet.width / state.rowBytes;
  }

  function paint({ context, width }, piece, colours, hatch) {
    const { device, rowBytes } = state;
    const x = (bytes) => (bytes / rowBytes) * width;
    const y = piece.row * (ROW_HEIGHT + ROW_GAP);
    const box = [x(piece.from), y, Math.max(1, x(piece.to - piece.from)), ROW_HEIGHT];
    context.fillStyle = cssColour("panel");
    context.fillRect(...box);
    context.fillStyle = hatch;
    context.fillRect(...box);
    const end = piece.start + piece.to - piece.from;
    const [first, last] = blocksOf(piece.segment);
    for (let block = first; block < last; block++) {
      const from = Math.max(piece.start, device.block.offset[block]);
      const to = Math.min(end, device.block.offset[block] + device.block.bytes[block]);
      if (to <= from) continue;
      const colour = colours[device.block.stack[block]] ?? cssColour("rest");
      context.fillStyle = block === state.chosen ? cssColour("ink") : colour;
      const left = x(piece.from + from - piece.start);
      const across = x(to - from);
      context.fillRect(left, y, across > 3 ? across - 0.75 : Math.max(0.5, across), ROW_HEIGHT);
    }
    context.fillStyle = cssColour("ink");
    context.fillRect(box[0], y, 1, ROW_HEIGHT);
  }

  /** The rows of a segment's blocks: from the first to before the last. */
  function blocksOf(segment) {
    const { firstBlock } = state.device.segment;
    return [firstBlock[segment], firstBlock[segment + 1]];
  }

  /** The segment, offset and block at a point of the canvas. */
  function under(offsetX, offsetY) {
    const row = Math.floor(offsetY / (ROW_HEIGHT + ROW_GAP));
    const at = offsetX / state.scale;
    const piece = state.pieces.find((piece) => piece.row === row && at >= piece.from && at < piece.to);
    if (!piece) return null;
    const { block } = state.device;
    const offset = piece.start + at - piece.from;
    const [first, last] = blocksOf(piece.segment);
    const nearest = first + upperBound(block.offset.subarray(first, last), offset) - 1;
    const isUsed = nearest >= first && offset < block.offset[nearest] + block.bytes[nearest];
    return { segment: piece.segment, block: isUsed ? nearest : -1, offset };
  }

  function note(found) {
    if (!found) return;
    const { device } = state;
    const lines = [describeSegment(found.segment)];
    if (found.block < 0) {
      say($("segments-note"), [`free: ${showBytes(gapAt(found))}`, ...lines]);
      return;
    }
    const stack = device.block.stack[found.block];
    const contents = page.categories[device.stack.category[stack]] ?? "";
    const what = `${showBytes(device.block.bytes[found.block])} ${contents}, ${placeOf(device, stack)}`;
    say($("segments-note"), [what, ...lines, ...tellingFrames(device, stack)]);
  }

  function gapAt({ segment, offset }) {
    const { block } = state.device;
    const [first, last] = blocksOf(segment);
    let from = 0;
    let to = state.device.segment.bytes[segment];
    for (let row = first; row < last; row++) {
      const end = block.offset[row] + block.bytes[row];
      if (end <= offset) from = Math.max(from, end);
      else if (block.offset[row] > offset) to = Math.min(to, block.offset[row]);
    }
    return to - from;
  }

  function describeSegment(segment) {
    const { address, bytes, kind } = state.device.segment;
    const size = `${showBytes(bytes[segment])} at 0x${address[segment].toString(16)}`;
    const words = [["", "small", "large"][kind[segment] & 3], kind[segment] & 4 ? "expandable" : "", size];
    return `segment: ${words.filter(Boolean).join(", ")}`;
  }

  function choose(block) {
    const { device } = state;
    if (device.block.bytes.length === 0) return;
    state.chosen = Math.max(0, Math.min(device.block.bytes.length - 1, block));
    draw();
    note({ segment: upperBound(device.segment.firstBlock, state.chosen) - 1, block: state.chosen });
  }

  const point = (event) => note(under(event.offsetX, event.offsetY));
  ["pointermove", "pointerdown"].forEach((name) => canvas.addEventListener(name, point));
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    choose(state.chosen + step);
  });

  const load = (device) => {
    Object.assign(state, { device, chosen: -1 });
    draw();
    const sum = (sizes) => sizes.reduce((total, size) => total + size, 0);
    const [segments, blocks] = [device.segment.bytes, device.block.bytes];
    const free = showBytes(sum(segments) - sum(blocks));
    const counts = `${segments.length} segments, ${blocks.length} blocks in use, ${free} free in between`;
    say($("segments-note"), [counts, `one row is ${showBytes(state.rowBytes)}`]);
  };
  const colourBy = (by) => { state.by = by; draw(); };
  return { load, draw, colourBy };
}
