/** Header lines as they go over the network, from name, value, name, value. */
export function linesOf(headers: string[]): string {
  let lines = "";
  for (let at = 0; at < headers.length; at += 2) lines += `${headers[at]}: ${headers[at + 1]}\r\n`;
  return lines;
}

/** Name, value, name, value, from header lines. */
export function headersIn(lines: string): string[] {
  const headers: string[] = [];
  for (const line of lines.split("\r\n").slice(0, -1)) {
    const colon = line.indexOf(":");
    headers.push(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return headers;
}
