// Reads the page data: the layout is in Note [Page data] of `data.rs`. No DOM in here.

const VERSION = 1;

/** The bytes of a base64 text. */
function fromBase64(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

/** One column as numbers; those from 2^53 on are rounded. A column that ends early is padded with zeros. */
function decodeColumn({ length, delta, data }) {
  const bytes = fromBase64(data);
  const numbers = new Float64Array(length);
  let at = 0;
  let last = 0;
  for (let row = 0; row < length && at < bytes.length; row++) {
    let number = 0;
    let scale = 1;
    let byte;
    do {
      byte = bytes[at++];
      number += (byte & 0x7f) * scale;
      scale *= 128;
    } while (byte >= 0x80 && at < bytes.length);
    if (delta) {
      last += number % 2 === 0 ? number / 2 : -(number + 1) / 2;
      number = last;
    }
    numbers[row] = number;
  }
  return numbers;
}

/** Where each group of rows starts, given how many rows each has; one more entry than groups. */
function starts(counts) {
  const starts = new Uint32Array(counts.length + 1);
  counts.forEach((count, at) => { starts[at + 1] = starts[at] + count; });
  return starts;
}

/** All columns of one device: `device.span.bytes` is the column `span.bytes`. */
function decodeDevice(packed) {
  const device = { ...packed };
  for (const [name, column] of Object.entries(packed.columns)) {
    const [table, field] = name.split(".");
    device[table] = { ...device[table], [field]: decodeColumn(column) };
  }
  device.segment.firstBlock = starts(device.segment.blocks);
  device.stack.firstFrame = starts(device.stack.frames);
  return device;
}

/** The page data as an object with its devices decoded. */
function decodePage(text) {
  const page = JSON.parse(text);
  if (page.format !== "oomph-page" || page.version !== VERSION) {
    throw new Error(`expected oomph-page version ${VERSION}, found ${page.format} version ${page.version}`);
  }
  return { ...page, devices: page.devices.map(decodeDevice) };
}

/** A frame in words: `train.py:41 forward`; the function alone where no line is known, as in much of C++. */
function describeFrame(device, frame) {
  const { function: functions, file, line } = device.frame;
  const path = device.strings[file[frame]] ?? "";
  if (line[frame] === 0) return device.strings[functions[frame]] ?? "";
  return `${shortPath(path)}:${line[frame]} ${device.strings[functions[frame]] ?? ""}`;
}

/** A path from the installed package on, else its last two parts. */
function shortPath(path) {
  const inside = path.split("/site-packages/").pop();
  return inside === path ? path.split("/").slice(-2).join("/") : inside;
}

/** The frames of a stack, innermost first. */
function framesOf(device, stack) {
  const { firstFrame } = device.stack;
  return Array.from(device.stackframe.frame.subarray(firstFrame[stack], firstFrame[stack + 1]));
}

/** What a stack is called where there is room for one line: the user's innermost own, else the innermost. */
function placeOf(device, stack) {
  const frames = framesOf(device, stack);
  if (frames.length === 0) return "no stack was recorded";
  return describeFrame(device, frames.find((frame) => device.frame.own[frame]) ?? frames[0]);
}

/** The frames that say most, in words: at most six, without what every module call passes through. */
function tellingFrames(device, stack) {
  const isPassage = (frame) => /^_(wrapped_)?call_impl$/.test(device.strings[device.frame.function[frame]]);
  const frames = framesOf(device, stack).filter((frame) => !isPassage(frame));
  return frames.slice(0, 6).map((frame) => describeFrame(device, frame));
}

/** Bytes as people read them, as the tables of the page have them. */
function showBytes(bytes) {
  const units = [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]];
  const unit = units.find(([size]) => bytes >= size);
  return unit ? `${(bytes / unit[0]).toFixed(2)} ${unit[1]}` : `${bytes} B`;
}
