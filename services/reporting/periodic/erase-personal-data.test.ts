import { createLogger } from "@pragma/runtime/logger";
import { eventually } from "@pragma/runtime/testing/eventually";
import { sentEvents } from "@pragma/runtime/testing/sent-events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { erasePersonalData, eraseTillsBefore } from "../erase-orders.ts";
import { takeTill } from "../queries/tills.ts";
import { reportingConfig } from "../reporting.ts";
import { makeOrder, makeTill } from "../testing/make-till.ts";
import { keyOf, startReporting, type TestReporting } from "../testing/start-reporting.ts";

let service: TestReporting;
beforeAll(async () => {
  service = await startReporting();
});
afterAll(() => service?.remove());

const log = createLogger({ name: "test", level: "silent" });
const eraseAfter = (days: string | undefined) => {
  const config = reportingConfig.parse({ OBJECT_STORE: "file:/unused", PERSONAL_DATA_KEPT_DAYS: days });
  return erasePersonalData.run({ db: service.db, log, config });
};

const day = 24 * 3_600_000;
const written = { revision: 2, pushedAt: new Date().toISOString(), object: { hash: "of another body" } };

describe("personal data", () => {
  it("is to be erased once its till was pushed too long ago, once", async () => {
    const { location } = keyOf("reports:read");
    const [old, recent] = [makeTill([makeOrder()]), makeTill([makeOrder()])];
    await service.push([old, recent], location.id);
    await service.db.sql`update tills set pushed_at = now() - interval '100 days' where till_id = ${old.id}`;
    await eraseAfter(undefined);
    await eraseAfter("99");
    await eraseAfter("99");

    const erasures = await eventually("the event", async () => {
      const found = await sentEvents(service.environment, "orders.erased", old.id);
      return found.length > 0 && found;
    });
    const orderIds = expect.arrayContaining(old.orderList.map(({ id }) => id));
    expect(erasures).toEqual([{ locationId: location.id, tillId: old.id, orderIds, isWholeTill: true }]);
    expect(await sentEvents(service.environment, "orders.erased", recent.id)).toEqual([]);
  });

  it("is erased of a till that is just being written, too: once that is done", async () => {
    const { location } = keyOf("reports:read");
    const till = makeTill([makeOrder()]);
    await service.push([till], location.id);
    const before = new Date(Date.now() + day).toISOString();
    let erasing: Promise<number> | undefined;
    await service.db.transaction(async (tx) => {
      await takeTill(tx, { ...written, tillId: till.id, locationId: location.id });
      erasing = eraseTillsBefore(service.db, { locationId: location.id, before });
      await eventually("it to wait", async () => {
        const [waiting] = await tx`
          select 1 from pg_locks where not granted and transactionid = pg_current_xact_id()::xid`;
        return waiting !== undefined;
      });
    });
    expect(await erasing).toBe(1);
  });
});
