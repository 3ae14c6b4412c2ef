// Elements of the page. What comes from runs and data gets into it as text and attribute values, never as markup.

type Child = Node | string | null;
type Attributes = Record<string, string | number | boolean | undefined>;

/** An element with attributes (false and undefined ones are left out) and children; strings become text. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K, attributes: Attributes = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** An element of the page that its template promises. */
export function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no #${id}`);
  return element;
}

/** A labelled choice; `options` are pairs of value and words. */
export function choice(
  label: string, name: string, options: [string, string][], chosen: string, changed: (value: string) => void
): HTMLLabelElement {
  const select = make("select", { name });
  for (const [value, words] of options) select.append(make("option", { value }, words));
  select.value = chosen;
  select.addEventListener("change", () => changed(select.value));
  return make("label", {}, make("span", {}, label), select);
}

/** A button with words and what it does. */
export function button(words: string, pressed: () => void, className = "copy"): HTMLButtonElement {
  const made = make("button", { type: "button", class: className }, words);
  made.addEventListener("click", pressed);
  return made;
}

/** The table of some rows of texts and elements, with a caption for those who do not see it. */
export function table(caption: string, headings: string[], rows: (Node | string)[][]): HTMLElement {
  const head = make("tr", {}, ...headings.map((heading) => make("th", { scope: "col" }, heading)));
  const body = rows.map(([first, ...others]) =>
    make("tr", {}, make("th", { scope: "row" }, first ?? ""), ...others.map((cell) => make("td", {}, cell))));
  return make("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": caption },
    make("table", {}, make("caption", { class: "gone" }, caption), make("thead", {}, head), make("tbody", {}, ...body)));
}
