import type { AccountingProvider } from "@pragma/contracts/accounting-export";

/** The character sets of files. */
export type Charset = "ISO-8859-15" | "US-ASCII";

/** The file format of a provider. `../README.md` states which properties are standard and which are our own choice. */
export interface FecFileFormat {
  /** The field separator. The rules for a FEC allow only tab and |. */
  separator: "\t" | "|";
  charset: Charset;
  maxTextLength: number;
}

/** A format that French law permits. Only the maximum text length is our own choice. */
const legalFecFormat: FecFileFormat = { separator: "\t", charset: "ISO-8859-15", maxTextLength: 200 };

export const fecFileFormatsByProvider: Record<AccountingProvider, FecFileFormat> = {
  INEXWEB: legalFecFormat,
  FULLL: legalFecFormat,
  ISACOMPTA: { separator: "|", charset: "US-ASCII", maxTextLength: 30 },
};

/**
 * The columns of a FEC (fichier des écritures comptables), from left to right, for a company taxed on industrial and
 * commercial profits. Source: article A47 A-1, VII-1° of the French Livre des procédures fiscales.
 */
export const fecColumns = [
  "JournalCode",
  "JournalLib",
  "EcritureNum",
  "EcritureDate",
  "CompteNum",
  "CompteLib",
  "CompAuxNum",
  "CompAuxLib",
  "PieceRef",
  "PieceDate",
  "EcritureLib",
  "Debit",
  "Credit",
  "EcritureLet",
  "DateLet",
  "ValidDate",
  "Montantdevise",
  "Idevise",
] as const;

/** Returns the first line of a file, which contains the column names. Their letters are the same in all character sets. */
export function encodeFecHeader({ separator }: FecFileFormat): Buffer {
  return Buffer.from(`${fecColumns.join(separator)}\r\n`, "ascii");
}

/**
 * Returns the name of a FEC: the company's SIREN (the first nine digits of its SIRET), unless `siret` is neither a SIRET
 * nor a SIREN; `FEC`; and the last day that the file contains.
 */
export function buildFecFileName({ siret, lastDay }: { siret: string; lastDay: string }): string {
  const [siren = ""] = /^\d{9}(?=\d{5}$|$)/.exec(siret.replaceAll(/\s/g, "")) ?? [];
  return `${siren}FEC${lastDay.replaceAll("-", "")}.txt`;
}
