/** Returns the cells of each line of a CSV file (RFC 4180) with CR and LF. An empty cell without quotes is null. */
export function parseCsv(text: string): (string | null)[][] {
  const lines: (string | null)[][] = [];
  let cells: (string | null)[] = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy;
  for (let match = cell.exec(text); match; match = cell.exec(text)) {
    const [, quoted, plain = "", end] = match;
    cells.push(quoted === undefined ? plain || null : quoted.replaceAll('""', '"'));
    if (end === ",") continue;
    lines.push(cells);
    cells = [];
  }
  if (cells.length > 0) throw new Error(`The last line is incomplete: ${cells.join()}`);
  return lines;
}
