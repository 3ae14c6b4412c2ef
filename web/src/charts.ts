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

/** A colour from one theme colour over the paper to the other, pale enough for numbers on it. */
export function between(value: number, most: number): string {
  const part = most > 0 ? Math.min(1, Math.abs(value) / most) * 48 : 0;
  return `color-mix(in srgb, var(--${value < 0 ? "female" : "male"}) ${part.toFixed(1)}%, var(--paper))`;
}
