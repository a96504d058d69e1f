import { randomUUID } from "node:crypto";
import { Agent } from "node:http";
import type { Scope } from "@pragma/contracts/scopes";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import { eventually } from "@pragma/runtime/testing/eventually";
import { generateTill } from "@pragma/simulator/generate-till";
import { startWebhookReceiver } from "@pragma/webhooks/testing/webhook-receiver";
import { expect } from "vitest";
import { createLiveOrderInput } from "../contract/live-order-input.ts";
import { computeExpectedReport, toJsonValue } from "../harness/expected-report.ts";
import type { TestLocation } from "../harness/test-location.ts";

/** What clients did and were told. */
export interface TrafficCounts {
  responseCount: number;
  /** Milliseconds that each answer took. */
  responseTimesMs: number[];
  /** Requests that were not answered as they should have been, tried again or not. */
  failures: string[];
}

/** Clients of a shop that push tills, pay orders and read lists, and a receiver that hears of the orders. */
export interface ClientTraffic {
  counts: TrafficCounts;
  tills: object[];
  /** Sends until then, each request again until it is answered when that is asked for. */
  stop(): Promise<void>;
  /** Every till has its one report with exact figures, and every paid order was told of; tells how many were told twice. */
  expectNothingLost(): Promise<{ toldTwice: number }>;
  close(): Promise<void>;
}

/** What the key of a shop has to be good for, that there may be traffic of it. */
export const clientTrafficScopes: Scope[] = [
  "tills:write",
  "reports:read",
  "orders:read",
  "orders:write",
  "catalog:read",
  "locations:read",
  "webhooks:write",
];

interface ClientTrafficOptions {
  clients: number;
  /** The longest pause of a client after each request, in milliseconds. */
  maxPauseMs: number;
  /** Whether clients try again what fails, as those in the field do. */
  shouldRetry: boolean;
}

export async function startClientTraffic(
  shop: TestLocation,
  { clients, maxPauseMs, shouldRetry }: ClientTrafficOptions,
): Promise<ClientTraffic> {
  const receiver = await startWebhookReceiver();
  const endpoint = receiver.addEndpoint();
  const { data: recipient } = await shop.api.POST("/v1/recipients", { body: { name: "Traffic" } });
  await shop.api.POST("/v1/webhooks", {
    body: { recipientId: recipient.id, endpointUrl: endpoint.url, events: ["order.paid"] },
  });
  const over = new AbortController();
  const tally: TrafficCounts = { responseCount: 0, responseTimesMs: [], failures: [] };
  const tills: { id: string }[] = [];
  const paid: string[] = [];

  /** Whether it was answered in the end. */
  async function requestUntilExpected(
    agent: Agent,
    method: string,
    path: string,
    expected: number[],
    body?: unknown,
  ): Promise<boolean> {
    const started = performance.now();
    for (let attempt = 1; attempt <= (shouldRetry ? 200 : 1); attempt += 1) {
      const answer = await shop
        .request(method, path, { body, agent })
        .then(async (reply) => ({ status: reply.status, text: await reply.text() }))
        .catch((error: Error) => ({ status: 0, text: `${error.message} ${error.cause}` }));
      if (expected.includes(answer.status)) {
        tally.responseCount += 1;
        tally.responseTimesMs.push(performance.now() - started);
        return true;
      }
      tally.failures.push(`${method} ${path}: ${answer.status} ${answer.text.slice(0, 300)}`);
      await sleep(200);
    }
    return false;
  }

  async function pushTill(agent: Agent): Promise<void> {
    const till = generateTill({ seed: 9, tillId: randomUUID(), orders: 3, day: "2026-04-01" });
    if (await requestUntilExpected(agent, "POST", "/v2/tills/", [201, 200], till)) tills.push(till);
  }
  async function payOrder(agent: Agent): Promise<void> {
    const order = createLiveOrderInput();
    const body = [{ ...order, data: { ...order.data, isPaid: true, leftToPay: 0 } }];
    if (await requestUntilExpected(agent, "POST", "/v1/orders-live/", [200], body)) paid.push(order.id);
  }
  const clientActions = [
    pushTill,
    payOrder,
    (agent: Agent) => requestUntilExpected(agent, "GET", "/v2/reports/?size=5", [200]),
    payOrder,
    (agent: Agent) => requestUntilExpected(agent, "GET", "/v1/orders-live/?size=5", [200]),
    (agent: Agent) => requestUntilExpected(agent, "GET", "/v1/catalog/", [200]),
    (agent: Agent) => requestUntilExpected(agent, "GET", "/v1/locations/own", [200]),
    (agent: Agent) => requestUntilExpected(agent, "GET", "/v1/webhooks/", [200]),
  ];
  const running = Array.from({ length: clients }, async (_, client) => {
    // A connection that is hardly ever used may be closed just when it is: each client has one, and uses that.
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let turn = client; !over.signal.aborted; turn += 1) {
      await clientActions[turn % clientActions.length]?.(agent);
      await sleep(Math.random() * maxPauseMs, over.signal);
    }
    agent.destroy();
  });

  return {
    counts: tally,
    tills,
    async stop() {
      over.abort();
      await Promise.all(running);
    },
    async expectNothingLost() {
      const expected = tills.map((till) => computeExpectedReport("V2", till, shop.locationId));
      await shop.waitForReports(tills.length);
      for (const report of expected) {
        expect(await shop.getJson(`/v2/reports/${report?.id}`)).toEqual(toJsonValue(report?.reportV2));
      }
      const { meta } = await shop.getJson<{ meta: { totalCount: number } }>("/v2/reports/?size=1");
      expect(meta.totalCount).toBe(tills.length);
      const told = () => endpoint.receivedWebhooks.map(({ body }) => JSON.parse(body).data.id as string);
      await eventually("every paid order to be told of", () => new Set(told()).size >= paid.length, {
        timeoutSeconds: 90,
      });
      expect(told().filter((id) => !paid.includes(id))).toEqual([]);
      expect(paid.filter((id) => !told().includes(id))).toEqual([]);
      return { toldTwice: told().length - new Set(told()).size };
    },
    close: () => receiver.close(),
  };
}
