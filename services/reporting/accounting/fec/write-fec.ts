import { type FecRow, fecColumns } from "./columns.ts";
import { encodeText } from "./encode.ts";
import type { FileFormat } from "./formats.ts";

/** The bytes of a file: a line with the names of the columns, then the rows, each line ended by CR and LF. */
export function writeFec(rows: FecRow[], { separator, charset, longestText }: FileFormat): Buffer {
  const shortened = (row: FecRow): FecRow => ({
    ...row,
    CompteLib: shortenedTo(longestText, row.CompteLib),
    EcritureLib: shortenedTo(longestText, row.EcritureLib),
  });
  const lines = rows.map(shortened).map((row) => fecColumns.map((column) => field(row[column])).join(separator));
  return encodeText([fecColumns.join(separator), ...lines, ""].join("\r\n"), charset);
}

/** A text without what would end its field or its line, in any of the formats. */
function field(text: string): string {
  return text.replaceAll(/[\p{Cc}\s|]+/gu, " ").trim();
}

function shortenedTo(length: number, text: string): string {
  const letters = Array.from(field(text));
  return letters.length > length ? letters.slice(0, length).join("").trimEnd() : letters.join("");
}

/**
 * The name of a FEC: the company's SIREN, FEC, and the last day that it holds. The SIREN is the first nine digits of the
 * SIRET; without one the name begins with FEC.
 */
export function fecName({ siret, lastDay }: { siret: string; lastDay: string }): string {
  const [siren = ""] = /^\d{9}(?=\d{5}$|$)/.exec(siret.replaceAll(/\s/g, "")) ?? [];
  return `${siren}FEC${lastDay.replaceAll("-", "")}.txt`;
}
