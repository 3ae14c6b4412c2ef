// What `gest_dataset/report/explorer` has packed: texts once, columns of whole numbers, one entry a run.

export const MEAN = -1; // the column of a sample's mean over all templates of its run

/** The samples that runs share; columns are positions in `texts`, -1 where there is none. */
export interface Samples {
  config: number;
  language: string;
  ids: number[];
  about: number[];
  group: number[];
  source: number[];
  fields: Record<string, number[]>;
}

export interface Run {
  label: number;
  model: number;
  kind: string;
  language: string;
  code: string;
  set: number;
  score: string;
  sides: [string, string];
  labels: boolean;
  decimals: number; // a score is kept as a whole number of such parts: explorer/explorer.py
  number: string;
  note: string;
  variants: string[];
  english: string[];
  frames: Record<string, [string, string, string]>;
  templates: number[];
  scores: (number | null)[][];
  fields: Record<string, number[]>;
  numbers: Record<string, (number | null)[]>;
  skipped: [number, number, number][];
}

/** The scores of a run in one template (or their means), and the reasons of those that are not there. */
export interface Column {
  run: number;
  template: number;
  scores: Float32Array;
  reasons: Map<number, number>;
}

export interface Packed {
  samples: { notes: string[]; sets: Samples[]; runs: Run[]; texts: string[] };
  comparisons: Comparison[];
  profiles: Profiles[];
  board: BoardRow[];
}

/** A run on the board, with its headline. */
export interface BoardRow {
  run: number;
  label: string;
  about: string;
  family: string;
  size: string;
  symbol: string;
  ratio: boolean;
  null: number;
  verdict: string;
  value: number | null;
  low: number | null;
  high: number | null;
}

/** Runs of one config that have paired differences from the first of them. */
export interface Comparison {
  baseline: number;
  others: { run: number; rows: { stereotype: string; value: number | null; low: number | null; high: number | null }[] }[];
}

/** The 16 stereotypes of several runs, and how alike the runs are. */
export interface Profiles {
  name: string;
  unit: string;
  stereotypes: string[];
  rows: { label: string; model: string; language: string; values: (number | null)[]; order: number }[];
  columns: number[];
  correlations: (number | null)[][];
}

export interface Store {
  texts: string[];
  sets: Samples[];
  runs: Run[];
  columns: Column[];
  parts: Column[][]; // of each run, its templates
  comparisons: Comparison[];
}

/** Undo base64 and gzip of an element's text. */
export async function unpacked(text: string): Promise<Packed> {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let place = 0; place < letters.length; place += 1) bytes[place] = letters.charCodeAt(place);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return (await new Response(stream).json()) as Packed;
}

/** The columns that are filtered and sorted: each template of each run, and the means where there are several. */
export function stored(packed: Packed): Store {
  const { sets, runs, texts } = packed.samples;
  const columns: Column[] = [];
  const parts: Column[][] = [];
  runs.forEach((run, number) => {
    const own = run.templates.map((template, place): Column => ({
      run: number,
      template,
      scores: Float32Array.from(run.scores[place] ?? [], (value) => (value === null ? NaN : value / 10 ** run.decimals)),
      reasons: new Map(),
    }));
    for (const [template, sample, reason] of run.skipped) {
      own[run.templates.indexOf(template)]?.reasons.set(sample, reason);
    }
    parts.push(own);
    columns.push(...own);
    if (own.length > 1) columns.push(mean(number, own));
    run.scores = []; // the typed columns have them now
  });
  return { texts, sets, runs, columns, parts, comparisons: packed.comparisons };
}

/** The mean of a sample over all templates; without a score where it lacks one. */
function mean(run: number, parts: Column[]): Column {
  const scores = new Float32Array(parts[0]?.scores.length ?? 0);
  for (const part of parts) part.scores.forEach((value, sample) => { scores[sample]! += value / parts.length; });
  return { run, template: MEAN, scores, reasons: new Map(parts.flatMap((part) => [...part.reasons])) };
}

/** A run's column of a template; undefined where it has none. */
export function columnOf(store: Store, run: number, template: number): Column | undefined {
  return store.columns.find((column) => column.run === run && column.template === template);
}

/** The main column of a run: its means, or its only one. */
export function mainColumn(store: Store, run: number): Column {
  const found = columnOf(store, run, MEAN) ?? store.columns.find((column) => column.run === run);
  if (found === undefined) throw new Error(`run ${run} has no column`);
  return found;
}

/** How far the templates of a run disagree about a sample: the largest score minus the smallest. */
export function spread(store: Store, run: number, sample: number): number {
  let [low, high] = [Infinity, -Infinity];
  for (const column of store.parts[run]!) {
    const value = column.scores[sample] ?? NaN;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return high - low;
}

/** A number of a field of a sample that the run has beside its score, such as ln P. */
export function numberOf(run: Run, field: string, sample: number): number {
  const value = run.numbers[field]?.[sample];
  return value === null || value === undefined ? NaN : value / 10 ** run.decimals;
}

/** A score without the digits that it has got from being a small float. */
export function rounded(run: Run, score: number): number {
  return Number(score.toFixed(run.decimals));
}

/** A text by its place; empty where there is none. */
export function textAt(store: Store, place: number | undefined): string {
  return place === undefined || place < 0 ? "" : (store.texts[place] ?? "");
}

/** The fields of a sample with a text, in the data and in the run. */
export function fieldsOf(store: Store, run: Run, sample: number): Map<string, string> {
  const set = store.sets[run.set]!;
  const found = new Map<string, string>();
  for (const [name, column] of [...Object.entries(set.fields), ...Object.entries(run.fields)]) {
    const text = textAt(store, column[sample]);
    if (text !== "") found.set(name, text);
  }
  return found;
}

/** What a template is called: its number, or that it is their mean. */
export function templateName(template: number): string {
  return template === MEAN ? "mean" : template === 0 ? "–" : String(template);
}
