// Numbers and texts as people read them.

import { diffWordsWithSpace } from "diff";
import { make } from "./dom";

/** A score with its sign: 0.123 as +0.123, and a dash for none. */
export function signed(value: number): string {
  if (Number.isNaN(value)) return "–";
  const digits = Math.abs(value) >= 100 ? 1 : Math.abs(value) >= 10 ? 2 : 3;
  return `${value > 0 ? "+" : ""}${value.toFixed(digits)}`.replace("-", "−");
}

/** The same with two decimals, for a cell of a figure. */
export function hundredths(value: number): string {
  if (Number.isNaN(value)) return "–";
  const text = Math.abs(value).toFixed(2);
  return text === "0.00" ? text : `${value > 0 ? "+" : "−"}${text}`;
}

export function counted(number: number, one: string, several = `${one}s`): string {
  return `${number.toLocaleString("en")} ${number === 1 ? one : several}`;
}

/** Two texts with the words that the other one lacks marked. */
export function marked(first: string, second: string): [Node[], Node[]] {
  const sides: [Node[], Node[]] = [[], []];
  for (const part of diffWordsWithSpace(first, second)) {
    const own = part.added || part.removed;
    if (!part.added) sides[0].push(own ? make("mark", {}, part.value) : new Text(part.value));
    if (!part.removed) sides[1].push(own ? make("mark", {}, part.value) : new Text(part.value));
  }
  return sides;
}
