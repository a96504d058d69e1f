import { createLogger } from "@pragma/runtime/observability/logger";
import { eventually } from "@pragma/runtime/testing/eventually";
import { readPublishedEvents } from "@pragma/runtime/testing/published-events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { reportingConfig } from "../context.ts";
import { eraseExpiredPersonalData, eraseTillsPushedBefore } from "../erase-personal-data.ts";
import { advanceTillRevision } from "../queries/tills.ts";
import { principalWithScopes, startTestReporting, type TestReporting } from "../testing/start-test-reporting.ts";
import { createTestOrder, createTestTill } from "../testing/till-fixtures.ts";

let service: TestReporting;
beforeAll(async () => {
  service = await startTestReporting();
});
afterAll(() => service?.remove());

const log = createLogger({ name: "test", level: "silent" });
const runErasure = (days: string | undefined) => {
  const config = reportingConfig.parse({ OBJECT_STORE: "file:/unused", PERSONAL_DATA_KEPT_DAYS: days });
  return eraseExpiredPersonalData.run({ db: service.db, log, config });
};

const dayMs = 24 * 3_600_000;
const replacement = { revision: 2, pushedAt: new Date().toISOString(), object: { hash: "of another body" } };

describe("personal data", () => {
  it("is to be erased once its till was pushed too long ago, once", async () => {
    const { location } = principalWithScopes("reports:read");
    const [old, recent] = [createTestTill([createTestOrder()]), createTestTill([createTestOrder()])];
    await service.pushTills([old, recent], location.id);
    await service.db.sql`update tills set pushed_at = now() - interval '100 days' where till_id = ${old.id}`;
    await runErasure(undefined);
    await runErasure("99");
    await runErasure("99");

    const erasures = await eventually("the event", async () => {
      const found = await readPublishedEvents(service.environment, "orders.erased", old.id);
      return found.length > 0 && found;
    });
    const orderIds = expect.arrayContaining(old.orderList.map(({ id }) => id));
    expect(erasures).toEqual([{ locationId: location.id, tillId: old.id, orderIds, isWholeTill: true }]);
    expect(await readPublishedEvents(service.environment, "orders.erased", recent.id)).toEqual([]);
  });

  it("is erased of a till that is just being written, too: once that is done", async () => {
    const { location } = principalWithScopes("reports:read");
    const till = createTestTill([createTestOrder()]);
    await service.pushTills([till], location.id);
    const before = new Date(Date.now() + dayMs).toISOString();
    let erasing: Promise<number> | undefined;
    await service.db.transaction(async (tx) => {
      await advanceTillRevision(tx, { ...replacement, tillId: till.id, locationId: location.id });
      erasing = eraseTillsPushedBefore(service.db, { locationId: location.id, before });
      await eventually("it to wait", async () => {
        const [waiting] = await tx`
          select 1 from pg_locks where not granted and transactionid = pg_current_xact_id()::xid`;
        return waiting !== undefined;
      });
    });
    expect(await erasing).toBe(1);
  });
});
