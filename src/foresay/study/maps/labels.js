// Labels that do not overlap, chosen anew after each zoom: the most important words first, as in labels.py.
const map = document.getElementById("{plot_id}");
const FONT = 12, RADIUS = 6, GAP = 2, MOST = 1500;
const NONE = "\u200b";  // what has been empty once, plotly does not draw the next time (4.1)
const SIDES = {
  "middle right": [1, 0], "middle left": [-1, 0], "top center": [0, -1], "bottom center": [0, 1],
  "top right": [1, -1], "top left": [-1, -1], "bottom right": [1, 1], "bottom left": [-1, 1],
};
const pen = document.createElement("canvas").getContext("2d");
pen.font = FONT + "px sans-serif";
const plain = document.createElement("textarea");

function unescaped(word) {  // &lt;unk&gt; is <unk>
  plain.innerHTML = word;
  return plain.value;
}

function range(at, side, reach, size) {
  const low = side > 0 ? at + reach : side < 0 ? at - reach - size : at - size / 2;
  return [low, low + size];
}

function covers(a, b) {
  return a[0] < b[1] && b[0] < a[1] && a[2] < b[3] && b[2] < a[3];
}

function visible_points() {
  const {xaxis, yaxis} = map._fullLayout, found = [];
  map._fullData.forEach((trace, number) => {
    if (trace.visible !== true) return;
    trace.customdata.forEach(([word, , rank], i) => {
      const x = xaxis.l2p(trace.x[i]), y = yaxis.l2p(trace.y[i]);
      if (x >= 0 && x <= xaxis._length && y >= 0 && y <= yaxis._length) found.push({x, y, word, rank, number, i});
    });
  });
  return found.sort((one, other) => one.rank - other.rank);
}

function place_labels() {
  const {xaxis, yaxis} = map._fullLayout, points = visible_points();
  const text = map.data.map(trace => trace.x.map(() => NONE));
  const side = map.data.map(trace => trace.x.map(() => "middle right"));
  const dots = points.map(({x, y}) => [x - RADIUS / 2, x + RADIUS / 2, y - RADIUS / 2, y + RADIUS / 2]);
  const taken = [];
  points.slice(0, MOST).forEach((point, own) => {
    const word = unescaped(point.word), size = pen.measureText(word).width + 2 * GAP;
    for (const [name, [right, down]] of Object.entries(SIDES)) {
      const box = [...range(point.x, right, RADIUS, size), ...range(point.y, down, RADIUS, FONT + 2 * GAP)];
      if (box[0] < 0 || box[1] > xaxis._length || box[2] < 0 || box[3] > yaxis._length) continue;
      if (taken.some(other => covers(box, other)) || dots.some((dot, i) => i !== own && covers(box, dot))) continue;
      taken.push(box);
      text[point.number][point.i] = map.data[point.number].type === "scattergl" ? word : point.word;
      side[point.number][point.i] = name;
      break;
    }
  });
  Plotly.restyle(map, {text: text, textposition: side});
}

let waiting = null;
function later() {
  clearTimeout(waiting);
  waiting = setTimeout(place_labels, 60);
}

map.on("plotly_relayout", later);
map.on("plotly_restyle", ([change]) => { if ("visible" in change) later(); });
window.addEventListener("resize", () => setTimeout(later, 200));
place_labels();
