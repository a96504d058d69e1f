import type { EventData } from "@pragma/contracts/events";
import { type Database, lockUntilCommit, type SqlTransaction } from "@pragma/runtime/database/postgres";
import { publishEvent } from "@pragma/runtime/messaging/outbox";
import { onEvent } from "@pragma/runtime/messaging/subscription";
import type { RequestContext } from "@pragma/runtime/observability/request-context";
import { v5 as uuidV5 } from "uuid";
import type { CalculatedTill } from "../calculate-till.ts";
import { reportIdOfTill } from "../calculation/report-id.ts";
import type { ReportingContext } from "../context.ts";
import { findFinalized } from "../queries/reports.ts";
import { advanceTillRevision, findAppliedRevision } from "../queries/tills.ts";
import { removeReport, storeReport } from "../store-report.ts";

/** A till was pushed, replaced or is to be processed again: calculates its report and orders and makes them readable. */
export const calculatePushedTill = onEvent<ReportingContext, "till.pushed">(
  "till.pushed",
  async ({ data, services, context, once }) => {
    const applied = await findAppliedRevision(services.db.sql, data.tillId);
    // Moot, and not worth loading: it may be large, and there may be many.
    if (applied > data.revision) return once(async () => {});
    const till = applied === data.revision ? null : await calculateReport(data, services, context);
    context.addLogFields({ tillId: data.tillId, revision: data.revision, orders: till?.orders.length });
    await context.runStep({ name: "store the report" }, ({ traceparent }) =>
      once((tx) => applyTillRevision(tx, services.db, { data, till, traceparent })),
    );
  },
  // Slow work is in threads; a few at a time keep them busy while others are stored. One of a location at a time, as they
  // are stored: its large tills leave the other threads to others.
  { concurrency: 4, hasRevisions: true },
);

async function calculateReport(
  data: EventData<"till.pushed">,
  { objects, calculator }: ReportingContext,
  context: RequestContext,
): Promise<CalculatedTill> {
  const bytes = await context.runStep({ name: "read the till's body" }, () => objects.get(data.object.key));
  const { tillId, locationId, timeZone, version } = data;
  return context.runStep({ name: "calculate the report" }, () =>
    calculator.run({ bytes, hash: data.object.hash, version, tillId, locationId, timeZone }),
  );
}

interface TillPushedEvent {
  data: EventData<"till.pushed">;
  /** Null, too, when the revision was applied before. */
  till: CalculatedTill;
  traceparent: string;
}

async function applyTillRevision(
  tx: SqlTransaction,
  db: Database,
  { data, till, traceparent }: TillPushedEvent,
): Promise<void> {
  const { tillId, locationId, revision } = data;
  const reportId = reportIdOfTill(tillId);
  // One till of a location at a time: orders move between tills, and counters must agree with what is counted.
  await lockUntilCommit(tx, db, `location ${locationId}`);
  const previousRevision = await advanceTillRevision(tx, data);
  if (previousRevision > revision) return;
  const isNew = previousRevision < revision;
  if (isNew && !till) await removeReport(tx, data);
  const finalized = isNew && till ? await storeReport(tx, data, till) : await findFinalized(tx, reportId);
  // The same revision is the same event: whoever has handled it does not again.
  if (finalized) {
    const id = uuidV5(`${revision}`, reportId);
    await publishEvent(tx, "report.finalized", { id, subject: reportId, data: finalized, traceparent });
  } else if (revision > 1) {
    // A training till has no report; one that has become a training till has lost the one that it had.
    const id = uuidV5(`removed ${revision}`, reportId);
    const removed = { locationId, reportId, tillId, revision };
    await publishEvent(tx, "report.removed", { id, subject: reportId, data: removed, traceparent });
  }
}
