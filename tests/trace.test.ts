import { randomBytes, randomUUID } from "node:crypto";
import { eventually } from "@pragma/runtime/testing/eventually";
import { recordTraces, type TraceRecord } from "@pragma/runtime/testing/record-traces";
import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { generateTill } from "@pragma/simulator/generate-till";
import { startReceiver } from "@pragma/webhooks/testing/receiver";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startProductInProcess } from "./harness/product-in-process.ts";
import { openShop, type Shop } from "./harness/shop.ts";

let environment: TestEnvironment;
let product: Awaited<ReturnType<typeof startProductInProcess>>;
let traces: TraceRecord;
let shop: Shop;

beforeAll(async () => {
  environment = await createTestEnvironment();
  product = await startProductInProcess(environment.variables);
  traces = recordTraces();
  shop = await openShop(product, { scopes: ["tills:write", "webhooks:write", "jobs:write"] });
}, 60_000);
afterAll(async () => {
  await traces?.stop();
  await product?.stop();
  await environment?.remove();
});

/** What a client sends to have what it causes be part of its trace. */
function newTrace() {
  const traceId = randomBytes(16).toString("hex");
  return { traceId, headers: { traceparent: `00-${traceId}-${randomBytes(8).toString("hex")}-01` } };
}

/** The spans of a trace as lines, `parent > name`, once these names are among them. */
async function linesOf(traceId: string, names: string[]): Promise<string[]> {
  const spans = await eventually(`a trace with ${names.join(", ")}`, () => {
    const found = traces.spansOf(traceId);
    return names.every((name) => found.some((span) => span.name === name)) && found;
  });
  const nameOf = new Map(spans.map((span) => [span.spanContext().spanId, span.name]));
  return spans.map((span) => `${nameOf.get(span.parentSpanContext?.spanId ?? "") ?? "client"} > ${span.name}`);
}

describe("a trace", () => {
  it("is one from the push of a till to the webhook that tells of its report", async () => {
    const receiver = await startReceiver();
    const endpoint = receiver.endpoint();
    const { data: recipient } = await shop.api.POST("/v1/recipients", { body: { name: "Traced" } });
    await shop.api.POST("/v1/webhooks", {
      body: { recipientId: recipient.id, endpointUrl: endpoint.url, events: ["report.finalized"] },
    });
    const { traceId, headers } = newTrace();
    const till = generateTill({ seed: 1, tillId: randomUUID(), orders: 3, day: "2026-04-01" });
    expect((await shop.ask("POST", "/v2/tills/", { body: till, headers })).status).toBe(201);

    const lines = await linesOf(traceId, ["webhook report.finalized", "report.finalized send", "POST /v2/tills"]);
    expect(lines).toEqual(
      expect.arrayContaining([
        "client > POST /v2/tills",
        "POST /v2/tills > POST /v2/tills/",
        "POST /v2/tills/ > keep the till's body",
        "POST /v2/tills/ > till.pushed send",
        "POST /v2/tills/ > till.pushed process",
        "till.pushed process > calculate the report",
        "store the report > report.finalized send",
        "store the report > report.finalized process",
        "report.finalized process > webhook report.finalized",
      ]),
    );
    expect(endpoint.received).toHaveLength(1);
    await receiver.close();
  });

  it("goes on from the request for a job to its being done", async () => {
    const { traceId, headers } = newTrace();
    const body = { message: "traced", duration: 1 };
    expect((await shop.ask("POST", "/v1/jobs/", { body, headers })).status).toBeLessThan(300);
    expect(await linesOf(traceId, ["job process", "POST /v1/jobs"])).toContain("POST /v1/jobs/ > job process");
  });

  it("says what was answered, and holds neither keys nor bodies", async () => {
    const { traceId, headers } = newTrace();
    expect((await shop.ask("GET", "/v1/webhooks/no-id", { headers })).status).toBe(400);
    await linesOf(traceId, ["GET /v1/webhooks"]);
    const spans = traces.spansOf(traceId);
    expect(spans.map((span) => span.attributes["http.response.status_code"])).toEqual([400, 400]);
    expect(JSON.stringify(spans.map(({ attributes }) => attributes))).not.toContain(shop.key);
  });
});
