// Numbers and texts as people read them.

import { diffWordsWithSpace } from "diff";
import { make } from "./dom";

const SMALL = 0.0005; // what three decimals would call 0

/** A number with three decimals or so, whatever its size; a dash for none. */
export function plain(value: number): string {
  if (Number.isNaN(value)) return "–";
  const size = Math.abs(value);
  const text = size > 0 && size < SMALL ? value.toExponential(1) : value.toFixed(size >= 100 ? 1 : size >= 10 ? 2 : 3);
  return text.replaceAll("-", "−");
}

/** A score with its sign: 0.123 as +0.123. */
export function signed(value: number): string {
  return `${value > 0 ? "+" : ""}${plain(value)}`;
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
