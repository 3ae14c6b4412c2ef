"use strict";
// Filters of the board. The address keeps them, so that a view can be linked.
const rows = [...document.querySelectorAll("#board tbody tr")];
const fields = [...document.querySelectorAll("#filters select, #filters input")];
const found = document.getElementById("found");
const names = { model: 0, origin: 1, metric: 2, config: 5, language: 6, family: 11, kind: 12 };
const cell = (row, name) => row.cells[names[name]].textContent;
for (const field of fields.filter((one) => one.tagName === "SELECT" && one.name in names)) {
  const values = new Set(rows.map((row) => cell(row, field.name)).filter(Boolean));
  for (const value of [...values].sort()) field.add(new Option(value, value));
}
function holds(row, field) {
  if (!field.value) return true;
  if (field.name === "model") return cell(row, "model").toLowerCase().includes(field.value.toLowerCase());
  if (field.name === "size") {
    const [low, high] = field.value.split("-").map(Number);
    const size = Number(row.cells[13].dataset.value);
    return size >= low && size < high;
  }
  return cell(row, field.name) === field.value;
}
function show() {
  let number = 0;
  for (const row of rows) {
    row.hidden = !fields.every((field) => holds(row, field));
    number += !row.hidden;
  }
  found.textContent = `${number} of ${rows.length} numbers`;
}
function read(event) {
  const given = new URLSearchParams(location.hash.slice(1));
  const linked = fields.some((field) => given.has(field.name));
  if (event && !linked) return; // a link within the page
  for (const field of fields) field.value = given.get(field.name) ?? (linked ? "" : field.dataset.first ?? "");
  show();
}
for (const field of fields) {
  field.addEventListener("input", () => {
    const kept = fields.filter((one) => one.value).map((one) => [one.name, one.value]);
    history.replaceState(null, "", `#${new URLSearchParams(kept)}`);
    show();
  });
}
addEventListener("hashchange", read);
read();
