import { randomUUID } from "node:crypto";
import { createLogger } from "@pragma/runtime/logger";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { generateTill } from "@pragma/simulator/generate-till";
import { answers, startReceiver } from "@pragma/webhooks/testing/receiver";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newLiveOrder } from "./contract/live-order.ts";
import { startProductInProcess } from "./harness/product-in-process.ts";
import { openShop, type Shop } from "./harness/shop.ts";

/** In everything that is secret or personal. */
const mark = `M4RK${randomUUID().slice(0, 8)}`;
const personal = {
  customerInfo: { firstName: mark, email: `${mark}@example.com` },
  deliveryCustomerInfo: { phone: mark },
  deliveryAddress: { street: mark },
  deliveryComment: mark,
  firebaseCustomerName: mark,
  firebaseCustomerRefKey: mark,
  extQoodosUserId: mark,
  extQoodosUserName: mark,
};

let environment: TestEnvironment;
let product: Awaited<ReturnType<typeof startProductInProcess>>;
let shop: Shop;
const lines: string[] = [];

beforeAll(async () => {
  environment = await createTestEnvironment();
  const log = createLogger({
    name: "test",
    level: "trace",
    destination: { write: (text: string) => lines.push(...text.trimEnd().split("\n")) },
  });
  product = await startProductInProcess(environment.variables, { log });
  shop = await openShop(product, {
    scopes: ["tills:write", "orders:write", "orders:read", "webhooks:write", "jobs:write"],
  });
}, 60_000);
afterAll(async () => {
  await product?.stop();
  await environment?.remove();
});

interface Line {
  msg: string;
  level: string;
}
const written = () => lines.map((line) => JSON.parse(line) as Line & Record<string, unknown>);

describe("the log", () => {
  it("tells of requests, events, jobs and attempts, and holds no secret and nobody's data", async () => {
    const receiver = await startReceiver();
    const endpoint = receiver.endpoint(answers(500, { body: mark }));
    const { data: recipient } = await shop.api.POST("/v1/recipients", {
      body: { name: "Logged", apiKey: `Bearer ${mark}`, hmacSecret: mark.repeat(6) },
    });
    const endpointUrl = `${endpoint.url}?token=${mark}`;
    const webhook = { recipientId: recipient.id, endpointUrl, events: ["report.finalized", "order.paid"] };
    expect((await shop.ask("POST", "/v1/webhooks/", { body: webhook })).status).toBe(201);

    const till = generateTill({ seed: 1, tillId: randomUUID(), orders: 3, day: "2026-04-01" });
    const orderList = till.orderList.map((order) => ({ ...order, ...personal }));
    expect((await shop.ask("POST", "/v2/tills/", { body: { ...till, orderList } })).status).toBe(201);
    const faulty = { ...till, id: randomUUID(), orderList: [{ ...orderList[0], customerInfo: [mark], amount: mark }] };
    expect((await shop.ask("POST", "/v2/tills/", { body: faulty })).status).toBe(400);
    expect((await shop.ask("POST", "/v2/tills/", { body: `{"customerInfo": "${mark}` })).status).toBe(400);

    const order = newLiveOrder();
    const paid = { ...order, data: { ...order.data, ...personal, isPaid: true } };
    expect((await shop.ask("POST", "/v1/orders-live/", { body: [paid] })).status).toBe(200);
    expect((await shop.ask("POST", "/v1/jobs/", { body: { message: mark, duration: 1 } })).status).toBeLessThan(300);
    expect((await shop.ask("GET", `/v1/orders-live/?customerName=${mark}`)).status).toBe(200);
    expect((await shop.ask("GET", "/v2/reports/", { key: mark.repeat(3) })).status).toBe(401);

    await eventually("two attempts", () => written().filter(({ msg }) => msg === "attempt").length >= 2);
    await eventually("a line for the job", () => written().some(({ msg }) => msg === "job"));
    await eventually("a line for the last request", () =>
      written().some(({ msg, status }) => msg === "request" && status === 401),
    );
    expect(lines.filter((line) => line.includes(mark))).toEqual([]);
    expect(lines.filter((line) => line.includes(shop.key) || line.includes(product.adminKey))).toEqual([]);
    await receiver.close();
  }, 60_000);

  it("has one wide line for each request, event and job, by which they are found together", async () => {
    const kinds = ["request", "event", "attempt", "job"];
    for (const kind of kinds) {
      const found = written().filter(({ msg }) => msg === kind);
      expect(found.length).toBeGreaterThan(0);
      for (const line of found)
        expect(line).toMatchObject({ traceId: expect.any(String), milliseconds: expect.any(Number) });
    }
    const pushed = written().find(
      ({ msg, operation, status }) => msg === "request" && operation === "/v2/tills/" && status === 201,
    );
    const together = written().filter(({ traceId }) => traceId === pushed?.traceId);
    expect(new Set(together.map(({ msg }) => msg))).toEqual(new Set(["request", "event", "attempt"]));
  });
});
