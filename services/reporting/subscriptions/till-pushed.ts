import type { EventData } from "@pragma/contracts/events";
import { publish } from "@pragma/runtime/outbox";
import { type Database, lockUntilCommit, type Transaction } from "@pragma/runtime/postgres";
import type { RequestContext } from "@pragma/runtime/request-context";
import { on } from "@pragma/runtime/subscription";
import { v5 as uuidV5 } from "uuid";
import { reportIdOf } from "../calculate/report-id.ts";
import type { CalculatedTill } from "../calculate-till.ts";
import { findFinalized } from "../queries/reports.ts";
import { findRevision, takeTill } from "../queries/tills.ts";
import type { Reporting } from "../reporting.ts";
import { removeReport, storeReport } from "../store-report.ts";

/** A till was pushed, replaced or is to be processed again: calculates its report and orders and makes them readable. */
export const tillPushed = on<Reporting, "till.pushed">(
  "till.pushed",
  async ({ data, services, context, once }) => {
    const applied = await findRevision(services.db.sql, data.tillId);
    // Moot, and not worth loading: it may be large, and there may be many.
    if (applied > data.revision) return once(async () => {});
    const till = applied === data.revision ? null : await calculate(data, services, context);
    context.addToLog({ tillId: data.tillId, revision: data.revision, orders: till?.orders.length });
    await context.step({ name: "store the report" }, ({ traceparent }) =>
      once((tx) => apply(tx, services.db, { data, till, traceparent })),
    );
  },
  // Slow work is in threads; a few at a time keep them busy while others are stored. One of a location at a time, as they
  // are stored: its large tills leave the other threads to others.
  { concurrency: 4, hasRevisions: true },
);

async function calculate(
  data: EventData<"till.pushed">,
  { objects, calculator }: Reporting,
  context: RequestContext,
): Promise<CalculatedTill> {
  const bytes = await context.step({ name: "read the till's body" }, () => objects.get(data.object.key));
  const { tillId, locationId, timeZone, version } = data;
  return context.step({ name: "calculate the report" }, () =>
    calculator.run({ bytes, hash: data.object.hash, version, tillId, locationId, timeZone }),
  );
}

interface Announced {
  data: EventData<"till.pushed">;
  /** Null, too, when the revision was applied before. */
  till: CalculatedTill;
  traceparent: string;
}

async function apply(tx: Transaction, db: Database, { data, till, traceparent }: Announced): Promise<void> {
  const { tillId, locationId, revision } = data;
  const reportId = reportIdOf(tillId);
  // One till of a location at a time: orders move between tills, and counters must agree with what is counted.
  await lockUntilCommit(tx, db, `location ${locationId}`);
  const applied = await takeTill(tx, data);
  if (applied > revision) return;
  const isNew = applied < revision;
  if (isNew && !till) await removeReport(tx, data);
  const finalized = isNew && till ? await storeReport(tx, data, till) : await findFinalized(tx, reportId);
  // The same revision is the same event: whoever has handled it does not again.
  if (finalized) {
    const id = uuidV5(`${revision}`, reportId);
    await publish(tx, "report.finalized", { id, subject: reportId, data: finalized, traceparent });
  } else if (revision > 1) {
    // A training till has no report; one that has become a training till has lost the one that it had.
    const id = uuidV5(`removed ${revision}`, reportId);
    const removed = { locationId, reportId, tillId, revision };
    await publish(tx, "report.removed", { id, subject: reportId, data: removed, traceparent });
  }
}
