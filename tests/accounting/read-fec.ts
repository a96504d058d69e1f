/**
 * A strict reader of FEC files, the accounting format of the French tax administration. It shares no code with the FEC
 * writer, because an error in shared code would remain undetected. It throws an error at the first violation of article
 * A47 A-1 of the Livre des procédures fiscales, or of a rule that the test program of the tax administration checks.
 */

const fecColumns =
  "JournalCode JournalLib EcritureNum EcritureDate CompteNum CompteLib CompAuxNum CompAuxLib PieceRef PieceDate EcritureLib Debit Credit EcritureLet DateLet ValidDate Montantdevise Idevise".split(
    " ",
  );

/** Columns that must have a value in every line. */
const requiredColumns =
  "JournalCode JournalLib EcritureNum EcritureDate CompteNum CompteLib PieceRef PieceDate EcritureLib Debit Credit ValidDate".split(
    " ",
  );

/** Pairs of columns. In each line, either both columns of a pair have a value, or both are empty. */
const pairedColumns = [
  ["CompAuxNum", "CompAuxLib"],
  ["EcritureLet", "DateLet"],
  ["Montantdevise", "Idevise"],
] as const;

export interface ParsedFecLine {
  entry: number;
  day: string;
  journal: string;
  account: string;
  accountName: string;
  auxiliary: string;
  piece: string;
  text: string;
  validFrom: string;
  /** The debit in cents. */
  debit: number;
  credit: number;
}

interface FecFormat {
  separator: "\t" | "|";
  charset: "iso-8859-15" | "us-ascii";
}

/** Returns the parsed lines of a FEC file. @throws Error at the first violation of the rules. */
export function parseAndValidateFecFile(bytes: Uint8Array, { separator, charset }: FecFormat): ParsedFecLine[] {
  const lines = decodeFec(bytes, charset).split("\r\n");
  if (lines.pop() !== "") throw new Error("The last line has no line end.");
  if (lines.some((line) => /\p{Cc}/u.test(line.replaceAll("\t", "")))) throw new Error("There is a control character.");
  const [header = "", ...body] = lines;
  if (header !== fecColumns.join(separator)) throw new Error(`Unexpected header: ${header}`);
  const fecLines = body.map((line) => readLine(line, separator));
  requireBalancedEntries(fecLines);
  return fecLines;
}

function decodeFec(bytes: Uint8Array, charset: FecFormat["charset"]): string {
  if (charset === "us-ascii" && bytes.some((byte) => byte > 0x7e)) throw new Error("There is a byte beyond ASCII.");
  if (bytes.some((byte) => byte >= 0x7f && byte <= 0x9f)) throw new Error("There is a byte that ISO-8859-15 lacks.");
  return new TextDecoder(charset === "us-ascii" ? "utf-8" : charset, { fatal: true }).decode(bytes);
}

function readLine(line: string, separator: string): ParsedFecLine {
  const values = line.split(separator);
  if (values.length !== fecColumns.length) throw new Error(`${values.length} fields in: ${line}`);
  const row = Object.fromEntries(fecColumns.map((name, index) => [name, values[index] ?? ""]));
  const field = (name: string) => row[name] ?? "";
  for (const name of requiredColumns) if (field(name) === "") throw new Error(`${name} is empty in: ${line}`);
  for (const [one, other] of pairedColumns) {
    if ((field(one) === "") !== (field(other) === "")) throw new Error(`Only one of ${one} and ${other} in: ${line}`);
  }
  if (!/^[1-7]\d\d/.test(field("CompteNum"))) throw new Error(`Not an account of the chart: ${line}`);
  for (const name of ["EcritureDate", "PieceDate", "ValidDate"]) requireFecDate(field(name), line);
  const [debit, credit] = [parseCents(field("Debit"), line), parseCents(field("Credit"), line)];
  if (debit > 0 === credit > 0) throw new Error(`Neither or both of debit and credit: ${line}`);
  if (!/^[1-9]\d*$/.test(field("EcritureNum"))) throw new Error(`Not an entry number: ${line}`);
  if (field("ValidDate") < field("EcritureDate")) throw new Error(`Validated before the entry date: ${line}`);
  return {
    entry: Number(field("EcritureNum")),
    day: field("EcritureDate"),
    journal: field("JournalCode"),
    account: field("CompteNum"),
    accountName: field("CompteLib"),
    auxiliary: field("CompAuxNum"),
    piece: field("PieceRef"),
    text: field("EcritureLib"),
    validFrom: field("ValidDate"),
    debit,
    credit,
  };
}

function requireFecDate(text: string, line: string): void {
  const [, year, month, day] = /^(\d{4})(\d\d)(\d\d)$/.exec(text) ?? [];
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`);
  const isReal = !Number.isNaN(date.getTime()) && date.toISOString().startsWith(`${year}-${month}-${day}`);
  if (!isReal) throw new Error(`Not a date: ${text} in ${line}`);
}

function parseCents(text: string, line: string): number {
  if (!/^(?:0|[1-9]\d*),\d\d$/.test(text)) throw new Error(`Not an amount: ${text} in ${line}`);
  return Number(text.replace(",", ""));
}

/**
 * Throws an error unless the entries are numbered from 1 without gaps, and each entry is balanced. An entry must have
 * at least two lines, which must be consecutive and have the same day, document and journal.
 */
function requireBalancedEntries(lines: ParsedFecLine[]): void {
  let last = 0;
  for (const [index, { entry }] of lines.entries()) {
    if (entry !== last && entry !== last + 1) throw new Error(`Line ${index + 1} is of entry ${entry} after ${last}.`);
    last = entry;
  }
  const entries = new Map<number, ParsedFecLine[]>();
  for (const line of lines) entries.set(line.entry, [...(entries.get(line.entry) ?? []), line]);
  for (const [number, entryLines] of entries) {
    const [first] = entryLines;
    const balance = entryLines.reduce((sum, { debit, credit }) => sum + debit - credit, 0);
    if (balance !== 0) throw new Error(`Entry ${number} is ${balance} out of balance.`);
    const isSame = entryLines.every(
      ({ day, piece, journal }) => day === first?.day && piece === first.piece && journal === first.journal,
    );
    if (!isSame) throw new Error(`The lines of entry ${number} differ in day, piece or journal.`);
    if (entryLines.length < 2) throw new Error(`Entry ${number} has only one line.`);
  }
}
