// Small multiples of the board: headlines with intervals, a chart for each family, size, config or verdict.

import * as Plot from "@observablehq/plot";
import { plotted, whenNear } from "./charts";
import type { Place } from "./data";
import { byId, choice, make } from "./dom";

const LINE = 24;
const GROUPS: [string, string][] = [["family", "family"], ["size", "size"], ["about", "config and language"], ["said", "verdict"]];

export function small(places: Place[]): void {
  if (places.length === 0) return;
  const draw = (by: string): void => multiples(places, by as keyof Place);
  byId("board-tools").append(choice("Charts by", "groups", GROUPS, "family", draw));
  whenNear("board-charts", 300, () => draw("family"));
}

/** A chart for each group; charts of one measure have the same axis. */
function multiples(places: Place[], by: keyof Place): void {
  const box = byId("board-charts");
  const known = places.filter((place) => place.value !== null);
  const groups = Map.groupBy(known, (place) => `${String(place[by])} · ${place.symbol}`);
  const parts = [...groups].sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true })).map(([name, own]) => {
    const figure = make("div", { class: "multiple" }, make("h4", {}, name));
    const place = make("div", {});
    figure.append(place);
    chart(place, own, known.filter((one) => one.symbol === own[0]!.symbol), name);
    return figure;
  });
  box.replaceChildren(...parts);
}

function chart(place: HTMLElement, own: Place[], all: Place[], name: string): void {
  const { ratio, symbol } = own[0]!;
  const none = own[0]!.null;
  const ends = all.flatMap((one) => [one.low, one.high, one.value]).filter((end) => end !== null && (!ratio || end > 0)) as number[];
  const rows = own.sort((a, b) => (b.value ?? 0) - (a.value ?? 0));
  const longest = Math.max(...rows.map((one) => one.label.length));
  plotted(place, {
    width: 460, height: rows.length * LINE + 46, marginLeft: Math.min(200, 16 + longest * 6.4), marginBottom: 36,
    x: { type: ratio ? "log" : "linear", domain: roomy(Math.min(...ends, none), Math.max(...ends, none), ratio), label: symbol, grid: true, ticks: 4, tickFormat: (tick: number) => `${Number(tick.toPrecision(2))}` },
    y: { domain: rows.map((one) => one.label), label: null, tickSize: 0, tickFormat: (label: string) => (label.length > 28 ? `${label.slice(0, 27)}…` : label) },
    marks: [
      Plot.ruleX([none], { stroke: "var(--quiet)", strokeDasharray: "3 3" }),
      Plot.ruleY(rows.filter((one) => one.low !== null && one.high !== null), { x1: "low", x2: "high", y: "label", stroke: "var(--series-1)", strokeWidth: 3 }),
      Plot.dot(rows, { x: "value", y: "label", fill: "var(--series-1)", stroke: "var(--paper)", r: 5 }),
      Plot.tip(rows, Plot.pointerY({ x: "value", y: "label", fill: "var(--paper)", stroke: "var(--quiet)",
        title: (one: Place) => `${one.label}\n${symbol} ${told(one.value)} (${told(one.low)} to ${told(one.high)})` })),
    ],
  }, `${symbol} of ${rows.length} runs with intervals: ${name}. The numbers stand in the table above.`);
}

/** The ends of an axis with some room beside them. */
function roomy(low: number, high: number, ratio: boolean): [number, number] {
  return ratio ? [low / 1.06, high * 1.06] : [low - 0.04 * (high - low), high + 0.04 * (high - low)];
}

function told(value: number | null): string {
  return value === null ? "–" : value.toFixed(2).replace("-", "−");
}
