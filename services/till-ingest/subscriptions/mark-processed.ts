import { on } from "@pragma/runtime/subscription";
import { noteResult } from "../queries/tills.ts";
import type { TillIngest } from "../till-ingest.ts";

/** A till has its report: it needs no sweeping any more. */
export const markProcessed = on<TillIngest, "report.finalized">("report.finalized", async ({ data, once }) => {
  await once((tx) => noteResult(tx, data));
});

/** A till has become a training till, and its report is gone: it needs no sweeping any more. */
export const markRemoved = on<TillIngest, "report.removed">("report.removed", async ({ data, once }) => {
  await once((tx) => noteResult(tx, { ...data, reportVersion: null }));
});
