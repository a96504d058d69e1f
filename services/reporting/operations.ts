import { limitedList } from "@pragma/contracts/length-limits";
import type { Database } from "@pragma/runtime/postgres";
import { Hono } from "hono";
import { z } from "zod";
import { eraseOrders } from "./erase-orders.ts";

const locationId = z.guid();
const erasure = z.union([
  z.object({ locationId, orderIds: limitedList(z.guid().toLowerCase(), 1_000, { min: 1 }) }),
  z.object({ locationId, before: z.iso.date() }),
]);

/** What operators may ask of this service: to have personal data erased. */
export function reportingOperations(db: Database): Hono {
  const app = new Hono();
  app.post("/erasures", async (context) => {
    const given = erasure.safeParse(await context.req.json().catch(() => undefined));
    if (!given.success) return context.json({ error: z.prettifyError(given.error) }, 400);
    return context.json(await eraseOrders(db, given.data));
  });
  return app;
}
