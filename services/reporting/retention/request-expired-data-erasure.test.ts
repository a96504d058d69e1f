import { operatorCommandAuditSource } from "@pragma/runtime/messaging/audit-events";
import { createLogger } from "@pragma/runtime/observability/logger";
import { eventually } from "@pragma/runtime/testing/eventually";
import { listPublishedTestEvents } from "@pragma/runtime/testing/published-events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { reportingServiceConfigSchema } from "../config.ts";
import { recordTillRevision } from "../documents/queries/tills.ts";
import {
  buildTestPrincipalWithScopes,
  startTestReportingService,
  type TestReportingService,
} from "../testing/start-test-reporting.ts";
import { buildTestOrder, buildTestTill } from "../testing/till-fixtures.ts";
import { publishErasureEvents } from "./request-erasure.ts";
import { eraseExpiredDataTask } from "./request-expired-data-erasure.ts";

let service: TestReportingService;
beforeAll(async () => {
  service = await startTestReportingService();
});
afterAll(() => service?.remove());

const log = createLogger({ name: "test", level: "silent" });
const runTask = (days: string | undefined) => {
  const config = reportingServiceConfigSchema.parse({
    OBJECT_STORE: "file:/unused",
    PERSONAL_DATA_RETENTION_DAYS: days,
  });
  return eraseExpiredDataTask.run({ db: service.db, log, config });
};

const dayMs = 24 * 3_600_000;
const replacement = { revision: 2, pushedAt: new Date().toISOString(), object: { hash: "other-body" } };

describe("the task that erases expired personal data", () => {
  it("publishes orders.erased once for a till past its retention", async () => {
    const { location } = buildTestPrincipalWithScopes("reports:read");
    const [old, recent] = [buildTestTill([buildTestOrder()]), buildTestTill([buildTestOrder()])];
    await service.pushTills([old, recent], location.id);
    await service.db.sql`update tills set pushed_at = now() - interval '100 days' where till_id = ${old.id}`;
    await runTask(undefined);
    await runTask("99");
    await runTask("99");

    const erasures = await eventually("the orders.erased event", async () => {
      const events = await listPublishedTestEvents(service.environment, "orders.erased", old.id);
      return events.length > 0 && events;
    });
    const orderIds = expect.arrayContaining(old.orderList.map(({ id }) => id));
    expect(erasures).toEqual([{ locationId: location.id, tillId: old.id, orderIds, isWholeTill: true }]);
    expect(await listPublishedTestEvents(service.environment, "orders.erased", recent.id)).toEqual([]);
  });

  it("waits for a till that is being written, and then erases its data", async () => {
    const { location } = buildTestPrincipalWithScopes("reports:read");
    const till = buildTestTill([buildTestOrder()]);
    await service.pushTills([till], location.id);
    const before = new Date(Date.now() + dayMs).toISOString();
    let erasure: Promise<{ tills: number }> | undefined;
    await service.db.transaction(async (tx) => {
      await recordTillRevision(tx, { ...replacement, tillId: till.id, locationId: location.id });
      erasure = publishErasureEvents(service.db, { locationId: location.id, before }, operatorCommandAuditSource);
      await eventually("the erasure to wait for the lock", async () => {
        const [waiting] = await tx`
          select 1 from pg_locks where not granted and transactionid = pg_current_xact_id()::xid`;
        return waiting !== undefined;
      });
    });
    expect(await erasure).toEqual({ tills: 1 });
  });
});
