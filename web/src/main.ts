// The explorer of the report: gest_dataset/report/explorer packs what it shows, page.html.jinja has its places.

import { browser } from "./browser";
import { stored, unpacked } from "./data";
import { byId } from "./dom";

async function start(): Promise<void> {
  const held = byId("packed") as HTMLTemplateElement;
  const store = stored(await unpacked(held.content.textContent ?? ""));
  held.remove(); // its text is not needed twice
  browser(store);
  performance.mark("explorer ready");
  document.documentElement.dataset["ready"] = "";
}

void start();
