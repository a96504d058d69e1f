import type { BusEventData } from "@pragma/contracts/events";
import type { TillReportParkedReason } from "@pragma/contracts/till";
import { computeTillReportId } from "@pragma/contracts/till-report-id";
import {
  type Database,
  lockInTransaction,
  type SqlTransaction,
  useGenericPlans,
} from "@pragma/runtime/database/postgres";
import { recordLocationWrite } from "@pragma/runtime/database/read-replica";
import { writeEventToOutbox } from "@pragma/runtime/messaging/outbox";
import { type DeadLetteredEvent, defineEventSubscription } from "@pragma/runtime/messaging/subscription";
import { ObjectNotFoundError } from "@pragma/runtime/object-store/object-store";
import type { ObservabilityContext } from "@pragma/runtime/observability/request-context";
import { PermanentEventError } from "@pragma/runtime/retries/transient-error";
import { v5 as uuidV5 } from "uuid";
import type { CalculatedTill } from "../calculation-thread.ts";
import type { ReportingContext } from "../context.ts";
import { assertTillCanBeDeleted, withUnpackedTills } from "../documents/packing/with-unpacked-tills.ts";
import { findReportFinalizedEventData } from "../documents/queries/reports.ts";
import { findAppliedTill, recordTillRevision } from "../documents/queries/tills.ts";
import { removeErasedTillFromBulkExports } from "../exports/bulk/queries/bulk-export-queries.ts";
import { repeatErasureOfOrders } from "../retention/request-erasure.ts";
import {
  deleteDocumentsOfTill,
  replaceDocuments,
  type TillPushedData,
  toReportFinalizedData,
} from "../store-report.ts";

/** Calculates and stores the report and orders of a till that was pushed or replaced, or is being reprocessed. */
export const calculateTillReportSubscription = defineEventSubscription<ReportingContext, "till.pushed">(
  "till.pushed",
  async ({ data, services, context, once }) => {
    const applied = (await findAppliedTill(services.db.sql, data))?.revision ?? 0;
    // An outdated revision is skipped before its body is loaded, because the body may be large.
    if (applied > data.revision) return once(async () => {});
    const till =
      applied === data.revision ? null : await calculateReport(data, services, { context, isNew: applied === 0 });
    context.addLogFields({ tillId: data.tillId, revision: data.revision, orders: till?.orders.length });
    await context.runStep({ name: "store report" }, ({ traceparent }) =>
      withUnpackedTills(
        services,
        data.locationId,
        () => once((tx) => applyTillRevision(tx, services, { data, till, traceparent })),
        { canGiveUpTexts: true },
      ),
    );
  },
  // By default, reports are calculated in two threads. Four events are handled at a time, so that both threads have work
  // while reports are stored. Events with revisions are handled one at a time for each location, so that large tills of
  // one location cannot occupy both threads.
  { concurrency: 4, hasRevisions: true, onDeadLetter: publishParkedReport },
);

/** Publishes that a till has no report. The event's id derives from that of the dead letter, so it is published once. */
async function publishParkedReport(
  tx: SqlTransaction,
  { eventId, data, error, traceparent }: DeadLetteredEvent<"till.pushed">,
): Promise<void> {
  const { locationId, tillId, revision } = data;
  const reportId = computeTillReportId(tillId);
  const otherReason: TillReportParkedReason =
    error instanceof ObjectNotFoundError ? "body_missing" : "calculation_failed";
  const reason = (error instanceof PermanentEventError && error.publicReason) || otherReason;
  await writeEventToOutbox(tx, "report.parked", {
    id: uuidV5("parked", eventId),
    subject: reportId,
    data: { locationId, reportId, tillId, revision, reason },
    traceparent,
  });
}

