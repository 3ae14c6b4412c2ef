// What can be chosen in a view, one control after the other; what a link asks for may not be in this report.

import { textAt, type Run, type Samples, type Store } from "./data";
import { choice } from "./dom";
import { NOTHING, SORTS, type Sort, type View } from "./view";

type Options = [string, string][]; // values and their words; a single one is no choice
export type Name = Exclude<keyof View, "q" | "box" | "open">;

export const SORT_WORDS: Record<Sort, string> = {
  order: "order of the data", score: "score, highest first", "score-up": "score, lowest first", size: "score, farthest from 0",
  difference: "difference, highest first", "difference-up": "difference, lowest first", apart: "difference, largest",
  spread: "disagreement of templates",
};

// In this order: what is offered depends on what stands before it
const CONTROLS: [Name, string, (store: Store, view: View) => Options][] = [
  ["run", "Run", (store) => (store.runs.length > 1 ? [["", "all runs"], ...labels(store)] : [["1", "the run"]])],
  ["language", "Language", languages],
  ["template", "Template", templates],
  ["about", "About", (store, view) => [["", "everything"], ...named(texts(store, sets(store, view), "about").sort((a, b) => a.localeCompare(b, "en", { numeric: true })))]],
  ["group", "Stereotypes of", (store, view) => [["", "both genders"], ...texts(store, sets(store, view), "group").sort().map((one): [string, string] => [one, one === "female" ? "women" : "men"])]],
  ["state", "Scored", states],
  ["side", "Score says", sides],
  ["against", "Difference from", against],
  ["sort", "Sort by", (store, view) => SORTS.filter((sort) => (view.against !== "" || !/difference|apart/.test(sort)) && (numbered(store, view).length > 1 || sort !== "spread")).map((sort) => [sort, SORT_WORDS[sort]])],
];

/** The nearest view that this report has: what nobody offers is as if it had not been asked for. */
export function possible(store: Store, asked: View): View {
  const view = { ...asked };
  for (const [name, , options] of CONTROLS) {
    if (!options(store, view).some(([value]) => value === view[name])) Object.assign(view, { [name]: NOTHING[name] });
  }
  const ends = view.box.split(",").map(Number);
  if (view.against === "" || ends.length !== 4 || ends.some(Number.isNaN)) view.box = "";
  return view;
}

/** The controls that a view has a use for. */
export function controls(store: Store, view: View, changed: (name: Name, value: string) => void): HTMLElement[] {
  return CONTROLS.flatMap(([name, label, options]) => {
    const offered = options(store, view);
    return offered.length > 1 ? [choice(label, name, offered, view[name], (value) => changed(name, value))] : [];
  });
}

const labels = (store: Store): Options => store.runs.map((run, number) => [String(number + 1), textAt(store, run.label)]);
const named = (values: string[]): Options => values.map((value) => [value, value]);

/** The runs that a view shows. */
function chosen(store: Store, view: View): Run[] {
  return view.run === "" ? store.runs : [store.runs[Number(view.run) - 1]!];
}

function sets(store: Store, view: View): Samples[] {
  return [...new Set(chosen(store, view).map((run) => run.set))].map((number) => store.sets[number]!);
}

const known = new WeakMap<number[], number[]>(); // of a column its different values: they do not change

/** The different texts of a column of some sets. */
function texts(store: Store, of: Samples[], name: "about" | "group"): string[] {
  const places = of.flatMap((set) => {
    const column = set[name];
    const found = known.get(column) ?? [...new Set(column)];
    known.set(column, found);
    return found;
  });
  return [...new Set(places)].filter((place) => place >= 0).map((place) => store.texts[place]!);
}

function languages(store: Store, view: View): Options {
  const found = new Map(chosen(store, view).map((run) => [run.code, run.language]));
  found.delete("");
  return [["", "all languages"], ...(view.run === "" && found.size > 1 ? [...found] : [])];
}

/** The templates with a number: several of them have a mean. */
function numbered(store: Store, view: View): number[] {
  return [...new Set(chosen(store, view).flatMap((run) => run.templates))].filter((template) => template > 0);
}

function templates(store: Store, view: View): Options {
  const found = numbered(store, view);
  if (found.length < 2) return [["mean", "the only one"]];
  return [["mean", "mean of templates"], ["each", "each template"], ...found.map((one): [string, string] => [String(one), `template ${one}`])];
}

function states(store: Store, view: View): Options {
  const runs = new Set(chosen(store, view));
  const reasons = new Set(store.columns.filter((column) => runs.has(store.runs[column.run]!)).flatMap((column) => [...column.reasons.values()]));
  const options = [...reasons].map((place): [string, string] => [store.texts[place]!, `no score: ${store.texts[place]!}`]);
  return [["scored", "with a score"], ...(options.length > 0 ? [["skipped", "without a score"] as [string, string], ...options] : [])];
}

function sides(store: Store, view: View): Options {
  if (view.state !== "scored") return [["", "nothing"]];
  const found = [...new Set(chosen(store, view).map((run) => run.sides.join("|")))];
  const [above, below] = found.length === 1 ? found[0]!.split("|") : ["above 0", "below 0"];
  return [["", "anything"], ["above", above!], ["below", below!], ["even", "neither (0)"]];
}

/** The runs that differences can be taken from: of the same samples. */
function against(store: Store, view: View): Options {
  const set = view.run === "" ? -1 : chosen(store, view)[0]!.set;
  const others = labels(store).filter(([value], number) => view.run === "" || (value !== view.run && store.runs[number]!.set === set));
  return [["", "no run"], ...(store.runs.length > 1 ? others : [])];
}
