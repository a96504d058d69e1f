import type { AccountingProvider } from "@pragma/contracts/accounting-export";

/** How a provider's file is written. What of it is standard and what was chosen: see README.md beside this folder. */
export interface FileFormat {
  /** Between the fields of a line: the tabulator and | are the two that the rules for a FEC name. */
  separator: "\t" | "|";
  charset: "ISO-8859-15" | "US-ASCII";
  /** Of a line's text (EcritureLib) and an account's name, in characters. */
  longestText: number;
}

/** INEXWEB and FULLL are one software under its former and its present name: it takes a FEC as the law describes it. */
const fecByTheLaw: FileFormat = { separator: "\t", charset: "ISO-8859-15", longestText: 200 };

export const fileFormats: Record<AccountingProvider, FileFormat> = {
  INEXWEB: fecByTheLaw,
  FULLL: fecByTheLaw,
  ISACOMPTA: { separator: "|", charset: "US-ASCII", longestText: 30 },
};
