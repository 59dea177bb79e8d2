// Memory over time: the largest allocations stacked, the totals as lines above them. Wheel, drag, pinch and keys.

const TIMELINE_HEIGHT = 320;
const AXIS = 18;
const FONT = "12px system-ui, sans-serif";
const ASCENT = 11;
const DESCENT = 3;

/** Draws into `#timeline` and answers the pointer; returns what the page's buttons call. */
function timeline(page) {
  const canvas = $("timeline");
  const state = { device: null, view: { from: 0, to: 1 }, by: "category", drawn: null, waiting: 0 };

  const events = () => Math.max(1, state.device.events, state.device.total.event.at(-1) ?? 0);
  const show = (view) => { state.view = view; soon(); };
  const zoom = (factor, share = 0.5) => show(zoomed(state.view, factor, share, events()));
  const pan = (share) => {
    const length = state.view.to - state.view.from;
    show(clamped(state.view.from + share * length, length, events()));
  };
  const reset = () => show({ from: 0, to: events() });
  const toPeak = () => {
    const peak = state.device.peak_event ?? 0;
    const length = Math.min(events(), Math.max(64, events() / 50));
    show(clamped(peak - length / 2, length, events()));
  };

  /** Draws at the next frame, once for however many moves came before it. */
  function soon() {
    cancelAnimationFrame(state.waiting);
    state.waiting = requestAnimationFrame(draw);
  }

  function draw() {
    const { device, view } = state;
    $("time-section").hidden = device.total.event.length < 2;
    const sheet = prepare(canvas, TIMELINE_HEIGHT);
    const width = Math.floor(sheet.width * sheet.ratio);
    const height = Math.floor((TIMELINE_HEIGHT - AXIS) * sheet.ratio);
    const columns = columnsOf(device.total, view.from, view.to, width);
    const highest = Math.max(1, ...columns.reserved, ...columns.allocated);
    const limit = device.total_bytes !== null && device.total_bytes < 2 * highest ? device.total_bytes : 0;
    const top = Math.max(highest, limit) * 1.05;
    const owners = rasterSpans(device.span, columns.point, height, top);
    paintSpans(sheet.context, owners, columns, { width, height, top });
    const labels = [...paintAxis(sheet, top), ...paintLines(sheet, columns, { top, limit }), ...paintMarks(sheet)];
    write(sheet.context, labels);
    state.drawn = { columns, owners, width, height, top, ratio: sheet.ratio };
    noteView(columns);
  }

  function paintSpans(context, owners, columns, { width, height, top }) {
    const colours = paletteOf(page, state.device, state.by).map(pixelOf);
    const rest = pixelOf(cssColour("rest"));
    const image = context.createImageData(width, height);
    const pixels = new Uint32Array(image.data.buffer);
    for (let column = 0; column < width; column++) {
      const filled = Math.min(height, Math.round((columns.allocated[column] / top) * height));
      let below = -1;
      let border = -4;
      for (let pixel = 0; pixel < filled; pixel++) {
        const owner = owners[column * height + pixel];
        let colour = owner < 0 ? rest : colours[state.device.span.stack[owner]] ?? rest;
        if (owner !== below && pixel > border + 3) {
          colour = faded(colour);
          border = pixel;
        }
        below = owner;
        pixels[(height - 1 - pixel) * width + column] = colour;
      }
    }
    context.putImageData(image, 0, 0);
  }

  /** Draws the totals and the device's memory; returns the words for them. */
  function paintLines({ context, width }, columns, { top, limit }) {
    const height = TIMELINE_HEIGHT - AXIS;
    const y = (bytes) => height - (bytes / top) * height;
    const line = (values, colour, dash) => {
      context.strokeStyle = cssColour(colour);
      context.setLineDash(dash);
      context.lineWidth = 1.5;
      context.beginPath();
      values.forEach((value, at) => context.lineTo((at / values.length) * width, y(value)));
      context.stroke();
    };
    line(columns.reserved, "reserved", [6, 3]);
    line(columns.allocated, "ink", []);
    context.setLineDash([]);
    if (limit === 0) return [];
    context.fillStyle = cssColour("error");
    context.fillRect(0, y(limit), width, 1);
    return [{ words: `${state.device.total_words} ${showBytes(limit)}`, colour: "error", right: width - 2, y: y(limit) + 13 }];
  }

  /** Draws a line at the peak and at the error; returns the words for them. */
  function paintMarks({ context, width }) {
    const { from, to } = state.view;
    const { peak_event, oom_event } = state.device;
    const marks = [[peak_event, "peak", "ink"], [oom_event, "out of memory", "error"]];
    return marks.filter(([event]) => event !== null && event >= from && event <= to).map(([event, words, colour]) => {
      const x = ((event - from) / (to - from)) * width;
      context.fillStyle = cssColour(colour);
      context.fillRect(x, 0, 1, TIMELINE_HEIGHT - AXIS);
      return { words, colour, y: 28, ...(x > width / 2 ? { right: x - 4 } : { left: x + 4 }) };
    });
  }

  /** Words that are readable on any colour and cover none; each begins at `left` or ends at `right`. */
  function write(context, labels) {
    Object.assign(context, { font: FONT, textAlign: "left", lineWidth: 3, lineJoin: "round" });
    context.strokeStyle = cssColour("paper");
    const boxes = apart(labels.map(({ words, left, right, y }) => {
      const { width } = context.measureText(words);
      const start = left ?? right - width;
      return { left: start, right: start + width, top: y - ASCENT, bottom: y + DESCENT };
    }));
    labels.forEach(({ words, colour }, at) => {
      const { left, bottom } = boxes[at];
      context.fillStyle = cssColour(colour);
      context.strokeText(words, left, bottom - DESCENT);
      context.fillText(words, left, bottom - DESCENT);
    });
  }

  /** Draws the grid and the numbers of the events; returns the words for the sizes. */
  function paintAxis({ context, width }, top) {
    const { from, to } = state.view;
    const height = TIMELINE_HEIGHT - AXIS;
    Object.assign(context, { font: FONT, textAlign: "left", fillStyle: cssColour("grid") });
    const labels = ticks(top).map((bytes) => {
      const y = height - (bytes / top) * height;
      context.fillRect(0, y, width, 1);
      return { words: showBytes(bytes).replace(".00", ""), colour: "ink", left: 2, y: y - 3 };
    });
    context.fillStyle = cssColour("faint");
    context.fillText(`event ${Math.round(from)}`, 0, TIMELINE_HEIGHT - 4);
    context.textAlign = "right";
    context.fillText(`${Math.round(to)}`, width, TIMELINE_HEIGHT - 4);
    const shown = Array.from(state.device.step.event).filter((event) => event >= from && event <= to);
    if (shown.length <= width / 8) {
      shown.forEach((event) => context.fillRect(((event - from) / (to - from)) * width, TIMELINE_HEIGHT - AXIS, 1, 5));
    }
    return labels;
  }

  function noteView(columns) {
    const highest = columns.allocated.reduce((best, bytes, at) => (bytes > columns.allocated[best] ? at : best), 0);
    const { from, to } = state.view;
    say($("timeline-note"), [
      `Events ${Math.round(from)} to ${Math.round(to)} of ${events()}`,
      `highest ${showBytes(columns.allocated[highest])} allocated at event ${Math.round(columns.event[highest])}`,
      `${showBytes(columns.reserved.reduce((most, bytes) => Math.max(most, bytes), 0))} reserved`,
    ]);
  }

  /** What lies under the pointer, in words. */
  function noteAt(x, y) {
    if (!state.drawn) return;
    const { columns, owners, width, height, top, ratio } = state.drawn;
    const column = Math.max(0, Math.min(width - 1, Math.floor(x * ratio)));
    const pixel = height - 1 - Math.floor(y * ratio);
    const totals = [
      `event ${Math.round(columns.event[column])}${timeAt(columns.event[column])}`,
      `${showBytes(columns.allocated[column])} allocated, ${showBytes(columns.reserved[column])} reserved`,
    ];
    const inside = pixel >= 0 && pixel < (columns.allocated[column] / top) * height;
    const owner = inside ? owners[column * height + pixel] : -1;
    if (owner < 0) {
      const rest = "the rest: smaller allocations, and allocations without a recorded event";
      say($("timeline-note"), inside ? [rest, ...totals] : totals);
      return;
    }
    say($("timeline-note"), [...describeSpan(owner), ...totals]);
  }

  function timeAt(event) {
    const { total } = state.device;
    const row = upperBound(total.event, event) - 1;
    const date = new Date(row >= 0 && total.time[row] > 0 ? total.time[row] / 1000 : NaN);
    return Number.isNaN(date.getTime()) ? "" : `, ${date.toISOString()}`;
  }

  function describeSpan(row) {
    const { device } = state;
    const { from, length, bytes, stack } = device.span;
    const until = from[row] + length[row] >= events() ? "the end" : `event ${from[row] + length[row]}`;
    const contents = page.categories[device.stack.category[stack[row]]] ?? "";
    const what = `${showBytes(bytes[row])} ${contents}, ${placeOf(device, stack[row])}`;
    return [what, `from event ${from[row]} to ${until}`, ...tellingFrames(device, stack[row])];
  }

  listen(canvas, { zoom, pan, noteAt });
  canvas.addEventListener("keydown", (event) => {
    const actions = {
      ArrowLeft: () => pan(-0.15), ArrowRight: () => pan(0.15), "+": () => zoom(0.6), "=": () => zoom(0.6),
      "-": () => zoom(1 / 0.6), 0: reset, Home: reset, p: toPeak,
    };
    const action = actions[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  });
  const load = (device) => {
    Object.assign(state, { device, view: { from: 0, to: 1 } });
    state.view.to = events();
    draw();
  };
  const colourBy = (by) => { state.by = by; draw(); };
  return { load, draw, zoom, reset, toPeak, colourBy };
}

/** Wheel zooms, dragging pans, two fingers do both; a pointer that only moves is told what it is over. */
function listen(canvas, { zoom, pan, noteAt }) {
  const pointers = new Map();
  const spread = () => {
    const [one, other] = [...pointers.values()];
    return Math.abs(one.x - other.x) || 1;
  };
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.25 : 0.8, event.offsetX / canvas.clientWidth);
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => {
    pointers.set(event.pointerId, { x: event.offsetX });
    canvas.setPointerCapture(event.pointerId);
    noteAt(event.offsetX, event.offsetY);
  });
  canvas.addEventListener("pointermove", (event) => {
    const pointer = pointers.get(event.pointerId);
    if (!pointer) {
      noteAt(event.offsetX, event.offsetY);
      return;
    }
    const before = pointers.size === 2 ? spread() : 0;
    const moved = event.offsetX - pointer.x;
    pointer.x = event.offsetX;
    if (pointers.size === 2) zoom(before / spread());
    else if (moved !== 0) pan(-moved / canvas.clientWidth);
  });
  const release = (event) => pointers.delete(event.pointerId);
  ["pointerup", "pointercancel"].forEach((name) => canvas.addEventListener(name, release));
}
