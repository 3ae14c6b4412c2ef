"use strict";
// Shows how far the runs are, and loads the report again when another run has finished.
const progress = document.getElementById("progress");
const check = async () => {
  try {
    const state = await (await fetch("state.json", { cache: "no-store" })).json();
    if (state.version !== progress.dataset.version) {
      location.reload();
      return;
    }
    const lines = state.lines.join("\n");
    if (progress.innerText !== lines) progress.innerText = lines; // screen readers announce changes
  } catch {
    progress.innerText = "The server has stopped: this page is no longer updated.";
  }
  setTimeout(check, 2000);
};
check();
