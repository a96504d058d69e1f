/**
 * The columns of a FEC (fichier des écritures comptables) of a company that is taxed on industrial and commercial
 * profits, in their order: article A47 A-1, VII-1° of the French Livre des procédures fiscales.
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

/** A line of a FEC, by column. */
export type FecRow = Record<(typeof fecColumns)[number], string>;
