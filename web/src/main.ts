// The explorer of the report: gest_dataset/report/explorer packs what it shows, page.html.jinja has its places.

import { browser } from "./browser";
import { drawComparisons } from "./compare";
import { stored, unpacked } from "./data";
import { byId } from "./dom";
import { drawProfiles } from "./heat";
import { drawBoard } from "./board";

async function start(): Promise<void> {
  const held = byId("packed") as HTMLTemplateElement;
  const packed = await unpacked(held.content.textContent ?? "");
  held.remove(); // its text is not needed twice
  const store = stored(packed);
  drawComparisons(store, browser(store));
  drawProfiles(packed.profiles);
  drawBoard(packed.board);
  if (/^#[a-z][a-z0-9-]*$/.test(location.hash)) document.getElementById(location.hash.slice(1))?.scrollIntoView({ behavior: "instant" });
  performance.mark("explorer ready");
  document.documentElement.dataset["ready"] = "";
}

void start();