async function calculateReport(
  data: TillPushedData,
  { db, objects, calculator }: ReportingContext,
  { context, isNew }: { context: ObservabilityContext; isNew: boolean },
): Promise<CalculatedTill | null> {
  const bytes = await context.runStep({ name: "read till body" }, () => objects.get(data.object.key));
  const { tillId, locationId, timeZone, version } = data;
  const till = { bytes, hash: data.object.hash, version, tillId, locationId, timeZone };
  const storedOrders = isNew
    ? []
    : await db.sql<{ id: string; createdAt: Date }[]>`
        select id, created_at from orders where location_id = ${locationId} and till_id = ${tillId}`;
  const creationTimes = new Map(storedOrders.map(({ id, createdAt }) => [id, createdAt.toISOString()]));
  return context.runStep({ name: "calculate report" }, () =>
    calculator.run({ ...till, calculatedAt: new Date().toISOString(), creationTimes, isStored: true }),
  );
}

interface AppliedTill {
  data: TillPushedData;
  /** Null for a till in training mode, and for a revision that was already applied. */
  till: CalculatedTill | null;
  traceparent: string;
}

async function applyTillRevision(
  tx: SqlTransaction,
  { db }: Pick<ReportingContext, "db">,
  { data, till, traceparent }: AppliedTill,
): Promise<void> {
  const { tillId, locationId, revision } = data;
  // Only one till of a location is stored at a time, because tills can contain the same orders and share day counts.
  const [, , previousRevision] = await Promise.all([
    useGenericPlans(tx),
    lockInTransaction(tx, db, `location ${locationId}`),
    // PostgreSQL runs the statements of a transaction one after the other, so this one waits for the lock.
    recordTillRevision(tx, data),
  ]);
  if (previousRevision > revision) return;
  const isNew = previousRevision < revision;
  const finalized = isNew
    ? till && toReportFinalizedData(data, till)
    : await findReportFinalizedEventData(tx, { locationId, tillId });
  // The event of the erasure may have been skipped, because a later revision waited, too.
  const isErasure = data.isErasure || previousRevision < (data.erasedRevision ?? 0);
  await Promise.all([
    isNew && changeStoredReport(tx, db, { data, till, traceparent, isErasure }),
    publishChangedReport(tx, data, finalized, traceparent),
  ]);
}

async function changeStoredReport(
  tx: SqlTransaction,
  db: Database,
  { data, till, traceparent, isErasure }: AppliedTill & { isErasure: boolean },
) {
  const { tillId, locationId } = data;
  if (!till) await assertTillCanBeDeleted(tx, { locationId, tillId });
  // Runs before the report changes, because unfinished exports of its previous day may have read it.
  if (isErasure) await removeErasedTillFromBulkExports(tx, db, { locationId, tillId });
  if (!till) {
    await recordLocationWrite(tx, locationId);
    await deleteDocumentsOfTill(tx, data, { traceparent });
    return;
  }
  const orderIds = till.orders.map(({ id }) => id);
  await Promise.all([
    replaceDocuments(tx, data, till, { traceparent }),
    recordLocationWrite(tx, locationId),
    !isErasure && repeatErasureOfOrders(tx, db, { locationId, tillId, orderIds }, traceparent),
  ]);
}

/** Publishes the report of a till, or that the till has none. */
async function publishChangedReport(
  tx: SqlTransaction,
  { tillId, locationId, revision }: TillPushedData,
  finalized: BusEventData<"report.finalized"> | null | undefined,
  traceparent: string,
): Promise<void> {
  const reportId = computeTillReportId(tillId);
  // A repeated event has the same id, which is derived from the revision, so subscribers skip it.
  if (finalized) {
    const id = uuidV5(`${revision}`, reportId);
    await writeEventToOutbox(tx, "report.finalized", { id, subject: reportId, data: finalized, traceparent });
  } else if (revision > 1) {
    // The till is in training mode. An earlier revision may have had a report, so its removal is published.
    const id = uuidV5(`removed ${revision}`, reportId);
    const removed = { locationId, reportId, tillId, revision };
    await writeEventToOutbox(tx, "report.removed", { id, subject: reportId, data: removed, traceparent });
  }
}
