import { randomBytes, randomUUID } from "node:crypto";
import { eventually } from "@pragma/runtime/testing/eventually";
import { type RecordedSpans, recordSpans } from "@pragma/runtime/testing/record-spans";
import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { generateTill } from "@pragma/simulator/generate-till";
import { startWebhookReceiver } from "@pragma/webhooks/testing/webhook-receiver";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startProductInProcess } from "./harness/product-in-process.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

let environment: TestEnvironment;
let product: Awaited<ReturnType<typeof startProductInProcess>>;
let recordedTraces: RecordedSpans;
let shop: TestLocation;

beforeAll(async () => {
  environment = await createTestEnvironment();
  product = await startProductInProcess(environment.variables);
  recordedTraces = recordSpans();
  shop = await createTestLocation(product, { scopes: ["tills:write", "webhooks:write", "jobs:write"] });
}, 60_000);
afterAll(async () => {
  await recordedTraces?.stop();
  await product?.stop();
  await environment?.remove();
});

/** What a client sends to have what it causes be part of its trace. */
function createTraceparent() {
  const traceId = randomBytes(16).toString("hex");
  return { traceId, headers: { traceparent: `00-${traceId}-${randomBytes(8).toString("hex")}-01` } };
}

/** The spans of a trace as lines, `parent > name`, once these names are among them. */
async function logLinesOf(traceId: string, names: string[]): Promise<string[]> {
  const spans = await eventually(`a trace with ${names.join(", ")}`, () => {
    const found = recordedTraces.listSpans(traceId);
    return names.every((name) => found.some((span) => span.name === name)) && found;
  });
  const nameOf = new Map(spans.map((span) => [span.spanContext().spanId, span.name]));
  return spans.map((span) => `${nameOf.get(span.parentSpanContext?.spanId ?? "") ?? "client"} > ${span.name}`);
}

describe("a trace", () => {
  it("is one from the push of a till to the webhook that tells of its report", async () => {
    const receiver = await startWebhookReceiver();
    const endpoint = receiver.addEndpoint();
    const { data: recipient } = await shop.api.POST("/v1/recipients", { body: { name: "Traced" } });
    await shop.api.POST("/v1/webhooks", {
      body: { recipientId: recipient.id, endpointUrl: endpoint.url, events: ["report.finalized"] },
    });
    const { traceId, headers } = createTraceparent();
    const till = generateTill({ seed: 1, tillId: randomUUID(), orders: 3, day: "2026-04-01" });
    expect((await shop.request("POST", "/v2/tills/", { body: till, headers })).status).toBe(201);

    const lines = await logLinesOf(traceId, ["webhook report.finalized", "report.finalized send", "POST /v2/tills"]);
    expect(lines).toEqual(
      expect.arrayContaining([
        "client > POST /v2/tills",
        "POST /v2/tills > POST /v2/tills/",
        "POST /v2/tills/ > store till body",
        "POST /v2/tills/ > till.pushed send",
        "POST /v2/tills/ > till.pushed process",
        "till.pushed process > calculate report",
        "store report > report.finalized send",
        "store report > report.finalized process",
        "report.finalized process > webhook report.finalized",
      ]),
    );
    expect(endpoint.receivedWebhooks).toHaveLength(1);
    await receiver.close();
  });

  it("goes on from the request for a job to its being done", async () => {
    const { traceId, headers } = createTraceparent();
    const body = { message: "traced", duration: 1 };
    expect((await shop.request("POST", "/v1/jobs/", { body, headers })).status).toBeLessThan(300);
    expect(await logLinesOf(traceId, ["job process", "POST /v1/jobs"])).toContain("POST /v1/jobs/ > job process");
  });

  it("says what was answered, and holds neither keys nor bodies", async () => {
    const { traceId, headers } = createTraceparent();
    expect((await shop.request("GET", "/v1/webhooks/no-id", { headers })).status).toBe(400);
    await logLinesOf(traceId, ["GET /v1/webhooks"]);
    const spans = recordedTraces.listSpans(traceId);
    expect(spans.map((span) => span.attributes["http.response.status_code"])).toEqual([400, 400]);
    expect(JSON.stringify(spans.map(({ attributes }) => attributes))).not.toContain(shop.key);
  });
});
