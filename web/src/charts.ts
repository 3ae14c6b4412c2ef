// Charts by Observable Plot in the colours of the page's theme, drawn when they come near, at the latest for print.

import * as Plot from "@observablehq/plot";
import { byId } from "./dom";

const NEAR = "800px";

/** An SVG of Plot's in a place of the page, named for those who do not see it. */
export function plotted(place: HTMLElement, options: Plot.PlotOptions, label: string): SVGSVGElement & Plot.Plot {
  const svg = Plot.plot({ className: "plot", ...options }) as SVGSVGElement & Plot.Plot;
  svg.querySelector("style")?.remove(); // the page's policy has no place for it; page.css says the same
  for (const part of svg.querySelectorAll("[aria-label]")) { // parts of an image have no names of their own
    part.setAttribute("data-mark", part.getAttribute("aria-label")!);
    part.removeAttribute("aria-label");
  }
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", label);
  place.replaceChildren(svg);
  return svg;
}

const waiting = new Map<Element, () => void>();
const observer = new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting) draw(entry.target);
}, { rootMargin: NEAR });

function draw(place: Element): void {
  const drawing = waiting.get(place);
  waiting.delete(place);
  observer.unobserve(place);
  drawing?.();
  (place as HTMLElement).style.minHeight = "";
}

/** Draw in a place of the page as soon as a reader comes near it; until then it keeps some height free. */
export function whenNear(id: string, height: number, drawing: () => void): void {
  const place = byId(id);
  place.style.minHeight = `${height}px`;
  waiting.set(place, drawing);
  observer.observe(place);
}

addEventListener("beforeprint", () => { for (const place of [...waiting.keys()]) draw(place); });

/** The width for a drawing that may be wider than a phone: the place's own, and at least so much. */
export function widthOf(place: HTMLElement, least: number): number {
  return Math.max(least, Math.floor(place.clientWidth) || least);
}

// Ticks of an axis of ratios, from fine to coarse: the first that are few enough serve
const STEPS = [[1, 1.1, 1.2, 1.3, 1.4, 1.6, 1.8, 2, 2.2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9], [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8], [1, 1.5, 2, 3, 5], [1, 2, 5], [1]];
const MOST_TICKS = 8;

const FAR = 10;

/** The ends of an axis of ratios: all values, and of their bounds what is less than ten times as far; the rest is cut off. */
export function ends(values: number[], bounds: number[]): [number, number] {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const near = [...values, ...bounds.map((bound) => Math.min(high * FAR, Math.max(low / FAR, bound)))];
  return [Math.min(...near), Math.max(...near)];
}

/** An axis of logarithms that is labelled with the ratios; Plot's own names powers of ten only. */
export function ratioAxis(low: number, high: number): Plot.ScaleOptions {
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const within = (steps: number[]): number[] => Array.from({ length: last - first + 1 }, (_, place) => first + place)
    .flatMap((decade) => steps.map((step) => step * 10 ** decade)).filter((tick) => tick >= low && tick <= high);
  const ticks = STEPS.map(within).find((found) => found.length <= MOST_TICKS) ?? [1];
  return { domain: [Math.log(low), Math.log(high)], ticks: ticks.map(Math.log), tickFormat: (tick: number) => String(Number(Math.exp(tick).toPrecision(3))) };
}

/** A colour from one theme colour over the paper to the other, pale enough for numbers on it. */
export function between(value: number, most: number): string {
  const part = most > 0 ? Math.min(1, Math.abs(value) / most) * 48 : 0;
  return `color-mix(in srgb, var(--${value < 0 ? "female" : "male"}) ${part.toFixed(1)}%, var(--paper))`;
}
