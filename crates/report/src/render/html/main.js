// Puts the drawings into the page and wires its buttons. Where anything fails, the tables remain and a line says so.

function legend(page, device) {
  const used = new Set(device.stack.category);
  const items = page.categories.map((words, category) => [words, `k${category}`]);
  const shown = [...items.filter((_, category) => used.has(category)), ["the rest", "rest"]];
  $("legend").replaceChildren(...shown.map(([words, name]) => {
    const item = document.createElement("li");
    const swatch = document.createElement("i");
    swatch.className = `swatch ${name}`;
    item.append(swatch, words);
    return item;
  }));
}

function chooseDevice(page, load) {
  const choice = $("device");
  choice.replaceChildren(...page.devices.map((device, at) => new Option(device.name, at)));
  $("device-choice").hidden = page.devices.length < 2;
  choice.addEventListener("change", () => load(page.devices[choice.value]));
}

function main() {
  const page = decodePage($("page-data").textContent);
  $("drawings").hidden = false;
  const time = timeline(page);
  const map = segmentMap(page);
  const stacks = flame();
  const load = (device) => {
    legend(page, device);
    [time, map, stacks].forEach((drawing) => drawing.load(device));
  };
  chooseDevice(page, load);
  load(page.devices[0]);
  $("zoom-in").addEventListener("click", () => time.zoom(0.6));
  $("zoom-out").addEventListener("click", () => time.zoom(1 / 0.6));
  $("to-peak").addEventListener("click", time.toPeak);
  $("reset").addEventListener("click", time.reset);
  $("flame-reset").addEventListener("click", stacks.reset);
  $("search").addEventListener("input", (event) => stacks.search(event.target.value));
  document.querySelectorAll("input[name=colour]").forEach((input) => input.addEventListener("change", () => {
    [time, map].forEach((drawing) => drawing.colourBy(input.value));
    $("legend").hidden = input.value === "stack";
  }));
  const redraw = () => [time, map, stacks].forEach((drawing) => drawing.draw());
  let waiting = 0;
  addEventListener("resize", () => { cancelAnimationFrame(waiting); waiting = requestAnimationFrame(redraw); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
}

try {
  main();
} catch (error) {
  const line = document.createElement("p");
  line.textContent = `The drawings could not be made: ${error.message}. The tables have their figures.`;
  $("drawings").before(line);
  throw error;
}
