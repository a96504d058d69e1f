import { Hono } from "hono";
import { z } from "zod";
import { sweepUnfinished } from "./periodic/sweep-unfinished.ts";
import { hastenSweep, listUnfinished } from "./queries/tills.ts";
import type { TillIngest } from "./till-ingest.ts";

/** How many tills are listed at most. */
const mostListed = 1_000;

/** What operators may ask of this service: which tills wait for their result, and to have one announced again. */
export function tillOperations(services: Pick<TillIngest, "db" | "log" | "sweepAfter">): Hono {
  const { db, sweepAfter } = services;
  const app = new Hono();
  app.get("/unfinished", async (context) => {
    const given = z.coerce.number().int().min(0).safeParse(context.req.query("seconds"));
    const seconds = given.success ? given.data : sweepAfter;
    return context.json(await listUnfinished(db.sql, { seconds, limit: mostListed }));
  });
  app.post("/unfinished/:tillId/retry", async (context) => {
    const tillId = context.req.param("tillId");
    if (!z.guid().safeParse(tillId).success) return context.json({ error: "no till id" }, 400);
    const isWaiting = await hastenSweep(db.sql, tillId);
    if (isWaiting) await sweepUnfinished.run(services);
    return context.json({ tillId, isAnnounced: isWaiting });
  });
  return app;
}
