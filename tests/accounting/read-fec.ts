/**
 * Reads a FEC the way a strict importer does, knowing nothing of how it was written. It throws at the first thing that
 * article A47 A-1 of the French Livre des procédures fiscales, or the tax administration's own test, would refuse.
 */

const fecColumns =
  "JournalCode JournalLib EcritureNum EcritureDate CompteNum CompteLib CompAuxNum CompAuxLib PieceRef PieceDate EcritureLib Debit Credit EcritureLet DateLet ValidDate Montantdevise Idevise".split(
    " ",
  );

/** Columns that no line may leave empty. */
const requiredColumns =
  "JournalCode JournalLib EcritureNum EcritureDate CompteNum CompteLib PieceRef PieceDate EcritureLib Debit Credit ValidDate".split(
    " ",
  );

/** Columns that are both empty or both filled. */
const pairedColumns = [
  ["CompAuxNum", "CompAuxLib"],
  ["EcritureLet", "DateLet"],
  ["Montantdevise", "Idevise"],
] as const;

export interface FecLine {
  entry: number;
  day: string;
  journal: string;
  account: string;
  accountName: string;
  auxiliary: string;
  piece: string;
  text: string;
  validFrom: string;
  /** In cents. */
  debit: number;
  credit: number;
}

interface FecFormat {
  separator: "\t" | "|";
  charset: "iso-8859-15" | "us-ascii";
}

export function readFec(bytes: Uint8Array, { separator, charset }: FecFormat): FecLine[] {
  const lines = decodeFec(bytes, charset).split("\r\n");
  if (lines.pop() !== "") throw new Error("The last line has no end.");
  if (lines.some((line) => /\p{Cc}/u.test(line.replaceAll("\t", "")))) throw new Error("There is a control character.");
  const [header = "", ...body] = lines;
  if (header !== fecColumns.join(separator)) throw new Error(`The first line is ${header}`);
  const read = body.map((line) => readLine(line, separator));
  requireBalancedEntries(read);
  return read;
}

function decodeFec(bytes: Uint8Array, charset: FecFormat["charset"]): string {
  if (charset === "us-ascii" && bytes.some((byte) => byte > 0x7e)) throw new Error("There is a byte beyond ASCII.");
  if (bytes.some((byte) => byte >= 0x7f && byte <= 0x9f)) throw new Error("There is a byte that ISO-8859-15 lacks.");
  return new TextDecoder(charset === "us-ascii" ? "utf-8" : charset, { fatal: true }).decode(bytes);
}

function readLine(line: string, separator: string): FecLine {
  const values = line.split(separator);
  if (values.length !== fecColumns.length) throw new Error(`${values.length} fields in: ${line}`);
  const row = Object.fromEntries(fecColumns.map((name, index) => [name, values[index] ?? ""]));
  const of = (name: string) => row[name] ?? "";
  for (const name of requiredColumns) if (of(name) === "") throw new Error(`${name} is empty in: ${line}`);
  for (const [one, other] of pairedColumns) {
    if ((of(one) === "") !== (of(other) === "")) throw new Error(`Only one of ${one} and ${other} in: ${line}`);
  }
  if (!/^[1-7]\d\d/.test(of("CompteNum"))) throw new Error(`No account of the chart: ${line}`);
  for (const name of ["EcritureDate", "PieceDate", "ValidDate"]) requireFecDate(of(name), line);
  const [debit, credit] = [parseCents(of("Debit"), line), parseCents(of("Credit"), line)];
  if (debit > 0 === credit > 0) throw new Error(`Neither or both of debit and credit: ${line}`);
  if (!/^[1-9]\d*$/.test(of("EcritureNum"))) throw new Error(`No number: ${line}`);
  if (of("ValidDate") < of("EcritureDate")) throw new Error(`Valid before it was made: ${line}`);
  return {
    entry: Number(of("EcritureNum")),
    day: of("EcritureDate"),
    journal: of("JournalCode"),
    account: of("CompteNum"),
    accountName: of("CompteLib"),
    auxiliary: of("CompAuxNum"),
    piece: of("PieceRef"),
    text: of("EcritureLib"),
    validFrom: of("ValidDate"),
    debit,
    credit,
  };
}

function requireFecDate(text: string, line: string): void {
  const [, year, month, day] = /^(\d{4})(\d\d)(\d\d)$/.exec(text) ?? [];
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`);
  const isReal = !Number.isNaN(date.getTime()) && date.toISOString().startsWith(`${year}-${month}-${day}`);
  if (!isReal) throw new Error(`No day: ${text} in ${line}`);
}

function parseCents(text: string, line: string): number {
  if (!/^(?:0|[1-9]\d*),\d\d$/.test(text)) throw new Error(`No amount: ${text} in ${line}`);
  return Number(text.replace(",", ""));
}

/** Numbers go up from 1 without gaps; what has one number stands together, is of one day and piece, and balances. */
function requireBalancedEntries(lines: FecLine[]): void {
  let last = 0;
  for (const [index, { entry }] of lines.entries()) {
    if (entry !== last && entry !== last + 1) throw new Error(`Line ${index + 1} is of entry ${entry} after ${last}.`);
    last = entry;
  }
  const entries = new Map<number, FecLine[]>();
  for (const line of lines) entries.set(line.entry, [...(entries.get(line.entry) ?? []), line]);
  for (const [number, of] of entries) {
    const [first] = of;
    const balance = of.reduce((sum, { debit, credit }) => sum + debit - credit, 0);
    if (balance !== 0) throw new Error(`Entry ${number} is ${balance} out of balance.`);
    const isSame = of.every(
      ({ day, piece, journal }) => day === first?.day && piece === first.piece && journal === first.journal,
    );
    if (!isSame || of.length < 2) throw new Error(`The lines of entry ${number} do not belong together.`);
  }
}
