// The browser of samples: controls, the list, the link to a view, and what is printed of it.

import { fieldsOf, MEAN, spread, templateName, textAt, type Store } from "./data";
import { detail, told } from "./detail";
import { byId, button, choice, make } from "./dom";
import { download } from "./csv";
import { list } from "./list";
import { partner, rowsOf, type Rows } from "./query";
import { hashOf, NOTHING, SORTS, viewOf, type Sort, type View } from "./view";
import { counted, signed } from "./words";

const SORT_WORDS: Record<Sort, string> = {
  order: "order of the data", score: "score, highest first", "score-up": "score, lowest first", size: "score, farthest from 0",
  difference: "difference, highest first", "difference-up": "difference, lowest first", apart: "difference, largest",
  spread: "disagreement of templates",
};
const WAIT = 120; // milliseconds after a letter of a search

export interface Browser {
  /** Show another view and the browser itself, which is scrolled to if nobody says no. */
  go: (change: Partial<View>, scroll?: boolean) => void;
}

export function browser(store: Store): Browser {
  const box = byId("samples-box") as HTMLDetailsElement;
  const status = byId("found");
  let view: View = { ...NOTHING, ...viewOf(location.hash) };
  let rows: Rows = { columns: new Uint16Array(), samples: new Uint32Array(), length: 0 };
  const rowList = list((row) => drawn(row));

  /** What tells a row in a link. */
  function keyOf(row: number): string {
    const column = store.columns[rows.columns[row]!]!;
    return `${column.run + 1}.${column.template}.${rows.samples[row]}`;
  }

  const isOpen = (row: number): boolean => view.open.split(" ").includes(keyOf(row));

  function toggle(row: number): void {
    const key = keyOf(row);
    const open = view.open.split(" ").filter((one) => one !== "");
    view.open = (open.includes(key) ? open.filter((one) => one !== key) : [...open, key]).join(" ");
    remember();
    rowList.again(row);
  }

  function remember(): void {
    history.replaceState(null, "", hashOf(view));
  }

  /** The main text of a row. */
  function mainText(row: number): { text: string; language: string | undefined } {
    const column = store.columns[rows.columns[row]!]!;
    const run = store.runs[column.run]!;
    const fields = fieldsOf(store, run, rows.samples[row]!);
    for (const name of ["translation", "answer", "sentence", "context", ...run.variants]) {
      const text = fields.get(name);
      if (text !== undefined) return { text, language: run.code || undefined };
    }
    return { text: textAt(store, store.sets[run.set]!.ids[rows.samples[row]!]), language: undefined };
  }

  /** The cells of a row beside its text, under their headings. */
  function cells(row: number): [string, string][] {
    const column = store.columns[rows.columns[row]!]!;
    const run = store.runs[column.run]!;
    const sample = rows.samples[row]!;
    const score = column.scores[sample]!;
    const found: [string, string][] = [["score", Number.isNaN(score) ? "none" : told(run, score)]];
    if (view.against !== "") {
      const other = partner(store, column, Number(view.against) - 1);
      found.push(["difference", signed(score - (other?.scores[sample] ?? NaN))]);
    }
    if (column.template === MEAN) found.push(["templates differ by", spread(store, column.run, sample).toFixed(3)]);
    else if (column.template > 0) found.push(["template", templateName(column.template)]);
    found.push(["about", textAt(store, store.sets[run.set]!.about[sample])]);
    if (view.run === "") found.push(["run", textAt(store, run.label)]);
    return found;
  }

  function drawn(row: number): HTMLElement {
    const { text, language } = mainText(row);
    const open = isOpen(row);
    const opener = make("button", { type: "button", class: "sample", "aria-expanded": String(open), "data-row": row, lang: language, dir: "auto" }, text);
    opener.addEventListener("click", () => toggle(row));
    const element = make("div", { role: "row", class: "row" },
      make("div", { role: "cell", class: "text" }, opener),
      ...cells(row).map(([name, words]) => make("div", { role: "cell", class: `cell ${name.split(" ")[0]}` }, make("span", { class: "name" }, `${name} `), words)));
    if (open) {
      const column = store.columns[rows.columns[row]!]!;
      element.append(make("div", { role: "cell", class: "more" }, detail(store, column, rows.samples[row]!)));
    }
    return element;
  }

  function update(change: Partial<View>, kept: string | null = null): void {
    view = { ...view, ...change };
    if (!("open" in change)) view.open = "";
    remember();
    controls(kept);
    refresh();
  }

  function refresh(): void {
    rows = rowsOf(store, view);
    rowList.show(rows.length);
    byId("sample-table").setAttribute("aria-rowcount", String(rows.length + 1));
    status.textContent = `${counted(rows.length, "row")} · ${SORT_WORDS[view.sort]}`;
    document.documentElement.dataset["rows"] = String(rows.length); // what a test waits for
  }

  const run = (): number => (view.run === "" ? -1 : Number(view.run) - 1);

  /** The controls that this view has a use for; the focus stays where it was. */
  function controls(kept: string | null): void {
    const chosen = store.runs.filter((_, number) => run() < 0 || number === run());
    const sets = [...new Set(chosen.map((one) => one.set))].map((number) => store.sets[number]!);
    const texts = (columns: number[][]): string[] =>
      [...new Set(columns.flatMap((column) => [...new Set(column)]))].filter((place) => place >= 0).map((place) => store.texts[place]!);
    const named = (values: string[], all: string): [string, string][] => [["", all], ...values.map((value): [string, string] => [value, value])];
    const abouts = texts(sets.map((set) => set.about)).sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
    const groups = texts(sets.map((set) => set.group)).sort();
    const templates = [...new Set(chosen.flatMap((one) => one.templates))].filter((template) => template > 0);
    const reasons = texts([...new Set(store.columns.filter((column) => run() < 0 || column.run === run()).flatMap((column) => [...column.reasons.values()]))].map((place) => [place]));
    const languages = [...new Map(store.runs.map((one) => [one.code, one.language])).entries()].filter(([code]) => code !== "");
    const others = store.runs.map((one, number): [string, string] => [String(number + 1), textAt(store, one.label)])
      .filter((_, number) => run() < 0 || (number !== run() && store.runs[number]!.set === store.runs[run()]!.set));
    const sides = [...new Set(chosen.map((one) => one.sides.join("|")))];
    const [above, below] = sides.length === 1 ? sides[0]!.split("|") : ["above 0", "below 0"];
    const sorts = SORTS.filter((sort) => (view.against !== "" || !/difference|apart/.test(sort)) && (templates.length > 1 || sort !== "spread"));
    const parts: (HTMLElement | null)[] = [
      store.runs.length > 1 ? choice("Run", "run", [["", "all runs"], ...store.runs.map((one, number): [string, string] => [String(number + 1), textAt(store, one.label)])], view.run, (value) => update({ run: value, against: "", about: "", group: "", box: "", sort: /difference|apart/.test(view.sort) ? "order" : view.sort }, "run")) : null,
      languages.length > 1 && run() < 0 ? choice("Language", "language", [["", "all languages"], ...languages], view.language, (value) => update({ language: value }, "language")) : null,
      templates.length > 1 ? choice("Template", "template", [["mean", "mean of templates"], ["each", "each by itself"], ...templates.map((one): [string, string] => [String(one), `template ${one}`])], view.template, (value) => update({ template: value }, "template")) : null,
      abouts.length > 1 ? choice("About", "about", named(abouts, "everything"), view.about, (value) => update({ about: value }, "about")) : null,
      groups.length > 1 ? choice("Stereotypes of", "group", [["", "both genders"], ...groups.map((one): [string, string] => [one, one === "female" ? "women" : "men"])], view.group, (value) => update({ group: value }, "group")) : null,
      choice("Score says", "side", [["", "anything"], ["above", above!], ["below", below!], ["even", "neither (0)"]], view.side, (value) => update({ side: value }, "side")),
      reasons.length > 0 ? choice("Scored", "state", [["scored", "with a score"], ["skipped", "without a score"], ...reasons.map((one): [string, string] => [one, `without: ${one}`])], view.state, (value) => update({ state: value, side: "" }, "state")) : null,
      others.length > 0 ? choice("Difference from", "against", [["", "no run"], ...others], view.against, (value) => update({ against: value, box: "", sort: value === "" ? "order" : "apart" }, "against")) : null,
      choice("Sort by", "sort", sorts.map((sort): [string, string] => [sort, SORT_WORDS[sort]]), view.sort, (value) => update({ sort: value as Sort }, "sort")),
    ];
    const place = byId("filters");
    place.replaceChildren(...parts.filter((part) => part !== null));
    if (view.box !== "") place.append(button("Clear the brushed area", () => update({ box: "" }), "copy brushed"));
    if (kept !== null) place.querySelector<HTMLSelectElement>(`select[name="${kept}"]`)?.focus();
    search.value = view.q;
  }

  const search = byId("search") as HTMLInputElement;
  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = window.setTimeout(() => {
      view = { ...view, q: search.value, open: "" };
      remember();
      refresh();
    }, WAIT);
  });

  const tools = byId("sample-tools");
  const link = button("Copy the link to this view", async () => {
    remember();
    try {
      await navigator.clipboard.writeText(location.href);
      link.textContent = "Copied";
    } catch {
      link.textContent = "The link is in the address bar";
    }
    setTimeout(() => { link.textContent = "Copy the link to this view"; }, 2000);
  });
  tools.append(link, button("Save these rows as CSV", () => download("samples.csv", table())),
    button("Show all again", () => update({ ...NOTHING })));

  /** The rows of the view as a table. */
  function table(): (string | number | null)[][] {
    const found: (string | number | null)[][] = [["id", "run", "template", "about", "score", "text"]];
    for (let row = 0; row < rows.length; row += 1) {
      const column = store.columns[rows.columns[row]!]!;
      const one = store.runs[column.run]!;
      const set = store.sets[one.set]!;
      const sample = rows.samples[row]!;
      found.push([textAt(store, set.ids[sample]), textAt(store, one.label), templateName(column.template), textAt(store, set.about[sample]), column.scores[sample]!, mainText(row).text]);
    }
    return found;
  }

  // On paper there is no scrolling: an open browser is printed with all rows of its view.
  let paper: HTMLElement | null = null;
  addEventListener("beforeprint", () => {
    paper?.remove();
    paper = null;
    if (!box.open) return;
    paper = make("div", { class: "paper", role: "presentation" });
    for (let row = 0; row < rows.length; row += 1) paper.append(drawn(row));
    byId("sample-table").append(paper);
  });
  addEventListener("afterprint", () => {
    paper?.remove();
    paper = null;
  });

  function show(): void {
    box.open = true;
    controls(null);
    refresh();
    if (view.open !== "") openFirst();
  }

  /** Bring the first row that a link opens into sight. */
  function openFirst(): void {
    const [key] = view.open.split(" ");
    for (let row = 0; row < rows.length; row += 1) {
      if (keyOf(row) === key) {
        rowList.reach(row, "start");
        return;
      }
    }
  }

  function follow(): void {
    const asked = viewOf(location.hash);
    if (asked === null) return;
    view = asked;
    show();
    byId(view.open === "" ? "samples" : "found").scrollIntoView({ block: "start", behavior: "instant" });
  }

  addEventListener("hashchange", follow);
  box.addEventListener("toggle", () => { if (box.open) refresh(); });
  controls(null);
  refresh();
  follow();
  return {
    go(change, scroll = true) {
      view = { ...NOTHING, ...change };
      remember();
      show();
      if (scroll) byId("found").scrollIntoView({ block: "start" });
    },
  };
}
