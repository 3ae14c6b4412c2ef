// An opened row: its variants with the words that differ, what the run knows of them, the same sentence elsewhere.

import { columnOf, fieldsOf, mainColumn, MEAN, numberOf, templateName, textAt, type Column, type Run, type Store } from "./data";
import { make, table } from "./dom";
import { marked, plain, signed } from "./words";

const MOST = 60; // lines of the same sentence elsewhere

/** Everything that the report knows of a sample. */
export function detail(store: Store, column: Column, sample: number): HTMLElement {
  const run = store.runs[column.run]!;
  const fields = fieldsOf(store, run, sample);
  return make("div", { class: "detail" },
    sideBySide(run, column, sample, fields),
    make("p", { class: "quiet" }, run.note),
    others(store, run, column, sample, fields),
    elsewhere(store, column, sample),
    make("p", { class: "quiet" }, `Sample ${textAt(store, store.sets[run.set]!.ids[sample])} of ${textAt(store, store.sets[run.set]!.config)}.`));
}

/** The texts that the score compares, by name. */
function variants(run: Run, template: number, fields: Map<string, string>): [string, string][] {
  const frame = run.frames[template];
  const sentence = fields.get("sentence");
  if (frame !== undefined && sentence !== undefined) {
    const [text, ...words] = frame;
    return words.map((word, side) => [run.variants[side]!, filled(text, word, sentence)]);
  }
  return run.variants.flatMap((name) => (fields.has(name) ? [[name, fields.get(name)!]] : []));
}

/** A template with its word and its sentence, whatever signs they hold. */
function filled(text: string, word: string, sentence: string): string {
  return text.split("{word}").map((part) => part.split("{sentence}").join(sentence)).join(word);
}

/** The two variants beside each other (of quadruplets twice two) with the words that differ marked. */
function sideBySide(run: Run, column: Column, sample: number, fields: Map<string, string>): HTMLElement | null {
  const template = column.template === MEAN ? run.templates[0]! : column.template;
  const texts = variants(run, template, fields);
  if (texts.length === 0) return null;
  const shown = texts.map(([name, text], place) => {
    const partner = texts[place % 2 === 0 ? place + 1 : place - 1]?.[1] ?? texts[0]![1];
    const own = place % 2 === 0 && place + 1 < texts.length ? marked(text, partner)[0] : marked(partner, text)[1];
    const number = numberOf(run, name, sample);
    return make("div", { class: "variant" }, make("h3", {}, name.replaceAll("_", " ")),
      make("p", { lang: run.code || undefined, dir: "auto" }, ...own),
      Number.isNaN(number) ? null : make("p", { class: "quiet" }, `${run.number}: ${plain(number)}`));
  });
  return make("div", { class: "variants" }, ...shown);
}

/** Texts that are no variants, and the sample in the other templates. */
function others(store: Store, run: Run, column: Column, sample: number, fields: Map<string, string>): HTMLElement | null {
  const plain = [...fields].filter(([name]) => !run.variants.includes(name) && !(name === "sentence" && run.templates.some((template) => template in run.frames)));
  const list = make("dl", {}, ...plain.flatMap(([name, text]) => [
    make("dt", {}, name), make("dd", { dir: "auto", lang: run.english.includes(name) ? "en" : run.code || undefined }, text)]));
  const reason = textAt(store, column.reasons.get(sample));
  if (reason !== "") list.append(make("dt", {}, "no score"), make("dd", {}, reason));
  if (run.templates.length < 2) return list.childElementCount ? list : null;
  const rows = run.templates.map((template) => {
    const own = columnOf(store, column.run, template)!;
    const texts = variants(run, template, fields);
    const cell = Number.isNaN(own.scores[sample]!) ? textAt(store, own.reasons.get(sample)) || "–" : signed(own.scores[sample]!);
    return [templateName(template), cell, texts[0]?.[1] ?? ""];
  });
  return make("div", {}, list, make("h3", {}, "In each template"),
    table("The sample in each template", ["template", "score", "first variant"], rows));
}

/** The same sentence in the other runs of the report: other models, languages and systems. */
function elsewhere(store: Store, column: Column, sample: number): HTMLElement | null {
  const own = store.runs[column.run]!;
  const [link, id] = [store.sets[own.set]!.source[sample]!, store.sets[own.set]!.ids[sample]!];
  const rows: string[][] = [];
  store.runs.forEach((run, number) => {
    const set = store.sets[run.set]!;
    const linked = link < 0 ? [] : places(set.source, link);
    const named = linked.filter((place) => set.ids[place] === id); // a sentence can be there twice
    const same = run.set === own.set ? [sample] : named.length > 0 ? named : linked;
    for (const place of same) {
      if (number === column.run && place === sample) continue;
      const score = mainColumn(store, number).scores[place]!;
      const fields = fieldsOf(store, run, place);
      const text = fields.get("translation") ?? fields.get("answer") ?? fields.get(run.variants[0] ?? "") ?? fields.get("sentence") ?? "";
      rows.push([textAt(store, run.model), run.language, scoreText(run, score), text]);
    }
  });
  if (rows.length === 0) return null;
  const more = rows.length > MOST ? ` (the first ${MOST} of ${rows.length})` : "";
  return make("div", {}, make("h3", {}, `The same sentence in the other runs${more}`),
    table("The same sentence in the other runs", ["model", "language", "score", "text"], rows.slice(0, MOST)));
}

function places(column: number[], wanted: number): number[] {
  const found: number[] = [];
  column.forEach((value, place) => { if (value === wanted) found.push(place); });
  return found;
}

/** A score in words: of labels the side that it is on. */
export function scoreText(run: Run, score: number): string {
  if (Number.isNaN(score) || !run.labels) return signed(score);
  return score === 0 ? "neither" : run.sides[score > 0 ? 0 : 1];
}
