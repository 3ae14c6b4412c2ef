// Two runs of a config: the ratio of q_i with its interval, and a scatter of scores that can be brushed.

import * as Plot from "@observablehq/plot";
import { brush, select, type D3BrushEvent } from "d3";
import type { Browser } from "./browser";
import { ends, plotted, ratioAxis, whenNear, widthOf } from "./charts";
import { mainColumn, MEAN, textAt, type Comparison, type Store } from "./data";
import { byId, button, choice, make } from "./dom";
import { signed } from "./words";

const SIDE = 460;
const FEW = 500; // samples, whose dots have room
const MOVED = 10; // samples that moved most, in the list

type Ratio = Comparison["others"][number]["rows"][number];
interface Dot { x: number; y: number; group: string; sample: number }

export function drawComparisons(store: Store, browser: Browser): void {
  store.comparisons.forEach((group, number) => {
    const label = (run: number): string => textAt(store, store.runs[run]!.label);
    let other = group.others[0]!;
    const draw = (): void => {
      if (other.rows.length > 0) intervals(byId(`ratios-${number}`), other, label(other.run), label(group.baseline));
      scatter(store, browser, number, group.baseline, other.run);
    };
    const names = group.others.map(({ run }): [string, string] => [String(run), label(run)]);
    byId(`comparison-${number}-tools`).append(choice(`Compared with ${label(group.baseline)}`, "other", names, String(other.run), (chosen) => {
      other = group.others.find(({ run }) => String(run) === chosen)!;
      draw();
    }));
    whenNear(`comparison-${number}`, other.rows.length > 0 ? 1100 : 0, draw);
  });
}

/** The 16 ratios of q_i on a logarithmic axis. */
function intervals(place: HTMLElement, other: Comparison["others"][number], name: string, baseline: string): void {
  const drawn = other.rows.filter((row) => (row.value ?? 0) > 0);
  const whole = drawn.filter((row) => (row.low ?? 0) > 0 && row.high !== null);
  const [least, most] = ends([1, ...drawn.map((row) => row.value!)], whole.flatMap((row) => [row.low!, row.high!]));
  const [low, high] = [least / 1.03, most * 1.03];
  plotted(place, {
    width: widthOf(place, 340), height: other.rows.length * 24 + 50, marginLeft: 190, marginBottom: 38,
    x: { label: `q of ${name} / q of ${baseline}`, grid: true, ...ratioAxis(low, high) },
    y: { domain: other.rows.map((row) => row.stereotype), label: null, tickSize: 0 },
    marks: [
      Plot.ruleX([0], { stroke: "var(--quiet)", strokeDasharray: "3 3" }),
      Plot.ruleY(whole, { x1: (row: Ratio) => Math.log(Math.max(row.low!, low)), x2: (row: Ratio) => Math.log(Math.min(row.high!, high)), y: "stereotype", stroke: "var(--series-1)", strokeWidth: 3 }),
      Plot.dot(drawn, { x: (row: Ratio) => Math.log(row.value!), y: "stereotype", fill: "var(--series-1)", stroke: "var(--paper)", r: 5 }),
    ],
  }, `Ratio of q of ${name} to q of ${baseline} for 16 stereotypes, with simultaneous intervals. The numbers are in the table below.`);
}

/** The scores of both runs, a dot a sample. */
function dots(store: Store, first: number, second: number): Dot[] {
  const [a, b] = [mainColumn(store, first), mainColumn(store, second)];
  const group = store.sets[store.runs[first]!.set]!.group;
  const found: Dot[] = [];
  a.scores.forEach((x, sample) => {
    const y = b.scores[sample]!;
    if (!Number.isNaN(x) && !Number.isNaN(y)) found.push({ x, y, group: textAt(store, group[sample]), sample });
  });
  return found;
}

