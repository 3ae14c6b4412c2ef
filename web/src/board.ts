// Small multiples of the board: headlines with intervals, a chart for each family, size, config or verdict.

import * as Plot from "@observablehq/plot";
import { ends, plotted, ratioAxis, whenNear } from "./charts";
import type { BoardRow } from "./data";
import { byId, choice, make } from "./dom";
import { plain } from "./words";

const LINE = 24;
const WIDTH = 460; // at most, of a chart
const GROUPS: [string, string][] = [["family", "family"], ["size", "size"], ["about", "config and language"], ["verdict", "verdict"]];

export function drawBoard(rows: BoardRow[]): void {
  if (rows.length === 0) return;
  const draw = (by: string): void => multiples(rows, by as keyof BoardRow);
  byId("board-tools").append(choice("Charts by", "groups", GROUPS, "family", draw));
  whenNear("board-charts", 300, () => draw("family"));
}

/** A chart for each group; charts of one measure have the same axis. */
function multiples(rows: BoardRow[], by: keyof BoardRow): void {
  const box = byId("board-charts");
  const known = rows.filter((row) => row.value !== null);
  const groups = Map.groupBy(known, (row) => `${String(row[by])} · ${row.symbol}`);
  const parts = [...groups].sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true })).map(([name, own]) => {
    const figure = make("div", { class: "multiple" }, make("h4", {}, name));
    const place = make("div", {});
    figure.append(place);
    chart(place, own, known.filter((one) => one.symbol === own[0]!.symbol), name);
    return figure;
  });
  box.replaceChildren(...parts);
}

function chart(place: HTMLElement, own: BoardRow[], all: BoardRow[], name: string): void {
  const { ratio, symbol } = own[0]!;
  const none = own[0]!.null;
  const drawn = (one: number | null): one is number => one !== null && (!ratio || one > 0);
  const [values, bounds] = [all.map((one) => one.value).filter(drawn), all.flatMap((one) => [one.low, one.high]).filter(drawn)];
  const [least, most] = ratio ? ends([none, ...values], bounds) : [Math.min(none, ...values, ...bounds), Math.max(none, ...values, ...bounds)];
  const [low, high] = ratio ? [least / 1.06, most * 1.06] : [least - 0.04 * (most - least), most + 0.04 * (most - least)];
  const at = (value: number | null): number => (ratio ? Math.log(value ?? NaN) : value ?? NaN);
  const rows = own.sort((a, b) => (b.value ?? 0) - (a.value ?? 0));
  const longest = Math.max(...all.map((one) => one.label.length)); // of all, so that axes lie below each other
  plotted(place, {
    width: Math.min(WIDTH, byId("board-charts").clientWidth || WIDTH), height: rows.length * LINE + 46, marginLeft: Math.min(200, 16 + longest * 6.4), marginBottom: 36,
    x: { label: symbol, grid: true, ...(ratio ? ratioAxis(low, high) : { domain: [low, high], ticks: 4 }) },
    y: { domain: rows.map((one) => one.label), label: null, tickSize: 0, tickFormat: (label: string) => (label.length > 28 ? `${label.slice(0, 27)}…` : label) },
    marks: [
      Plot.ruleX([at(none)], { stroke: "var(--quiet)", strokeDasharray: "3 3" }),
      Plot.ruleY(rows.filter((one) => one.low !== null && one.high !== null), { x1: (one: BoardRow) => at(Math.max(one.low!, low)), x2: (one: BoardRow) => at(Math.min(one.high!, high)), y: "label", stroke: "var(--series-1)", strokeWidth: 3 }),
      Plot.dot(rows, { x: (one: BoardRow) => at(one.value), y: "label", fill: "var(--series-1)", stroke: "var(--paper)", r: 5 }),
      Plot.tip(rows, Plot.pointerY({ x: (one: BoardRow) => at(one.value), y: "label", fill: "var(--paper)", stroke: "var(--quiet)",
        title: (one: BoardRow) => `${one.label}\n${symbol} ${plain(one.value ?? NaN)} (${plain(one.low ?? NaN)} to ${plain(one.high ?? NaN)})` })),
    ],
  }, `${symbol} of ${rows.length} runs with intervals: ${name}. The numbers are in the table above.`);
}
