import { on } from "@pragma/runtime/subscription";
import { eraseTill } from "../erase-till.ts";
import type { TillIngest } from "../till-ingest.ts";

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
