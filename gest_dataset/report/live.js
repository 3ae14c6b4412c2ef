"use strict";
// Asks how far the runs are, and loads the report again when another run has finished: the reader keeps the view.
const EVERY = 2000; // milliseconds
const OFTEN = 400; // the address follows the report's
const runs = document.getElementById("runs");
const frame = document.getElementById("report");
let mark = null;
let told = "";
let kept = null; // the view that the next report is to have
const tell = (lines) => {
  if (told === lines.join("\n")) return; // a screen reader would say it again
  told = lines.join("\n");
  runs.replaceChildren(...lines.map((line) => {
    const item = document.createElement("li");
    item.textContent = line;
    return item;
  }));
};
const look = async () => {
  try {
    const answer = await fetch("state", { cache: "no-store" });
    if (!answer.ok) throw new Error(answer.statusText);
    const state = await answer.json();
    tell(state.lines);
    if (mark === null) {
      frame.src = `report${location.hash}`; // a link to a view of the report opens that view
    } else if (mark !== state.mark) {
      kept ??= viewOf(frame.contentDocument);
      frame.contentWindow.location.reload();
    }
    mark = state.mark;
  } catch {
    tell(["gest view has ended: this page stays as it is."]);
  }
  setTimeout(look, EVERY);
};

// What a reader has chosen, by names that the next report has too. What the samples are filtered by stands in the link.
const within = (one) => one.closest("[id]")?.id ?? "";
const nameOf = (one) => one.dataset.row ? `row ${one.dataset.row}`
  : one.id || (one.localName === "summary" && one.parentElement.id) || `${one.localName} ${within(one)} ${one.name ?? one.textContent}`;
const NAMED = "summary, select, input, button, .scroll, .drawing";
const named = (report, what) => [...report.querySelectorAll(what)].map((one) => [nameOf(one), one]);
const selects = (report) => named(report, "select").filter(([, one]) => within(one) !== "filters");
const sorted = (table) => table.querySelector("th[aria-sort]");
const places = (report) => [...report.querySelectorAll("main [id]")].filter((one) => !one.closest("svg"));

function viewOf(report) {
  const top = (one) => one.getBoundingClientRect().top;
  const above = places(report).filter((one) => top(one) <= 1 && one.getClientRects().length > 0);
  const at = above.reduce((found, one) => (found === null || top(one) >= top(found) ? one : found), null);
  const focus = report.activeElement;
  return {
    open: new Map(named(report, "summary").map(([name, one]) => [name, one.parentElement.open])),
    chosen: new Map(selects(report).map(([name, one]) => [name, one.value])),
    sorted: [...report.querySelectorAll("table[data-sortable]")].filter(sorted)
      .map((table) => [table.dataset.sortable, sorted(table).cellIndex, sorted(table).ariaSort]),
    at: at && [at.id, top(at)],
    rows: report.getElementById("rows")?.scrollTop ?? 0,
    focus: focus?.matches(NAMED) ? nameOf(focus) : null,
  };
}

function restore(report, view) {
  for (const [name, one] of named(report, "summary")) {
    if (view.open.has(name)) one.parentElement.open = view.open.get(name);
  }
  for (const [name, one] of selects(report)) {
    const value = view.chosen.get(name);
    if (value === one.value || ![...one.options].some((option) => option.value === value)) continue;
    one.value = value;
    one.dispatchEvent(new Event("change"));
  }
  for (const [id, column, direction] of view.sorted) {
    const heading = report.querySelector(`table[data-sortable="${id}"]`)?.tHead.rows[0].cells[column];
    for (let press = 0; press < 2 && heading && heading.ariaSort !== direction; press += 1) heading.querySelector("button").click();
  }
  const list = report.getElementById("rows");
  if (list) list.scrollTop = view.rows;
  const focus = named(report, NAMED).find(([name]) => name === view.focus);
  focus?.[1].focus({ preventScroll: true });
  const at = view.at && report.getElementById(view.at[0]);
  if (at) report.defaultView.scrollBy({ top: at.getBoundingClientRect().top - view.at[1], behavior: "instant" });
}

// The explorer's script unpacks its data after the page has been loaded
const whenReady = (report, act) => {
  if (report !== frame.contentDocument) return;
  if (report.getElementById("samples") === null || "ready" in report.documentElement.dataset) act();
  else setTimeout(whenReady, 20, report, act);
};
frame.addEventListener("load", () => {
  const report = frame.contentDocument;
  whenReady(report, () => {
    if (kept !== null) requestAnimationFrame(() => {
      restore(report, kept);
      kept = null;
    });
  });
});

// The address names the view that the report is at, so that it can be sent on, and another one leads to its view
setInterval(() => {
  const at = frame.contentWindow.location;
  if (at.protocol !== "about:" && at.hash !== location.hash) history.replaceState(null, "", at.hash || location.pathname);
}, OFTEN);
addEventListener("hashchange", () => { frame.contentWindow.location.hash = location.hash; });
look();
