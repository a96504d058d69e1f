import { on } from "@pragma/runtime/subscription";
import { noteResult } from "../queries/tills.ts";
import type { TillIngest } from "../till-ingest.ts";

/** A till has its report: it needs no sweeping any more. */
export const markProcessed = on<TillIngest, "report.finalized">("report.finalized", async ({ data, once }) => {
  await once((tx) => noteResult(tx, data));
});
