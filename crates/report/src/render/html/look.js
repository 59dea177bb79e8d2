// Colours and hatching, read from the style sheet so that light and dark have one source; and small DOM helpers.

const $ = (id) => document.getElementById(id);

/** A colour of `page.css`. */
function cssColour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** A colour for the n-th line of code; neighbours differ by the golden angle. */
function stackColour(stack) {
  const lightness = matchMedia("(prefers-color-scheme: dark)").matches ? 58 : 52;
  return `hsl(${(stack * 137.508) % 360} 55% ${lightness - 8 * (stack % 3)}%)`;
}

/** The colour of each stack, by contents or by line. */
function paletteOf(page, device, by) {
  const byCategory = page.categories.map((_, category) => cssColour(`k${category}`));
  const colour = by === "stack" ? (_, stack) => stackColour(stack) : (category) => byCategory[category];
  return Array.from(device.stack.category, colour);
}

const pixels = new Map();
const dot = sheetOf(1, 1).getContext("2d", { willReadFrequently: true });

/** A canvas that is not on the page. */
function sheetOf(width, height) {
  return Object.assign(document.createElement("canvas"), { width, height });
}

/** Any colour that CSS knows as it stands in the pixels of an image. */
function pixelOf(colour) {
  if (!pixels.has(colour)) {
    dot.fillStyle = colour;
    dot.fillRect(0, 0, 1, 1);
    pixels.set(colour, new Uint32Array(dot.getImageData(0, 0, 1, 1).data.buffer)[0]);
  }
  return pixels.get(colour);
}

/** The colour with an alpha of three quarters: bytes 0 to 3 of a pixel are red, green, blue, alpha. */
function faded(pixel) {
  const bytes = new Uint8Array(new Uint32Array([pixel]).buffer);
  bytes[3] = 190;
  return new Uint32Array(bytes.buffer)[0];
}

/** Diagonal lines for free memory. */
function hatching(context) {
  const tile = sheetOf(6, 6);
  const pen = tile.getContext("2d");
  pen.strokeStyle = cssColour("hatch");
  pen.beginPath();
  [[-1, 1, 1, -1], [0, 6, 6, 0], [5, 7, 7, 5]].forEach(([x0, y0, x1, y1]) => {
    pen.moveTo(x0, y0);
    pen.lineTo(x1, y1);
  });
  pen.stroke();
  return context.createPattern(tile, "repeat");
}

/** Sizes a canvas to its place on the page, in device pixels, and returns its context in CSS pixels. */
function prepare(canvas, height) {
  const ratio = devicePixelRatio || 1;
  const width = Math.max(1, Math.floor(canvas.parentElement.clientWidth));
  canvas.style.height = `${height}px`;
  Object.assign(canvas, { width: Math.floor(width * ratio), height: Math.floor(height * ratio) });
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return { context, width, height, ratio };
}

/** Replaces what is in `parent` by lines of text, the first one strong. */
function say(parent, lines) {
  parent.replaceChildren(...lines.map((line, at) => {
    const element = document.createElement(at === 0 ? "b" : "span");
    element.textContent = line;
    return element;
  }));
}
