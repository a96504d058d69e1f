import { randomUUID } from "node:crypto";
import type { BusEventData } from "@pragma/contracts/events";
import { paginatedSchema } from "@pragma/contracts/pagination";
import { ReplaceTillResponse, TillWithBodyUrl } from "@pragma/contracts/till";
import { computeTillReportId } from "@pragma/contracts/till-report-id";
import { writeEventToOutbox } from "@pragma/runtime/messaging/outbox";
import { eventually } from "@pragma/runtime/testing/eventually";
import { buildTestPrincipal } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestTillIngestService, type TestTillIngestService } from "../testing/start-test-till-ingest.ts";
import { buildTestTill } from "../testing/till-fixtures.ts";

const principal = buildTestPrincipal();
const locationId = principal.location?.id ?? "";
let service: TestTillIngestService;
beforeAll(async () => {
  service = await startTestTillIngestService();
});
afterAll(() => service?.remove());

/** Publishes an event of reporting about a revision of a till, and waits until it has been handled. */
async function publish(event: "report.parked" | "report.finalized" | "report.removed", tillId: string, revision = 1) {
  const id = randomUUID();
  const head = { locationId, reportId: computeTillReportId(tillId), tillId, revision };
  const finalized: BusEventData<"report.finalized"> = {
    ...{ ...head, reportVersion: 1, reportNumber: 1, totalSales: 0, orderIds: [] },
    ...{ startedAt: "2026-05-29T08:00:00.000Z", finalizedAt: "2026-05-29T16:00:00.000Z" },
  };
  const options = { id, subject: head.reportId, traceparent: undefined };
  await service.db.transaction(async (tx) => {
    if (event === "report.finalized") await writeEventToOutbox(tx, event, { ...options, data: finalized });
    else if (event === "report.removed") await writeEventToOutbox(tx, event, { ...options, data: head });
    else await writeEventToOutbox(tx, event, { ...options, data: { ...head, reason: "too_large" } });
  });
  await eventually("the event to be handled", async () => {
    const [row] = await service.db.sql`select from inbox where event_id = ${id}`;
    return row;
  });
}

async function getState(tillId: string) {
  const response = await service.request("GET", `/v1/tills/${tillId}`, { principal });
  const { reportState, reportParkedReason } = TillWithBodyUrl.parse(await response.json());
  return [reportState, reportParkedReason, response.headers.get("retry-after")];
}

describe("the state of a till's report", () => {
  it("is parked with the reason until there is a report, also in lists", async () => {
    const till = buildTestTill();
    await service.request("POST", "/v2/tills/", { principal, body: till });
    expect(await getState(till.id)).toEqual(["pending", null, "2"]);
    await publish("report.parked", till.id);
    expect(await getState(till.id)).toEqual(["parked", "too_large", null]);
    const list = await service.request("GET", "/v1/tills/?sinceDate=2026-01-01T00:00:00Z", { principal });
    expect(paginatedSchema(TillWithBodyUrl).parse(await list.json()).data).toMatchObject([
      { id: till.id, reportState: "parked", reportParkedReason: "too_large" },
    ]);
    await publish("report.finalized", till.id);
    expect(await getState(till.id)).toEqual(["done", null, null]);
    // Events can arrive in another sequence.
    await publish("report.parked", till.id);
    expect(await getState(till.id)).toEqual(["done", null, null]);
  });

  it("is that of the current revision", async () => {
    const till = buildTestTill();
    await service.request("POST", "/v2/tills/", { principal, body: till });
    await publish("report.parked", till.id);
    const replaced = await service.request("PUT", `/v1/tills/${till.id}`, { principal, body: { ...till, note: "x" } });
    expect(ReplaceTillResponse.parse(await replaced.json())).toMatchObject({ reportState: "pending" });
    expect(replaced.headers.get("retry-after")).toBe("2");
    await publish("report.parked", till.id, 2);
    await publish("report.finalized", till.id, 1);
    expect(await getState(till.id)).toEqual(["parked", "too_large", null]);
    await publish("report.parked", till.id, 1);
    await service.request("PUT", `/v1/tills/${till.id}`, { principal, body: { ...till, isTraining: true } });
    expect(await getState(till.id)).toEqual(["pending", null, "2"]);
    await publish("report.removed", till.id, 3);
    expect(await getState(till.id)).toEqual(["training", null, null]);
  });
});
