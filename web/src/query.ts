// From a view to the rows that it shows: one pass over the columns, and a sort of numbers.

import { columnOf, MEAN, spread, type Column, type Run, type Store } from "./data";
import type { Sort, View } from "./view";

/** A row: a column of the store and a sample in it. */
export interface Rows {
  columns: Uint16Array;
  samples: Uint32Array;
  length: number;
}

const ROOM = 2 ** 22; // more rows than there can be: a key is a score and, below it, a place
const STEPS = 2 ** 29; // from 0 to the farthest score of a key

/** The rows of a view, in its order. */
export function rowsOf(store: Store, view: View): Rows {
  const asked = store.columns.map((column, number) => ({ column, number })).filter(({ column }) => wanted(store, column, view));
  const most = asked.reduce((sum, { column }) => sum + column.scores.length, 0);
  const found: Rows = { columns: new Uint16Array(most), samples: new Uint32Array(most), length: 0 };
  const against = view.against === "" ? -1 : Number(view.against) - 1;
  for (const { column, number } of asked) {
    const fits = fitting(store, column, view, against);
    for (let sample = 0; sample < column.scores.length; sample += 1) {
      if (fits(sample)) {
        found.columns[found.length] = number;
        found.samples[found.length] = sample;
        found.length += 1;
      }
    }
  }
  return view.sort === "order" ? found : sorted(store, found, view.sort, against);
}

/** Whether the rows of a column can be in the view. */
function wanted(store: Store, column: Column, view: View): boolean {
  const run = store.runs[column.run]!;
  if (view.run !== "" && column.run !== Number(view.run) - 1) return false;
  if (view.language !== "" && run.code !== view.language) return false;
  if (view.template === "each") return column.template !== MEAN;
  if (view.template === "mean") return column.template === MEAN || run.templates.length === 1;
  return column.template === Number(view.template);
}

/** A test of the samples of a column. */
function fitting(store: Store, column: Column, view: View, against: number): (sample: number) => boolean {
  const run = store.runs[column.run]!;
  const set = store.sets[run.set]!;
  const tests: ((sample: number) => boolean)[] = [];
  const { scores, reasons } = column;
  if (view.state === "scored") tests.push((sample) => !Number.isNaN(scores[sample]!));
  else {
    tests.push((sample) => Number.isNaN(scores[sample]!) && reasons.has(sample));
    if (view.state !== "skipped") {
      const reason = store.texts.indexOf(view.state);
      tests.push((sample) => reasons.get(sample) === reason);
    }
  }
  if (view.about !== "") {
    const about = store.texts.indexOf(view.about);
    tests.push((sample) => set.about[sample] === about);
  }
  if (view.group !== "") {
    const group = store.texts.indexOf(view.group);
    tests.push((sample) => set.group[sample] === group);
  }
  if (view.side === "above") tests.push((sample) => scores[sample]! > 0);
  if (view.side === "below") tests.push((sample) => scores[sample]! < 0);
  if (view.side === "even") tests.push((sample) => scores[sample] === 0);
  if (view.q.trim() !== "") {
    const matches = matching(store, run, view.q);
    tests.push((sample) => matches[sample] === 1);
  }
  if (against >= 0) {
    const other = partner(store, column, against);
    if (other === undefined) return () => false;
    tests.push((sample) => !Number.isNaN(other.scores[sample]!));
    if (view.box !== "") {
      const [left, right, low, high] = view.box.split(",").map(Number) as [number, number, number, number];
      tests.push((sample) => other.scores[sample]! >= left && other.scores[sample]! <= right);
      tests.push((sample) => scores[sample]! >= low && scores[sample]! <= high);
    }
  }
  return (sample) => tests.every((test) => test(sample));
}

/** The column of another run that a column can be compared with: of the same samples and template. */
export function partner(store: Store, column: Column, run: number): Column | undefined {
  if (run === column.run || store.runs[run]?.set !== store.runs[column.run]!.set) return undefined;
  return columnOf(store, run, column.template);
}

let lowered: string[] = []; // all texts in small letters, made at the first search

/** Make ready for a search that is being typed. */
export function prepare(store: Store): void {
  if (lowered.length === 0) lowered = store.texts.map((text) => text.toLowerCase());
}

/** For each sample of a run, whether each word that is searched for stands in one of its texts. */
function matching(store: Store, run: Run, words: string): Uint8Array {
  prepare(store);
  const set = store.sets[run.set]!;
  const columns = [set.ids, set.source, ...Object.values(set.fields), ...Object.values(run.fields)];
  const matches = new Uint8Array(set.ids.length).fill(1);
  for (const word of words.toLowerCase().trim().split(/\s+/)) {
    const found = new Uint8Array(lowered.length);
    for (let place = 0; place < found.length; place += 1) found[place] = lowered[place]!.includes(word) ? 1 : 0;
    for (let sample = 0; sample < matches.length; sample += 1) {
      if (!columns.some((column) => found[column[sample]!] === 1)) matches[sample] = 0;
    }
  }
  return matches;
}

/** The number that a row is sorted by. */
function sortValue(store: Store, sort: Sort, column: Column, other: Column | undefined, sample: number): number {
  const score = column.scores[sample]!;
  if (sort === "size") return Math.abs(score);
  if (sort === "spread") return spread(store, column.run, sample);
  if (sort === "score" || sort === "score-up") return score;
  const difference = other === undefined ? NaN : score - other.scores[sample]!;
  return sort === "apart" ? Math.abs(difference) : difference;
}

/** The rows by that number, the largest first but for "-up"; those without one come last. */
function sorted(store: Store, rows: Rows, sort: Sort, against: number): Rows {
  const sign = sort.endsWith("-up") ? 1 : -1;
  const others = store.columns.map((column) => (against < 0 ? undefined : partner(store, column, against)));
  const keys = new Float64Array(rows.length);
  let most = 0;
  for (let place = 0; place < rows.length; place += 1) {
    const column = rows.columns[place]!;
    const value = sortValue(store, sort, store.columns[column]!, others[column], rows.samples[place]!);
    keys[place] = value;
    if (Math.abs(value) > most) most = Math.abs(value);
  }
  const scale = most > 0 ? (sign * STEPS) / most : 1;
  for (let place = 0; place < rows.length; place += 1) {
    const value = keys[place]!;
    keys[place] = (Number.isFinite(value) ? Math.round(value * scale) : 2 * STEPS) * ROOM + place;
  }
  keys.sort();
  const ordered: Rows = { columns: new Uint16Array(rows.length), samples: new Uint32Array(rows.length), length: rows.length };
  keys.forEach((key, place) => {
    const from = key - Math.floor(key / ROOM) * ROOM;
    ordered.columns[place] = rows.columns[from]!;
    ordered.samples[place] = rows.samples[from]!;
  });
  return ordered;
}
