// The stacks as a flame graph, outermost frame on top. Boxes are buttons: a click zooms, Tab and Enter work as well.

const BOX_HEIGHT = 20;

/** Fills `#flame`; returns what the page calls. */
function flame() {
  const parent = $("flame").appendChild(document.createElement("div"));
  const state = { device: null, root: null, focus: null, search: "" };

  const nameOf = ({ frame }) => {
    if (frame === NO_STACK) return "no stack was recorded";
    return frame < 0 ? "all that is alive at the peak" : describeFrame(state.device, frame);
  };
  const matches = (node) => state.search !== "" && node.frame >= 0 && nameOf(node).toLowerCase().includes(state.search);

  function draw() {
    $("flame-section").hidden = state.root.bytes === 0;
    const boxes = layoutFlame(state.focus, 2 / Math.max(1, parent.clientWidth));
    const deepest = boxes.reduce((most, { node }) => Math.max(most, node.depth), 0);
    parent.style.height = `${(deepest + 1) * BOX_HEIGHT}px`;
    parent.replaceChildren(...boxes.map(boxOf));
  }

  function boxOf({ node, left, width }) {
    const box = document.createElement("button");
    box.textContent = width * parent.clientWidth > 24 ? nameOf(node) : "";
    box.ariaLabel = describe(node);
    box.title = describe(node);
    Object.assign(box.style, { left: `${left * 100}%`, width: `${width * 100}%`, top: `${node.depth * BOX_HEIGHT}px` });
    box.classList.toggle("own", node.frame >= 0 && state.device.frame.own[node.frame] === 1);
    box.classList.toggle("found", matches(node));
    box.addEventListener("click", () => zoom(node));
    const note = () => say($("flame-note"), [describe(node)]);
    ["focus", "pointerenter"].forEach((name) => box.addEventListener(name, note));
    return box;
  }

  function describe(node) {
    const share = ((node.bytes / Math.max(1, state.root.bytes)) * 100).toFixed(1);
    return `${nameOf(node)}: ${showBytes(node.bytes)}, ${share} %, ${node.count} allocations`;
  }

  function zoom(node) {
    state.focus = node;
    draw();
    say($("flame-note"), [describe(node)]);
  }

  /** Bytes below the outermost matches, so that nothing counts twice. */
  function found() {
    let bytes = 0;
    const open = [state.root];
    while (open.length > 0) {
      const node = open.pop();
      if (matches(node)) bytes += node.bytes;
      else open.push(...node.children.values());
    }
    return bytes;
  }

  const search = (text) => {
    state.search = text.trim().toLowerCase();
    draw();
    $("search-note").textContent = state.search === "" ? "" : `${showBytes(found())} found`;
  };
  const load = (device) => {
    const root = mergeStacks(device);
    Object.assign(state, { device, root, focus: root });
    draw();
    say($("flame-note"), [describe(root)]);
  };
  return { load, draw, search, reset: () => zoom(state.root) };
}
