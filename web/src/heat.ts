// Heat maps: runs by stereotypes, and runs by runs (correlations of profiles).

import * as Plot from "@observablehq/plot";
import { between, plotted, whenNear, widthOf } from "./charts";
import type { Profiles } from "./data";
import { byId, choice } from "./dom";
import { hundredths, signed } from "./words";

const LINE = 26; // height of a row
const NARROW = 20; // of one without numbers
const MOST_NUMBERS = 20; // of runs, whose correlations still have room for numbers

interface Asked {
  show: string; // "", "model:NAME" or "language:NAME"
  rows: string; // "", "similar", or the number of a stereotype
  columns: string; // "" or "similar"
}

export function drawProfiles(all: Profiles[]): void {
  all.forEach((profiles, number) => {
    const asked: Asked = { show: "", rows: "", columns: "" };
    const place = byId(`heat-${number}`);
    const again = (): void => {
      drawHeatMap(profiles, asked, place);
      drawCorrelations(profiles, asked, byId(`correlations-${number}`));
    };
    const change = (part: Partial<Asked>): void => {
      Object.assign(asked, part);
      again();
    };
    byId(`heat-${number}-tools`).append(...controls(profiles, change));
    whenNear(`heat-${number}`, profiles.rows.length * LINE + 150, again);
    byId(`correlations-${number}`).style.minHeight = `${profiles.rows.length * LINE + 100}px`;
  });
}

/** What is shown, and in which order. */
function controls(profiles: Profiles, change: (part: Partial<Asked>) => void): HTMLElement[] {
  const count = (values: string[]): Map<string, number> => {
    const found = new Map<string, number>();
    for (const value of values) found.set(value, (found.get(value) ?? 0) + 1);
    return found;
  };
  const several = (values: string[], kind: string, words: (name: string) => string): [string, string][] =>
    [...count(values)].filter(([, rows]) => rows > 1 && rows < values.length).map(([name]) => [`${kind}:${name}`, words(name)]);
  const shows: [string, string][] = [["", "all runs"],
    ...several(profiles.rows.map((row) => row.model), "model", (name) => `${name}, over languages`),
    ...several(profiles.rows.map((row) => row.language), "language", (name) => `all models in ${name}`)];
  const orders: [string, string][] = [["", "as in the report"], ["similar", "by similarity"],
    ...profiles.stereotypes.map((name, place): [string, string] => [String(place), `by ${name}`])];
  return [
    ...(shows.length > 1 ? [choice("Show", "show", shows, "", (show) => change({ show }))] : []),
    choice("Order of runs", "rows", orders, "", (rows) => change({ rows })),
    choice("Order of stereotypes", "columns", [["", "by number"], ["similar", "by similarity"]], "", (columns) => change({ columns })),
  ];
}

/** The runs that are asked for, in the order that is. */
function chosen(profiles: Profiles, asked: Asked): Profiles["rows"] {
  const [kind, ...rest] = asked.show.split(":");
  const name = rest.join(":");
  const rows = profiles.rows.filter((row) => asked.show === "" || (kind === "model" ? row.model : row.language) === name);
  if (asked.rows === "similar") return rows.sort((a, b) => a.order - b.order);
  if (asked.rows === "") return rows;
  const value = (row: Profiles["rows"][number]): number => row.values[Number(asked.rows)] ?? -Infinity;
  return rows.sort((a, b) => value(b) - value(a));
}

function drawHeatMap(profiles: Profiles, asked: Asked, place: HTMLElement): void {
  const rows = chosen(profiles, asked);
  const order = asked.columns === "similar" ? profiles.columns : profiles.stereotypes.map((_, column) => column);
  const most = Math.max(...profiles.rows.flatMap((row) => row.values.map((value) => Math.abs(value ?? 0))));
  const cells = rows.flatMap((row) => order.map((column) => ({
    label: row.label, stereotype: profiles.stereotypes[column]!, value: row.values[column] ?? NaN })));
  const longest = Math.max(...rows.map((row) => row.label.length));
  plotted(place, {
    width: widthOf(place, 900), height: rows.length * LINE + 150, marginTop: 140, marginBottom: 6, marginRight: 46,
    marginLeft: Math.min(300, 20 + longest * 6.6), padding: 0.04,
    x: { domain: order.map((column) => profiles.stereotypes[column]!), axis: "top", tickRotate: -40, label: null, tickSize: 0 },
    y: { domain: rows.map((row) => row.label), label: null, tickSize: 0 },
    marks: [
      Plot.cell(cells, { x: "stereotype", y: "label", fill: { value: (d: { value: number }) => between(d.value, most), scale: null } }),
      Plot.text(cells, { x: "stereotype", y: "label", text: (d: { value: number }) => hundredths(d.value), fill: "var(--ink)", pointerEvents: "none" }),
      Plot.tip(cells, Plot.pointer({ x: "stereotype", y: "label", fill: "var(--paper)", stroke: "var(--quiet)",
        title: (d: { label: string; stereotype: string; value: number }) => `${d.label}\n${d.stereotype}: ${signed(d.value)}` })),
    ],
  }, `Heat map of ${rows.length} runs by ${order.length} stereotypes: ${profiles.unit}. The numbers are in the table below.`);
}

function drawCorrelations(profiles: Profiles, asked: Asked, place: HTMLElement): void {
  const rows = chosen(profiles, asked);
  const at = new Map(profiles.rows.map((row, number) => [row, number]));
  const cells = rows.flatMap((first) => rows.map((second) => ({
    first: first.label, second: second.label, value: profiles.correlations[at.get(first)!]?.[at.get(second)!] ?? NaN })));
  const longest = Math.max(...rows.map((row) => row.label.length));
  const margin = Math.min(300, 20 + longest * 6.6);
  const numbers = rows.length <= MOST_NUMBERS;
  const side = Math.max(rows.length * (numbers ? LINE : NARROW), 120);
  plotted(place, {
    width: Math.max(margin * 1.6 + side * (numbers ? 1.6 : 1), 320), height: side + margin * 0.75, marginTop: margin * 0.72, marginLeft: margin,
    marginBottom: 6, marginRight: margin * 0.6, padding: 0.04,
    x: { domain: rows.map((row) => row.label), axis: "top", tickRotate: -40, label: null, tickSize: 0 },
    y: { domain: rows.map((row) => row.label), label: null, tickSize: 0 },
    marks: [
      Plot.cell(cells, { x: "second", y: "first", fill: { value: (d: { value: number }) => between(d.value, 1), scale: null } }),
      ...(numbers ? [Plot.text(cells, { x: "second", y: "first", fill: "var(--ink)", pointerEvents: "none",
        text: (d: { value: number }) => hundredths(d.value) })] : []),
      Plot.tip(cells, Plot.pointer({ x: "second", y: "first", fill: "var(--paper)", stroke: "var(--quiet)",
        title: (d: { first: string; second: string; value: number }) => `${d.first} and ${d.second}: ${signed(d.value)}` })),
    ],
  }, `Correlations of the profiles of ${rows.length} runs with each other. The numbers are in the table below.`);
}
