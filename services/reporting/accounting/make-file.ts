import type { AccountingRules } from "@pragma/contracts/accounting-config";
import type { AccountingProvider } from "@pragma/contracts/accounting-export";
import { entityTagOf } from "@pragma/runtime/entity-tags";
import { fileFormats } from "./fec/formats.ts";
import { fecName, fecRows, writeFec } from "./fec/write-fec.ts";
import type { JournalEntry } from "./journal.ts";

/** A till whose figures add up: its entries, and what the file's name and order go by. */
export interface WellTill {
  tillId: string;
  entries: JournalEntry[];
  finalizedAt: string;
  day: string;
  siret: string;
}

/** A file of an export, as it is kept. */
export interface MadeFile {
  name: string;
  etag: string;
  entries: number;
  content: Uint8Array;
}

/** The file of these tills, at least one, in the order in which they were closed: that in which their entries stand. */
export function makeFile(tills: WellTill[], provider: AccountingProvider, config: AccountingRules): MadeFile {
  const inOrder = tills.toSorted(
    (one, other) => compare(one.finalizedAt, other.finalizedAt) || compare(one.tillId, other.tillId),
  );
  const entries = inOrder.flatMap((till) => till.entries);
  const content = writeFec(fecRows(entries, config), fileFormats[provider]);
  const lastDay =
    tills
      .map((till) => till.day)
      .sort()
      .at(-1) ?? "";
  const siret = inOrder.at(-1)?.siret ?? "";
  return {
    name: fecName({ siret, lastDay }),
    etag: entityTagOf(content),
    entries: entries.length,
    content,
  };
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
