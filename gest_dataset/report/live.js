"use strict";
// Asks how far the runs are, and loads the report again when another run has finished.
const EVERY = 2000; // milliseconds
const runs = document.getElementById("runs");
const frame = document.getElementById("report");
let mark = null;
let told = "";
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
      frame.contentWindow.location.reload(); // which keeps the view
    }
    mark = state.mark;
  } catch {
    tell(["gest view has ended: this page stays as it is."]);
  }
  setTimeout(look, EVERY);
};
// The address names the view that the report is at, so that it can be sent on
frame.addEventListener("load", () => {
  frame.contentWindow.addEventListener("hashchange", () => {
    history.replaceState(null, "", frame.contentWindow.location.hash || location.pathname);
  });
});
look();
