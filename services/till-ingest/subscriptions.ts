import { on } from "@pragma/runtime/subscription";
import { eraseTill } from "./erase-till.ts";
import { noteResult } from "./queries/tills.ts";
import type { TillIngest } from "./till-ingest.ts";

/** A till has its report: it needs no sweeping any more. */
export const markProcessed = on<TillIngest, "report.finalized">("report.finalized", async ({ data, once }) => {
  await once((tx) => noteResult(tx, data));
});

/** A till has become a training till, and its report is gone: it needs no sweeping any more. */
export const markRemoved = on<TillIngest, "report.removed">("report.removed", async ({ data, once }) => {
  await once((tx) => noteResult(tx, { ...data, reportVersion: null }));
});

/** The personal data of orders is to be erased: their till gets a body without it. What was erased is not again. */
export const ordersErased = on<TillIngest, "orders.erased">(
  "orders.erased",
  async ({ data: { tillId, orderIds, isWholeTill }, services, context, once }) => {
    const { traceparent } = context;
    if (tillId !== null) await eraseTill(services, { tillId, orderIds: isWholeTill ? null : orderIds, traceparent });
    await once(async () => {});
  },
  { concurrency: 2 },
);
