import { randomUUID } from "node:crypto";
import { Agent } from "node:http";
import type { ApiScope } from "@pragma/contracts/scopes";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import { eventually } from "@pragma/runtime/testing/eventually";
import { generateTill } from "@pragma/simulator/generate-till";
import { startTestWebhookReceiver } from "@pragma/webhooks/testing/webhook-receiver";
import { expect } from "vitest";
import { createTestLiveOrderInput } from "../contract/order-and-till-inputs.ts";
import { computeExpectedDocuments, roundTripThroughJson } from "../harness/expected-report.ts";
import type { TestLocation } from "../harness/test-location.ts";

/** The results of all requests that the clients have sent. */
export interface TestTrafficResults {
  responseCount: number;
  /** The duration of each request that succeeded, including its retries, in milliseconds. */
  responseTimesMs: number[];
  /** Descriptions of all unexpected responses and errors, including the ones that were followed by a retry. */
  failures: string[];
}

/** Running clients of a location that push tills, pay orders, read lists and receive webhooks. */
export interface TestTrafficClients {
  results: TestTrafficResults;
  tills: object[];
  /** Waits for the current requests of the clients, and stops the clients. */
  stop(): Promise<void>;
  /**
   * Checks that each till has a correct report, and that each paid order has a webhook message. Returns the number of
   * duplicate messages.
   */
  expectNothingLost(): Promise<{ duplicateCount: number }>;
  close(): Promise<void>;
}

/** The scopes that the API key of the clients must have. */
export const testTrafficApiKeyScopes: ApiScope[] = [
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
  /** Maximum duration of the random pause of a client after each request, in milliseconds. */
  maxPauseMs: number;
  /** Whether the clients send failed requests again, as real clients do. */
  shouldRetry: boolean;
}

export async function startTestTrafficClients(
  testLocation: TestLocation,
  { clients, maxPauseMs, shouldRetry }: ClientTrafficOptions,
): Promise<TestTrafficClients> {
  const receiver = await startTestWebhookReceiver();
  const endpoint = receiver.addEndpoint();
  const { data: recipient } = await testLocation.api.POST("/v1/recipients", { body: { name: "Traffic" } });
  await testLocation.api.POST("/v1/webhooks", {
    body: { recipientId: recipient.id, endpointUrl: endpoint.url, events: ["order.paid"] },
  });
  const stopController = new AbortController();
  const counts: TestTrafficResults = { responseCount: 0, responseTimesMs: [], failures: [] };
  const tills: { id: string }[] = [];
  const paid: string[] = [];

  /** Sends a request, with retries if `shouldRetry` is set. Returns whether the response had an expected status. */
  async function requestUntilExpected(
    agent: Agent,
    method: string,
    path: string,
    expected: number[],
    body?: unknown,
  ): Promise<boolean> {
    const started = performance.now();
    for (let attempt = 1; attempt <= (shouldRetry ? 200 : 1); attempt += 1) {
      const response = await testLocation
        .request(method, path, { body, agent })
        .then(async (raw) => ({ status: raw.status, text: await raw.text() }))
        .catch((error: Error) => ({ status: 0, text: `${error.message} ${error.cause}` }));
      if (expected.includes(response.status)) {
        counts.responseCount += 1;
        counts.responseTimesMs.push(performance.now() - started);
        return true;
      }
      counts.failures.push(`${method} ${path}: ${response.status} ${response.text.slice(0, 300)}`);
      await sleep(200);
    }
    return false;
  }

  async function pushTill(agent: Agent): Promise<void> {
    const till = generateTill({ seed: 9, tillId: randomUUID(), orders: 3, day: "2026-04-01" });
    if (await requestUntilExpected(agent, "POST", "/v2/tills/", [201, 200], till)) tills.push(till);
  }
  async function payOrder(agent: Agent): Promise<void> {
    const order = createTestLiveOrderInput();
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
    // Each client sends all requests on one connection. The connection is therefore never idle for so long that the
    // server closes it, which could fail a request.
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let actionIndex = client; !stopController.signal.aborted; actionIndex += 1) {
      await clientActions[actionIndex % clientActions.length]?.(agent);
      await sleep(Math.random() * maxPauseMs, stopController.signal);
    }
    agent.destroy();
  });

  return {
    results: counts,
    tills,
    async stop() {
      stopController.abort();
      await Promise.all(running);
    },
    async expectNothingLost() {
      const expected = tills.map((till) => computeExpectedDocuments("V2", till, testLocation.locationId));
      await testLocation.waitForReports(tills.length);
      for (const report of expected) {
        expect(await testLocation.getJson(`/v2/reports/${report?.id}`)).toEqual(roundTripThroughJson(report?.reportV2));
      }
      const { meta } = await testLocation.getJson<{ meta: { totalCount: number } }>("/v2/reports/?size=1");
      expect(meta.totalCount).toBe(tills.length);
      const listDeliveredOrderIds = () =>
        endpoint.receivedWebhooks.map(({ body }) => JSON.parse(body).data.id as string);
      await eventually("a webhook for every paid order", () => new Set(listDeliveredOrderIds()).size >= paid.length, {
        timeoutSeconds: 90,
      });
      expect(listDeliveredOrderIds().filter((id) => !paid.includes(id))).toEqual([]);
      expect(paid.filter((id) => !listDeliveredOrderIds().includes(id))).toEqual([]);
      return { duplicateCount: listDeliveredOrderIds().length - new Set(listDeliveredOrderIds()).size };
    },
    close: () => receiver.close(),
  };
}
