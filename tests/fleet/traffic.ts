import { randomUUID } from "node:crypto";
import { Agent } from "node:http";
import type { Scope } from "@pragma/contracts/scopes";
import { sleep } from "@pragma/runtime/sleep";
import { eventually } from "@pragma/runtime/testing/eventually";
import { generateTill } from "@pragma/simulator/generate-till";
import { startReceiver } from "@pragma/webhooks/testing/receiver";
import { expect } from "vitest";
import { newLiveOrder } from "../contract/live-order.ts";
import { asRead, expectedReport } from "../harness/expected-report.ts";
import type { Shop } from "../harness/shop.ts";

/** What clients did and were told. */
export interface Tally {
  answered: number;
  /** Milliseconds that each answer took. */
  times: number[];
  /** Requests that were not answered as they should have been, tried again or not. */
  failures: string[];
}

/** Clients of a shop that push tills, pay orders and read lists, and a receiver that hears of the orders. */
export interface Traffic {
  tally: Tally;
  tills: object[];
  /** Sends until then, each request again until it is answered when that is asked for. */
  stop(): Promise<void>;
  /** Every till has its one report with exact figures, and every paid order was told of; tells how many were told twice. */
  expectNothingLost(): Promise<{ toldTwice: number }>;
  close(): Promise<void>;
}

/** What the key of a shop has to be good for, that there may be traffic of it. */
export const trafficScopes: Scope[] = [
  "tills:write",
  "reports:read",
  "orders:read",
  "orders:write",
  "catalog:read",
  "locations:read",
  "webhooks:write",
];

interface TrafficOptions {
  clients: number;
  /** The longest pause of a client after each request, in milliseconds. */
  pause: number;
  /** Whether clients try again what fails, as those in the field do. */
  isPatient: boolean;
}

export async function startTraffic(shop: Shop, { clients, pause, isPatient }: TrafficOptions): Promise<Traffic> {
  const receiver = await startReceiver();
  const endpoint = receiver.endpoint();
  const { data: recipient } = await shop.api.POST("/v1/recipients", { body: { name: "Traffic" } });
  await shop.api.POST("/v1/webhooks", {
    body: { recipientId: recipient.id, endpointUrl: endpoint.url, events: ["order.paid"] },
  });
  const over = new AbortController();
  const tally: Tally = { answered: 0, times: [], failures: [] };
  const tills: { id: string }[] = [];
  const paid: string[] = [];

  /** Whether it was answered in the end. */
  async function ask(agent: Agent, method: string, path: string, expected: number[], body?: unknown): Promise<boolean> {
    const started = performance.now();
    for (let attempt = 1; attempt <= (isPatient ? 200 : 1); attempt += 1) {
      const answer = await shop
        .ask(method, path, { body, agent })
        .then(async (reply) => ({ status: reply.status, text: await reply.text() }))
        .catch((error: Error) => ({ status: 0, text: `${error.message} ${error.cause}` }));
      if (expected.includes(answer.status)) {
        tally.answered += 1;
        tally.times.push(performance.now() - started);
        return true;
      }
      tally.failures.push(`${method} ${path}: ${answer.status} ${answer.text.slice(0, 300)}`);
      await sleep(200);
    }
    return false;
  }

  async function pushTill(agent: Agent): Promise<void> {
    const till = generateTill({ seed: 9, tillId: randomUUID(), orders: 3, day: "2026-04-01" });
    if (await ask(agent, "POST", "/v2/tills/", [201, 200], till)) tills.push(till);
  }
  async function payOrder(agent: Agent): Promise<void> {
    const order = newLiveOrder();
    const body = [{ ...order, data: { ...order.data, isPaid: true, leftToPay: 0 } }];
    if (await ask(agent, "POST", "/v1/orders-live/", [200], body)) paid.push(order.id);
  }
  const turns = [
    pushTill,
    payOrder,
    (agent: Agent) => ask(agent, "GET", "/v2/reports/?size=5", [200]),
    payOrder,
    (agent: Agent) => ask(agent, "GET", "/v1/orders-live/?size=5", [200]),
    (agent: Agent) => ask(agent, "GET", "/v1/catalog/", [200]),
    (agent: Agent) => ask(agent, "GET", "/v1/locations/own", [200]),
    (agent: Agent) => ask(agent, "GET", "/v1/webhooks/", [200]),
  ];
  const running = Array.from({ length: clients }, async (_, client) => {
    // A connection that is hardly ever used may be closed just when it is: each client has one, and uses that.
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let turn = client; !over.signal.aborted; turn += 1) {
      await turns[turn % turns.length]?.(agent);
      await sleep(Math.random() * pause, over.signal);
    }
    agent.destroy();
  });

  return {
    tally,
    tills,
    async stop() {
      over.abort();
      await Promise.all(running);
    },
    async expectNothingLost() {
      const expected = tills.map((till) => expectedReport("V2", till, shop.locationId));
      await shop.reports(tills.length);
      for (const report of expected) {
        expect(await shop.read(`/v2/reports/${report?.id}`)).toEqual(asRead(report?.reportV2));
      }
      const { meta } = await shop.read<{ meta: { totalCount: number } }>("/v2/reports/?size=1");
      expect(meta.totalCount).toBe(tills.length);
      const told = () => endpoint.received.map(({ body }) => JSON.parse(body).data.id as string);
      await eventually("every paid order to be told of", () => new Set(told()).size >= paid.length, {
        withinSeconds: 90,
      });
      expect(told().filter((id) => !paid.includes(id))).toEqual([]);
      expect(paid.filter((id) => !told().includes(id))).toEqual([]);
      return { toldTwice: told().length - new Set(told()).size };
    },
    close: () => receiver.close(),
  };
}
