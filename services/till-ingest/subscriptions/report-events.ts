import { onEvent } from "@pragma/runtime/messaging/subscription";
import type { TillIngestContext } from "../context.ts";
import { eraseTillPersonalData } from "../erase-till.ts";
import { recordTillResult } from "../queries/tills.ts";

/** A till has its report: it needs no sweeping any more. */
export const markTillProcessed = onEvent<TillIngestContext, "report.finalized">(
  "report.finalized",
  async ({ data, once }) => {
    await once((tx) => recordTillResult(tx, data));
  },
);

/** A till has become a training till, and its report is gone: it needs no sweeping any more. */
export const markTillReportRemoved = onEvent<TillIngestContext, "report.removed">(
  "report.removed",
  async ({ data, once }) => {
    await once((tx) => recordTillResult(tx, { ...data, reportVersion: null }));
  },
);

/** The personal data of orders is to be erased: their till gets a body without it. What was erased is not again. */
export const eraseOrdersInTill = onEvent<TillIngestContext, "orders.erased">(
  "orders.erased",
  async ({ data: { tillId, orderIds, isWholeTill }, services, context, once }) => {
    const { traceparent } = context;
    if (tillId !== null)
      await eraseTillPersonalData(services, { tillId, orderIds: isWholeTill ? null : orderIds, traceparent });
    await once(async () => {});
  },
  { concurrency: 2 },
);
