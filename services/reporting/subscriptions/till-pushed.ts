import type { EventData } from "@pragma/contracts/events";
import { publish } from "@pragma/runtime/outbox";
import { lockUntilEnd, type Transaction } from "@pragma/runtime/postgres";
import type { RequestContext } from "@pragma/runtime/request-context";
import { on } from "@pragma/runtime/subscription";
import { v5 as uuidV5 } from "uuid";
import { reportIdOf } from "../calculate/report-id.ts";
import type { CalculatedTill } from "../calculate-till.ts";
import { finalizedAgain } from "../queries/reports.ts";
import { findRevision, takeTill } from "../queries/tills.ts";
import type { Reporting } from "../reporting.ts";
import { removeReport, storeReport } from "../store-report.ts";

/** A till was pushed, replaced or is to be processed again: calculates its report and orders and makes them readable. */
export const tillPushed = on<Reporting, "till.pushed">(
  "till.pushed",
  async ({ data, services, context, once }) => {
    // Moot, and not worth loading: it may be large, and there may be many.
    if ((await findRevision(services.db.sql, data.tillId)) > data.revision) return once(async () => {});
    const till = await calculate(data, services, context);
    context.addToLog({ tillId: data.tillId, revision: data.revision, orders: till?.orders.length });
    await context.step({ name: "store the report" }, ({ traceparent }) =>
      once((tx) => apply(tx, { data, till, traceparent })),
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

/** A till as it was announced. */
interface Announced {
  data: EventData<"till.pushed">;
  traceparent: string;
}

async function apply(
  tx: Transaction,
  { data, till, traceparent }: Announced & { till: CalculatedTill },
): Promise<void> {
  // One till of a location at a time: orders move between tills, and counters must agree with what is counted.
  await lockUntilEnd(tx, `location ${data.locationId}`);
  const applied = await takeTill(tx, data);
  if (applied > data.revision) return;
  const isRepeated = applied === data.revision;
  if (!till) return remove(tx, { data, traceparent });
  const finalized = isRepeated ? await finalizedAgain(tx, till.id) : await storeReport(tx, data, till);
  if (!finalized) return;
  await publish(tx, "report.finalized", {
    // The same revision is the same event: whoever has handled it does not again.
    id: uuidV5(`${data.revision}`, till.id),
    subject: till.id,
    data: finalized,
    traceparent,
  });
}

/** A training till has no report; one that has become a training till loses the one that it had. */
async function remove(tx: Transaction, { data, traceparent }: Announced): Promise<void> {
  const { tillId, locationId, revision } = data;
  await removeReport(tx, data);
  if (revision === 1) return;
  const reportId = reportIdOf(tillId);
  await publish(tx, "report.removed", {
    id: uuidV5(`removed ${revision}`, reportId),
    subject: reportId,
    data: { locationId, reportId, tillId, revision },
    traceparent,
  });
}
