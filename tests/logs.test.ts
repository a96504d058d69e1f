import { randomUUID } from "node:crypto";
import { createLogger } from "@pragma/runtime/observability/logger";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { generateTill } from "@pragma/simulator/generate-till";
import { createFixedStatusResponseHandler, startTestWebhookReceiver } from "@pragma/webhooks/testing/webhook-receiver";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestLiveOrderInput } from "./contract/order-and-till-inputs.ts";
import { startPragmaInTestProcess } from "./harness/pragma-in-process.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

/** A text that all secret and personal data of the test contains, so that the test can find such data in logs. */
const personalDataMark = `M4RK${randomUUID().slice(0, 8)}`;
const personal = {
  customerInfo: { firstName: personalDataMark, email: `${personalDataMark}@example.com` },
  deliveryCustomerInfo: { phone: personalDataMark },
  deliveryAddress: { street: personalDataMark },
  deliveryComment: personalDataMark,
  firebaseCustomerName: personalDataMark,
  firebaseCustomerRefKey: personalDataMark,
  extQoodosUserId: personalDataMark,
  extQoodosUserName: personalDataMark,
};

let environment: IsolatedTestEnvironment;
let product: Awaited<ReturnType<typeof startPragmaInTestProcess>>;
let testLocation: TestLocation;
const logLines: string[] = [];

beforeAll(async () => {
  environment = await createMigratedTestEnvironment();
  const log = createLogger({
    name: "test",
    level: "trace",
    destination: { write: (text: string) => logLines.push(...text.trimEnd().split("\n")) },
  });
  product = await startPragmaInTestProcess(environment.variables, { log });
  testLocation = await createTestLocation(product, {
    scopes: ["tills:write", "orders:write", "orders:read", "webhooks:write", "jobs:write"],
  });
}, 300_000);
afterAll(async () => {
  await product?.stop();
  await environment?.remove();
});

interface LogLine {
  msg: string;
  level: string;
}
const writtenLogLines = () => logLines.map((line) => JSON.parse(line) as LogLine & Record<string, unknown>);

describe("the log", () => {
  it("has lines for requests, events, jobs and attempts, and contains no secrets and no personal data", async () => {
    const receiver = await startTestWebhookReceiver();
    const endpoint = receiver.addEndpoint(createFixedStatusResponseHandler(500, { body: personalDataMark }));
    const { data: recipient } = await testLocation.api.POST("/v1/recipients", {
      body: { name: "Logged", apiKey: `Bearer ${personalDataMark}`, hmacSecret: personalDataMark.repeat(6) },
    });
    const endpointUrl = `${endpoint.url}?token=${personalDataMark}`;
    const webhook = { recipientId: recipient.id, endpointUrl, events: ["report.finalized", "order.paid"] };
    expect((await testLocation.request("POST", "/v1/webhooks/", { body: webhook })).status).toBe(201);

    const till = generateTill({ seed: 1, tillId: randomUUID(), orders: 3, day: "2026-04-01" });
    const orderList = till.orderList.map((order) => ({ ...order, ...personal }));
    expect((await testLocation.request("POST", "/v2/tills/", { body: { ...till, orderList } })).status).toBe(201);
    const invalidTill = {
      ...till,
      id: randomUUID(),
      orderList: [{ ...orderList[0], customerInfo: [personalDataMark], amount: personalDataMark }],
    };
    expect((await testLocation.request("POST", "/v2/tills/", { body: invalidTill })).status).toBe(400);
    expect(
      (await testLocation.request("POST", "/v2/tills/", { body: `{"customerInfo": "${personalDataMark}` })).status,
    ).toBe(400);

    const order = createTestLiveOrderInput();
    const paid = { ...order, data: { ...order.data, ...personal, isPaid: true } };
    expect((await testLocation.request("POST", "/v1/orders-live/", { body: [paid] })).status).toBe(200);
    expect(
      (await testLocation.request("POST", "/v1/jobs/", { body: { message: personalDataMark, duration: 1 } })).status,
    ).toBeLessThan(300);
    expect((await testLocation.request("GET", `/v1/orders-live/?customerName=${personalDataMark}`)).status).toBe(200);
    expect((await testLocation.request("GET", "/v2/reports/", { key: personalDataMark.repeat(3) })).status).toBe(401);

    await eventually("two attempts", () => writtenLogLines().filter(({ msg }) => msg === "attempt").length >= 2);
    await eventually("a line for the job", () => writtenLogLines().some(({ msg }) => msg === "job finished"));
    await eventually("a line for the last request", () =>
      writtenLogLines().some(({ msg, status }) => msg === "request" && status === 401),
    );
    expect(logLines.filter((line) => line.includes(personalDataMark))).toEqual([]);
    expect(logLines.filter((line) => line.includes(testLocation.key) || line.includes(product.adminKey))).toEqual([]);
    await receiver.close();
  }, 60_000);

  it("has one wide line for each request, event and job, with a shared trace id", async () => {
    const kinds = ["request", "event handled", "attempt", "job finished"];
    for (const kind of kinds) {
      const lines = writtenLogLines().filter(({ msg }) => msg === kind);
      expect(lines.length).toBeGreaterThan(0);
      for (const line of lines)
        expect(line).toMatchObject({ traceId: expect.any(String), milliseconds: expect.any(Number) });
    }
    const pushed = writtenLogLines().find(
      ({ msg, operation, status }) => msg === "request" && operation === "/v2/tills/" && status === 201,
    );
    const linesOfTrace = writtenLogLines().filter(({ traceId }) => traceId === pushed?.traceId);
    expect(new Set(linesOfTrace.map(({ msg }) => msg))).toEqual(new Set(["request", "event handled", "attempt"]));
  });
});
