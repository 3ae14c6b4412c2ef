// A long table of which only the rows in sight are elements; one tab stop, then arrow keys from row to row.

import { elementScroll, observeElementOffset, observeElementRect, Virtualizer, type Range } from "@tanstack/virtual-core";
import { defaultRangeExtractor } from "@tanstack/virtual-core";
import { byId, make } from "./dom";

const HEIGHT = 58; // of a row that has not been measured yet
const STEPS: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };

export interface List {
  /** Show other rows, from the first one on. */
  show: (length: number) => void;
  /** Draw a row again, and measure it. */
  again: (row: number) => void;
  /** Bring a row into sight, and the focus to its button. */
  reach: (row: number, align?: "auto" | "start") => void;
}

/** A list in the page's #rows; `draw` makes the element of a row, with one button that can have the focus. */
export function list(draw: (row: number) => HTMLElement): List {
  const scroller = byId("rows");
  const inner = make("div", { class: "all" });
  scroller.replaceChildren(inner);
  const drawn = new Map<number, HTMLElement>();
  let length = 0;
  let active = 0; // the row whose button Tab leads to
  let focused = -1; // the row that is to get the focus as soon as it is there

  const options = {
    getScrollElement: () => scroller,
    estimateSize: () => HEIGHT,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    overscan: 6,
    onChange: () => render(),
    // the row that has the focus stays, wherever the list is scrolled to
    rangeExtractor: (range: Range) =>
      [...new Set([...defaultRangeExtractor(range), ...(active < length ? [active] : [])])].sort((a, b) => a - b),
  };
  const virtual = new Virtualizer<HTMLElement, HTMLElement>({ ...options, count: 0 });
  virtual.shouldAdjustScrollPositionOnItemSizeChange = () => false; // an opened row stays where it was
  virtual._didMount();

  let rendering = false;
  let changed = false; // a size or the offset, since the last pass

  /** Draw what is in sight; heights that are measured on the way, all at once, move what lies below. */
  function render(): void {
    changed = true;
    if (rendering) return;
    rendering = true;
    while (changed) {
      changed = false;
      pass();
    }
    rendering = false;
    if (focused >= 0 && drawn.has(focused)) {
      drawn.get(focused)!.querySelector("button")!.focus();
      focused = -1;
    }
  }

  function pass(): void {
    const items = virtual.getVirtualItems();
    inner.style.height = `${virtual.getTotalSize()}px`;
    const kept = new Set(items.map((item) => item.index));
    for (const [row, element] of drawn) {
      if (!kept.has(row)) {
        element.remove();
        drawn.delete(row);
      }
    }
    for (const item of items) {
      const element = drawn.get(item.index) ?? placed(item.index, items);
      element.style.transform = `translateY(${item.start}px)`;
      element.querySelector("button")!.tabIndex = item.index === active ? 0 : -1;
    }
  }

  /** A new element, put where it is read in the order of the rows. */
  function placed(row: number, items: { index: number }[]): HTMLElement {
    const element = draw(row);
    element.dataset["index"] = String(row);
    element.setAttribute("aria-rowindex", String(row + 2)); // the headings are the first
    const next = items.map((item) => item.index).find((index) => index > row && drawn.has(index));
    inner.insertBefore(element, next === undefined ? null : drawn.get(next)!);
    drawn.set(row, element);
    virtual.measureElement(element);
    return element;
  }

  function reach(row: number, align: "auto" | "start" = "auto"): void {
    active = Math.max(0, Math.min(length - 1, row));
    focused = active;
    const offset = virtual.getOffsetForIndex(active, align)?.[0]; // once: focus corrects what was not measured yet
    if (offset !== undefined) virtual.scrollToOffset(offset);
    render();
  }

  scroller.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    const target = event.target as HTMLElement;
    if (step === undefined || target.dataset["row"] === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    reach(active + step);
  });
  scroller.addEventListener("focusin", (event) => {
    const row = (event.target as HTMLElement).closest<HTMLElement>("[data-index]")?.dataset["index"];
    if (row !== undefined && Number(row) !== active) {
      active = Number(row);
      render();
    }
  });

  return {
    show(count) {
      length = count;
      active = 0;
      for (const element of drawn.values()) element.remove();
      drawn.clear();
      scroller.scrollTop = 0;
      virtual.setOptions({ ...options, count });
      virtual._willUpdate();
      virtual.measure();
      render();
    },
    again(row) {
      const old = drawn.get(row);
      if (old === undefined) return;
      const had = old.contains(document.activeElement);
      const element = draw(row);
      element.dataset["index"] = String(row);
      element.setAttribute("aria-rowindex", String(row + 2));
      old.replaceWith(element);
      drawn.set(row, element);
      virtual.measureElement(element);
      if (had) focused = row;
      render();
    },
    reach,
  };
}
