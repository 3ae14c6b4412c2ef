// What is asked of the browser of samples, and the link that says it: report.html#samples?run=2&q=love.

export interface View {
  run: string; // numbers from 1; empty: all
  language: string;
  template: string; // "mean" (or the only one), "each", or a number
  about: string;
  group: string;
  side: string; // "above", "below" or "even"
  state: string; // "scored", "skipped", or a reason
  q: string;
  sort: Sort;
  against: string; // the run that differences are taken from
  box: string; // "x0,x1,y0,y1": scores of `against` and of `run`, as brushed
  open: string; // rows that are open, as "run.template.sample"
}

export const SORTS = ["order", "score", "score-up", "size", "difference", "difference-up", "apart", "spread"] as const;
export type Sort = (typeof SORTS)[number];

export const NOTHING: View = {
  run: "1", language: "", template: "mean", about: "", group: "", side: "", state: "scored", q: "",
  sort: "order", against: "", box: "", open: "",
};
const ANCHOR = "#samples?";

/** The view that a link asks for; null where it asks for none. */
export function viewOf(hash: string): View | null {
  if (!hash.startsWith(ANCHOR)) return null;
  const asked = new URLSearchParams(hash.slice(ANCHOR.length));
  const view = { ...NOTHING };
  for (const name of Object.keys(NOTHING) as (keyof View)[]) {
    const value = asked.get(name);
    if (value === null) continue;
    if (name !== "sort") view[name] = value;
    else if ((SORTS as readonly string[]).includes(value)) view.sort = value as Sort;
  }
  return view;
}

/** The end of the link to a view: what is as nobody asked for is not said. */
export function hashOf(view: View): string {
  const asked = Object.entries(view).filter(([name, value]) => value !== NOTHING[name as keyof View]);
  return ANCHOR + new URLSearchParams(asked).toString();
}
