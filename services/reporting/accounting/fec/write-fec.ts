import { type FecRow, fecColumns } from "./columns.ts";
import { encodeText } from "./encode.ts";
import type { FileFormat } from "./formats.ts";

/** The columns whose content is a text of somebody's: all others are digits and codes. */
const texts = ["JournalLib", "CompteLib", "CompAuxLib", "EcritureLib"] as const;

/** The bytes of a file: a line with the names of the columns, then the rows, each line ended by CR and LF. */
export function writeFec(rows: FecRow[], { separator, charset, longestText }: FileFormat): Buffer {
  // The same few texts stand in every till's lines.
  const written = new Map<string, string>();
  const writtenText = (text: string) => {
    const known = written.get(text) ?? shortenedTo(longestText, withoutBreaks(text));
    written.set(text, known);
    return known;
  };
  const lines = rows.map((row) => {
    const safe = { ...row };
    for (const column of texts) safe[column] = writtenText(row[column]);
    return fecColumns.map((column) => safe[column]).join(separator);
  });
  return encodeText([fecColumns.join(separator), ...lines, ""].join("\r\n"), charset);
}

/** A text without what would end its field or its line, in any of the formats. */
function withoutBreaks(text: string): string {
  return text.replaceAll(/[\p{Cc}\s|]+/gu, " ").trim();
}

function shortenedTo(length: number, text: string): string {
  const letters = Array.from(text);
  return letters.length > length ? letters.slice(0, length).join("").trimEnd() : text;
}

/**
 * The name of a FEC: the company's SIREN, FEC, and the last day that it holds. The SIREN is the first nine digits of the
 * SIRET; without one the name begins with FEC.
 */
export function fecName({ siret, lastDay }: { siret: string; lastDay: string }): string {
  const [siren = ""] = /^\d{9}(?=\d{5}$|$)/.exec(siret.replaceAll(/\s/g, "")) ?? [];
  return `${siren}FEC${lastDay.replaceAll("-", "")}.txt`;
}
