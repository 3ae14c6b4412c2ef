// Rows as CSV for a spreadsheet, in the form of the package's own files (`files.csv_text`).

const FORMULA = /^[=+\-@\t\r\n]/;

/** A text that a spreadsheet would take for a formula gets an apostrophe in front. */
function cell(value: string | number | null): string {
  if (value === null || Number.isNaN(value)) return "";
  if (typeof value === "number") return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /["\n\r,]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Hand a table to the reader as a file. */
export function download(name: string, rows: (string | number | null)[][]): void {
  const text = rows.map((row) => `${row.map(cell).join(",")}\n`).join("");
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
