import { randomUUID } from "node:crypto";
import { operatorCommandAuditSource } from "@pragma/runtime/messaging/audit-events";
import { eventually } from "@pragma/runtime/testing/eventually";
import { listPublishedTestEvents } from "@pragma/runtime/testing/published-events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  buildTestPrincipalWithScopes,
  startTestReportingService,
  type TestReportingService,
} from "../testing/start-test-reporting.ts";
import { buildTestOrder, buildTestTill } from "../testing/till-fixtures.ts";
import { publishErasureEvents } from "./request-erasure.ts";

let service: TestReportingService;
beforeAll(async () => {
  service = await startTestReportingService();
});
afterAll(() => service?.remove());

describe("the erasure of an order", () => {
  it("includes a till that was not stored when the erasure was requested", async () => {
    const { location } = buildTestPrincipalWithScopes("reports:read");
    const [erased, kept] = [buildTestOrder(), buildTestOrder()];
    const till = buildTestTill([erased, kept]);
    const erasure = { locationId: location.id, orderIds: [erased.id.toUpperCase()] };
    expect(await publishErasureEvents(service.db, erasure, operatorCommandAuditSource)).toEqual({
      ...{ tills: 0, orderIdsWithoutTill: [erased.id] },
    });
    await service.pushTills([till], location.id);
    const erasures = await eventually("the orders.erased event", async () => {
      const events = await listPublishedTestEvents(service.environment, "orders.erased", till.id);
      return events.length > 0 && events;
    });
    expect(erasures).toEqual([{ locationId: location.id, tillId: till.id, orderIds: [erased.id], isWholeTill: false }]);
  });

  it("returns and records which orders no till contains, and not those that were erased earlier", async () => {
    const { location } = buildTestPrincipalWithScopes("reports:read");
    const order = buildTestOrder();
    await service.pushTills([buildTestTill([order])], location.id);
    const mistyped = randomUUID();
    const erasure = { locationId: location.id, orderIds: [order.id, mistyped, order.id] };
    for (const _ of ["first", "repeated"])
      expect(await publishErasureEvents(service.db, erasure, operatorCommandAuditSource)).toEqual({
        ...{ tills: 1, orderIdsWithoutTill: [mistyped] },
      });
    const recorded = await eventually("the entries of the audit log", async () => {
      const events = await listPublishedTestEvents(service.environment, "audit.recorded", location.id);
      return events.length > 1 && events;
    });
    expect(recorded.map(({ details }) => details)).toEqual(
      Array(2).fill({ tills: 1, orders: 1, orderIds: [order.id], orderIdsWithoutTill: [mistyped] }),
    );
  });
});
