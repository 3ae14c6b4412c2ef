"use strict";
// Tables that sort: a button in each heading, by mouse or keyboard; aria-sort says what is sorted how.
for (const table of document.querySelectorAll("table[data-sortable]")) {
  const body = table.tBodies[0];
  const said = document.getElementById(table.dataset.sortable);
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = heading.textContent;
    heading.replaceChildren(button);
    button.addEventListener("click", () => {
      const numeric = heading.dataset.numeric !== undefined;
      // numbers begin with the largest, words with A
      const [first, second] = numeric ? ["descending", "ascending"] : ["ascending", "descending"];
      const direction = heading.getAttribute("aria-sort") === first ? second : first;
      const sign = direction === "ascending" ? 1 : -1;
      const key = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
      const compare = numeric ? (a, b) => key(a) - key(b) : (a, b) => key(a).localeCompare(key(b), undefined, { numeric: true });
      body.append(...[...body.rows].sort((a, b) => sign * compare(a, b)));
      for (const other of headings) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", direction);
      said.textContent = `Sorted by ${button.textContent}, ${direction}.`;
    });
  });
}
// On paper there is nothing to open: what was measured is printed in full.
let opened = [];
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll(".runs details:not([open])")];
  for (const one of opened) one.open = true;
});
addEventListener("afterprint", () => {
  for (const one of opened) one.open = false;
});
// Texts to paste: a button that copies, or selects where copying is not allowed.
for (const text of document.querySelectorAll("pre[data-copy]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = text.dataset.copy;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(text);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = text.dataset.copy; }, 2000);
  });
  text.before(button);
}
