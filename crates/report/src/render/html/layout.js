// Where things lie in the drawings, as plain numbers. No DOM in here: `tests/page.mjs` runs it in node.

/** The first row whose value is above `value`, in a column that only grows. */
function upperBound(column, value) {
  let low = 0;
  let high = column.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (column[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The totals in `width` columns over the events from `from` to `to`: for each column its highest allocated and that
 * one's event, and its highest reserved. A column without a point of its own goes on with the point before; `point` is
 * the event of that point, at which the spans add up to the total.
 */
function columnsOf(total, from, to, width) {
  const [event, point, allocated, reserved] = [0, 1, 2, 3].map(() => new Float64Array(width));
  const perColumn = (to - from) / width;
  let row = upperBound(total.event, from) - 1;
  for (let column = 0; column < width; column++) {
    const start = from + column * perColumn;
    let best = row;
    let most = row >= 0 ? total.reserved[row] : 0;
    while (row + 1 < total.event.length && total.event[row + 1] < start + perColumn) {
      row++;
      if (best < 0 || total.event[best] < start || total.allocated[row] > total.allocated[best]) best = row;
      most = Math.max(most, total.reserved[row]);
    }
    event[column] = best < 0 ? start : Math.max(start, total.event[best]);
    point[column] = best < 0 ? start : total.event[best];
    allocated[column] = best < 0 ? 0 : total.allocated[best];
    reserved[column] = most;
  }
  return { event, point, allocated, reserved };
}

/**
 * Which span owns each pixel: `width` columns of `height` pixels, bottom up, as an Int32Array with -1 for none. In each
 * column the spans alive at that column's event are stacked, the oldest at the bottom; `top` bytes are the full height.
 * Its cost is bounded by the pixels and the spans, not by how the spans overlap.
 */
function rasterSpans(span, events, height, top) {
  const owners = new Int32Array(events.length * height).fill(-1);
  const alive = new Uint32Array(span.from.length);
  let count = 0;
  let next = 0;
  let nextEnd = Infinity;
  for (let column = 0; column < events.length; column++) {
    const event = events[column];
    const began = next;
    while (next < span.from.length && span.from[next] <= event) alive[count++] = next++;
    if (column > 0 && next === began && event < nextEnd) {
      owners.copyWithin(column * height, (column - 1) * height, column * height);
      continue;
    }
    let kept = 0;
    let sum = 0;
    let pixel = column * height;
    nextEnd = Infinity;
    for (let at = 0; at < count; at++) {
      const row = alive[at];
      const end = span.from[row] + span.length[row];
      if (end <= event) continue;
      alive[kept++] = row;
      nextEnd = Math.min(nextEnd, end);
      sum += span.bytes[row];
      const stop = column * height + Math.min(height, Math.round((sum / top) * height));
      while (pixel < stop) owners[pixel++] = row;
    }
    count = kept;
  }
  return owners;
}

/**
 * The segments one after the other in rows of equal bytes: pieces `{segment, row, from, to}` in bytes within the row. A
 * segment that does not fit goes on in the next row.
 */
function wrapSegments(sizes, rowBytes) {
  const pieces = [];
  let at = 0;
  sizes.forEach((size, segment) => {
    let start = 0;
    while (start < size) {
      const row = Math.floor(at / rowBytes);
      const room = (row + 1) * rowBytes - at;
      const bytes = Math.min(room, size - start);
      const from = at - row * rowBytes;
      pieces.push({ segment, row, from, to: from + bytes, start });
      at += bytes;
      start += bytes;
    }
  });
  return pieces;
}

/** A round number of bytes for a row, so that all segments take at most `rows` rows. */
function rowBytesFor(total, rows) {
  return Math.max(2 ** 20, Math.ceil(total / rows / 2 ** 20) * 2 ** 20);
}

/** The frame of a node for stacks that were not recorded, as in autograd's threads. */
const NO_STACK = -2;

/** A node of the flame graph; the root has no parent and no frame. */
function flameNode(frame, parent) {
  return { frame, parent, depth: parent ? parent.depth + 1 : 0, bytes: 0, count: 0, children: new Map() };
}

/** Stacks merged from their outermost frame on; the root of the tree. */
function mergeStacks(device) {
  const root = flameNode(-1, null);
  device.stack.bytes.forEach((bytes, stack) => {
    if (bytes === 0) return;
    let node = root;
    addTo(node, bytes, device.stack.count[stack]);
    const frames = framesOf(device, stack).reverse();
    for (const frame of frames.length > 0 ? frames : [NO_STACK]) {
      if (!node.children.has(frame)) node.children.set(frame, flameNode(frame, node));
      node = node.children.get(frame);
      addTo(node, bytes, device.stack.count[stack]);
    }
  });
  return root;
}

function addTo(node, bytes, count) {
  node.bytes += bytes;
  node.count += count;
}

/** The nodes to draw when `focus` takes the whole width: `{node, left, width}` in shares of it, none below `least`. */
function layoutFlame(focus, least) {
  const boxes = [];
  for (let node = focus.parent; node; node = node.parent) boxes.push({ node, left: 0, width: 1 });
  const open = [{ node: focus, left: 0, width: 1 }];
  while (open.length > 0) {
    const box = open.pop();
    boxes.push(box);
    let left = box.left;
    const children = [...box.node.children.values()].sort((one, other) => other.bytes - one.bytes);
    for (const node of children) {
      const width = (node.bytes / box.node.bytes) * box.width;
      if (width >= least) open.push({ node, left, width });
      left += width;
    }
  }
  return boxes;
}

/** A view that zooms by `factor` about the event at `share` of its width, within the whole. */
function zoomed(view, factor, share, events) {
  const length = Math.min(events, Math.max(16, (view.to - view.from) * factor));
  const centre = view.from + share * (view.to - view.from);
  return clamped(centre - share * length, length, events);
}

/** A view of `length` events from `from` on, moved to where it lies within the whole. */
function clamped(from, length, events) {
  const start = Math.max(0, Math.min(from, events - length));
  return { from: start, to: start + length };
}

/** Boxes `{left, right, top, bottom}` of which none covers one before it: those that would are moved down. */
function apart(boxes) {
  const placed = [];
  for (const box of boxes) {
    const moved = { ...box };
    const covered = () => placed.find((other) => other.left < moved.right && moved.left < other.right
      && other.top < moved.bottom && moved.top < other.bottom);
    for (let other = covered(); other; other = covered()) {
      moved.bottom += other.bottom - moved.top;
      moved.top = other.bottom;
    }
    placed.push(moved);
  }
  return placed;
}

/** Round numbers of bytes up to `top`, at most five: 1, 2 or 5 times a power of ten of a binary unit. */
function ticks(top) {
  if (!(top > 0)) return [];
  const unit = 1024 ** Math.floor(Math.log2(top) / 10);
  const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500].map((step) => step * unit);
  const step = steps.find((step) => top / step < 6) ?? steps.at(-1);
  return Array.from({ length: Math.floor(top / step) }, (_, at) => (at + 1) * step);
}
