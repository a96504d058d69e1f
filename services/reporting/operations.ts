import { limitedList } from "@pragma/contracts/length-limits";
import type { Database } from "@pragma/runtime/postgres";
import { Hono } from "hono";
import { z } from "zod";
import { eraseOrders } from "./erase-orders.ts";
import { listUnfinished } from "./queries/accounting-exports.ts";

const locationId = z.guid();
const erasure = z.union([
  z.object({ locationId, orderIds: limitedList(z.guid().toLowerCase(), 1_000, { min: 1 }) }),
  z.object({ locationId, before: z.iso.date() }),
]);

/** How many exports are listed at most. */
const maxListed = 1_000;

/** What operators may ask of this service: which exports are unfinished, and to have personal data erased. */
export function reportingOperations(db: Database): Hono {
  const app = new Hono();
  app.get("/exports", async (context) => context.json(await listUnfinished(db.sql, maxListed)));
  app.post("/erasures", async (context) => {
    const given = erasure.safeParse(await context.req.json().catch(() => undefined));
    if (!given.success) return context.json({ error: z.prettifyError(given.error) }, 400);
    return context.json(await eraseOrders(db, given.data));
  });
  return app;
}
