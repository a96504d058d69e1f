import { randomBytes, randomUUID } from "node:crypto";
import { eventually } from "@pragma/runtime/testing/eventually";
import { startTestSpanRecorder, type TestSpanRecorder } from "@pragma/runtime/testing/record-spans";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { generateTill } from "@pragma/simulator/generate-till";
import { startTestWebhookReceiver } from "@pragma/webhooks/testing/webhook-receiver";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startPragmaInTestProcess } from "./harness/pragma-in-process.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

let environment: IsolatedTestEnvironment;
let product: Awaited<ReturnType<typeof startPragmaInTestProcess>>;
let recordedTraces: TestSpanRecorder;
let testLocation: TestLocation;

beforeAll(async () => {
  environment = await createMigratedTestEnvironment();
  product = await startPragmaInTestProcess(environment.variables);
  recordedTraces = startTestSpanRecorder();
  testLocation = await createTestLocation(product, { scopes: ["tills:write", "webhooks:write", "jobs:write"] });
}, 300_000);
afterAll(async () => {
  await recordedTraces?.stop();
  await product?.stop();
  await environment?.remove();
});

/** Returns a new trace id, and the `traceparent` header that adds a request to this trace. */
function createTraceparent() {
  const traceId = randomBytes(16).toString("hex");
  return { traceId, headers: { traceparent: `00-${traceId}-${randomBytes(8).toString("hex")}-01` } };
}

/** Waits until a trace has spans with these names, and returns all spans of the trace as `parent > name`. */
async function readSpanLines(traceId: string, names: string[]): Promise<string[]> {
  const spans = await eventually(`a trace with ${names.join(", ")}`, () => {
    const currentSpans = recordedTraces.listSpans(traceId);
    return names.every((name) => currentSpans.some((span) => span.name === name)) && currentSpans;
  });
  const nameOf = new Map(spans.map((span) => [span.spanContext().spanId, span.name]));
  return spans.map((span) => `${nameOf.get(span.parentSpanContext?.spanId ?? "") ?? "client"} > ${span.name}`);
}

describe("a trace", () => {
  it("includes a pushed till, its report and its webhook", async () => {
    const receiver = await startTestWebhookReceiver();
    const endpoint = receiver.addEndpoint();
    const { data: recipient } = await testLocation.api.POST("/v1/recipients", { body: { name: "Traced" } });
    await testLocation.api.POST("/v1/webhooks", {
      body: { recipientId: recipient.id, endpointUrl: endpoint.url, events: ["report.finalized"] },
    });
    const { traceId, headers } = createTraceparent();
    const till = generateTill({ seed: 1, tillId: randomUUID(), orders: 3, day: "2026-04-01" });
    expect((await testLocation.request("POST", "/v2/tills/", { body: till, headers })).status).toBe(201);

    const lines = await readSpanLines(traceId, ["webhook report.finalized", "report.finalized send", "POST /v2/tills"]);
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

  it("includes a request and the job that it created", async () => {
    const { traceId, headers } = createTraceparent();
    const body = { message: "traced", duration: 1 };
    expect((await testLocation.request("POST", "/v1/jobs/", { body, headers })).status).toBeLessThan(300);
    expect(await readSpanLines(traceId, ["job process", "POST /v1/jobs"])).toContain("POST /v1/jobs/ > job process");
  });

  it("has the response status, and contains neither keys nor bodies", async () => {
    const { traceId, headers } = createTraceparent();
    expect((await testLocation.request("GET", "/v1/webhooks/no-id", { headers })).status).toBe(400);
    await readSpanLines(traceId, ["GET /v1/webhooks"]);
    const spans = recordedTraces.listSpans(traceId);
    expect(spans.map((span) => span.attributes["http.response.status_code"])).toEqual([400, 400]);
    expect(JSON.stringify(spans.map(({ attributes }) => attributes))).not.toContain(testLocation.key);
  });
});
