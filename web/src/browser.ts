// The browser of samples: controls, the list, the link to a view, and what is printed of it.

import { controls, possible, SORT_WORDS, type Name } from "./controls";
import { fieldsOf, MEAN, rounded, spread, templateName, textAt, type Store } from "./data";
import { detail, scoreText } from "./detail";
import { byId, button, make } from "./dom";
import { download } from "./csv";
import { list } from "./list";
import { partner, prepare, rowsOf, type Rows } from "./query";
import { hashOf, NOTHING, viewOf, type View } from "./view";
import { counted, signed } from "./words";

const WAIT = 120; // milliseconds after a letter of a search

export interface Browser {
  /** Show another view and the browser itself, which is scrolled to if nobody says no. */
  go: (change: Partial<View>, scroll?: boolean) => void;
}

export function browser(store: Store): Browser {
  const box = byId("samples-box") as HTMLDetailsElement;
  const status = byId("found");
  let view = possible(store, { ...NOTHING, ...viewOf(location.hash) });
  let rows: Rows = { columns: new Uint16Array(), samples: new Uint32Array(), length: 0 };
  const rowList = list((row) => drawn(row));
  let drawnOpen = false; // rows that are drawn while the browser is closed have no height

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
    const found: [string, string][] = [["score", Number.isNaN(score) ? "none" : scoreText(run, score)]];
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
    view = possible(store, { ...view, open: "", ...change });
    remember();
    offer(kept);
    refresh();
  }

  function refresh(): void {
    drawnOpen = box.open;
    rows = rowsOf(store, view);
    rowList.show(rows.length);
    byId("sample-table").setAttribute("aria-rowcount", String(rows.length + 1));
    status.textContent = `${counted(rows.length, "row")} · ${SORT_WORDS[view.sort]}`;
    document.documentElement.dataset["rows"] = String(rows.length); // what a test waits for
  }

  /** The controls of this view; the focus stays where it was. */
  function offer(kept: string | null): void {
    const place = byId("filters");
    place.replaceChildren(...controls(store, view, choose));
    if (view.box !== "") place.append(button("Clear the brushed area", () => update({ box: "" }), "copy brushed"));
    if (kept !== null) place.querySelector<HTMLSelectElement>(`select[name="${kept}"]`)?.focus();
    search.value = view.q;
  }

  /** What goes along with a choice: an area is of two runs, and a difference is looked at from the largest on. */
  function choose(name: Name, value: string): void {
    const area = name === "run" || name === "against" ? { box: "" } : {};
    const order = name === "against" && value !== "" ? { sort: "apart" as const } : {};
    update({ ...area, ...order, [name]: value }, name);
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
    prepare(store);
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
      found.push([textAt(store, set.ids[sample]), textAt(store, one.label), templateName(column.template), textAt(store, set.about[sample]), rounded(one, column.scores[sample]!), mainText(row).text]);
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
    offer(null);
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
    view = possible(store, asked);
    show();
    byId(view.open === "" ? "samples" : "found").scrollIntoView({ block: "start", behavior: "instant" });
  }

  addEventListener("hashchange", follow);
  box.addEventListener("toggle", () => { if (box.open && !drawnOpen) refresh(); else drawnOpen = box.open; });
  offer(null);
  refresh();
  follow();
  return {
    go(change, scroll = true) {
      view = possible(store, { ...NOTHING, ...change });
      remember();
      show();
      if (scroll) byId("found").scrollIntoView({ block: "start" });
    },
  };
}