function scatter(store: Store, browser: Browser, number: number, first: number, second: number): void {
  const [place, side] = [byId(`scatter-${number}`), byId(`moved-${number}`)];
  const [a, b] = [first, second].map((run) => textAt(store, store.runs[run]!.label)) as [string, string];
  const all = dots(store, first, second);
  const shared = mainColumn(store, first).template === mainColumn(store, second).template;
  if (store.runs[first]!.labels || all.length === 0 || !shared) {
    place.replaceChildren(make("p", { class: "quiet" }, store.runs[first]!.labels
      ? "The scores of these runs are genders, so there is no scatter." : "These runs have no template in common."));
    side.replaceChildren(button("Show the samples that differ", () => browser.go({ run: String(second + 1), against: String(first + 1), sort: "apart" })));
    return;
  }
  const genders = all.some((dot) => dot.group !== "");
  const svg = plotted(place, {
    width: SIDE, height: SIDE, marginLeft: 50, marginBottom: 42, grid: true,
    x: { label: `score of ${a}`, nice: true }, y: { label: `score of ${b}`, nice: true },
    marks: [
      Plot.ruleX([0], { stroke: "var(--quiet)" }), Plot.ruleY([0], { stroke: "var(--quiet)" }),
      Plot.link([0], { x1: Math.min(...all.map((dot) => dot.x)), y1: Math.min(...all.map((dot) => dot.x)), x2: Math.max(...all.map((dot) => dot.x)), y2: Math.max(...all.map((dot) => dot.x)), stroke: "var(--quiet)", strokeDasharray: "3 3", clip: true }),
      Plot.dot(all, { x: "x", y: "y", r: all.length > FEW ? 2 : 4, fillOpacity: all.length > FEW ? 0.45 : 0.8, fill: { value: (dot: Dot) => `var(--${dot.group === "female" ? "female" : dot.group === "male" ? "male" : "series-1"})`, scale: null } }),
    ],
  }, `Scores of ${all.length} samples: ${a} across, ${b} upwards.`);
  const [x, y] = [svg.scale("x")!, svg.scale("y")!];
  const inputs = ["left", "right", "low", "high"].map((name) => make("input", { type: "number", step: "0.1", name }));
  const words = [`${a} from`, "to", `${b} from`, "to"];
  const show = (ends: number[]): void => {
    const box = ends.map((end) => Number(end.toFixed(3))); // as the link has them
    inputs.forEach((input, end) => { input.value = box[end]!.toFixed(2); });
    browser.go({ run: String(second + 1), against: String(first + 1), sort: "apart", box: box.join(","),
      template: mainColumn(store, first).template === MEAN ? "mean" : String(mainColumn(store, first).template) }, false);
    const inside = all.filter((dot) => dot.x >= box[0]! && dot.x <= box[1]! && dot.y >= box[2]! && dot.y <= box[3]!).length;
    status.textContent = `${inside.toLocaleString("en")} samples of this area are shown in the sample browser.`;
  };
  const drawn = brush<unknown>().extent([[50, 20], [SIDE - 20, SIDE - 42]]).on("end", (event: D3BrushEvent<unknown>) => {
    if (event.selection === null || event.sourceEvent === null || event.sourceEvent === undefined) return;
    const [[left, top], [right, bottom]] = event.selection as [[number, number], [number, number]];
    show([x.invert!(left), x.invert!(right), y.invert!(bottom), y.invert!(top)]);
  });
  select<SVGSVGElement, unknown>(svg).append("g").attr("class", "brush").call(drawn);
  const status = make("p", { class: "quiet", role: "status" });
  const typed = make("form", { class: "area" }, ...inputs.map((input, end) => make("label", {}, make("span", {}, words[end]!), input)),
    make("button", { class: "copy" }, "Show this area"));
  typed.addEventListener("submit", (event) => {
    event.preventDefault();
    const ends = [-Infinity, Infinity, -Infinity, Infinity];
    show(inputs.map((input, end) => (input.value === "" ? ends[end]! : Number(input.value))));
  });
  side.replaceChildren(make("h4", {}, "Choose samples"),
    make("p", { class: "quiet" }, `A dot is a sample${genders ? ", orange for stereotypes about women, teal for those about men" : ""}; on the dashed line both runs agree. Draw a rectangle in the scatter, or type its bounds, to show its samples in the sample browser.`),
    typed, status, ...moved(store, all, second),
    button("Show all by their difference", () => browser.go({ run: String(second + 1), against: String(first + 1), sort: "apart" })));
}

/** The samples that moved most, closed as all sentences are. */
function moved(store: Store, all: Dot[], run: number): HTMLElement[] {
  const set = store.sets[store.runs[run]!.set]!;
  const column = Object.values(set.fields)[0] ?? set.ids;
  const most = [...all].sort((one, two) => Math.abs(two.y - two.x) - Math.abs(one.y - one.x)).slice(0, MOVED);
  const items = most.map((dot) => make("li", {}, `${signed(dot.y - dot.x)}: `, make("span", { dir: "auto", lang: store.runs[run]!.code || undefined }, textAt(store, column[dot.sample]))));
  return [make("details", {}, make("summary", {}, `The ${most.length} samples that differ most`), make("ol", {}, ...items))];
}
