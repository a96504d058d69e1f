import { randomUUID } from "node:crypto";
import { paginatedSchema } from "@pragma/contracts/pagination";
import { WebhookDelivery, WebhookDeliveryDetails, WebhookDeliveryRecovery } from "@pragma/contracts/webhook-delivery";
import { eventually } from "@pragma/runtime/testing/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DeliveryRecoveryRow, upsertBulkDeliveryRecoveryRow } from "../queries/recoveries.ts";
import { buildTestOrderEventData } from "../testing/event-publisher.ts";
import {
  createWebhooksTestPrincipal,
  startTestWebhooksService,
  type TestWebhooksService,
  type TestWebhookWithSecret,
} from "../testing/start-test-webhooks.ts";
import {
  createFixedStatusResponseHandler,
  startTestWebhookReceiver,
  type TestWebhookReceiver,
} from "../testing/webhook-receiver.ts";

let service: TestWebhooksService;
let receiver: TestWebhookReceiver;

beforeAll(async () => {
  const variables = { WEBHOOK_RETRY_SCHEDULE: "1s" };
  [service, receiver] = await Promise.all([startTestWebhooksService({ variables }), startTestWebhookReceiver()]);
});
afterAll(async () => {
  await service?.remove();
  await receiver?.close();
});

/** Publishes order events for a webhook. Returns the ids of the messages. */
async function publishOrders(subscription: TestWebhookWithSecret, count: number): Promise<string[]> {
  const { locationId } = subscription;
  return Promise.all(
    Array.from({ length: count }, () => service.publishEvent("order.paid", buildTestOrderEventData(locationId))),
  );
}

async function waitForCount(subscription: TestWebhookWithSecret, state: string, count: number): Promise<void> {
  await eventually(`${count} deliveries to be ${state}`, async () => {
    const { meta } = await listDeliveriesPage(subscription, `?state=${state}&size=1`);
    return meta.totalCount === count;
  });
}

const listDeliveriesPage = ({ webhook, principal }: TestWebhookWithSecret, query: string) =>
  service.getJson(`/v1/webhooks/${webhook.id}/deliveries${query}`, paginatedSchema(WebhookDelivery), principal);

describe("the deliveries of a webhook", () => {
  it("are listed newest first, in pages, and filtered by event, state and time", async () => {
    const endpoint = receiver.addEndpoint();
    const subscription = await service.createSubscription(endpoint.url, { events: ["order.paid", "order.call"] });
    const paidMessageIds = await publishOrders(subscription, 5);
    await waitForCount(subscription, "succeeded", 5);
    endpoint.setHandler(createFixedStatusResponseHandler(500));
    const callMessageId = await service.publishEvent("order.call", buildTestOrderEventData(subscription.locationId));
    await service.waitForDelivery(subscription, callMessageId, "failed");

    const { data, meta } = await listDeliveriesPage(subscription, "?size=100");
    expect(meta.totalCount).toBe(6);
    expect(data[0]?.messageId).toBe(callMessageId);
    expect(new Set(data.slice(1).map(({ messageId }) => messageId))).toEqual(new Set(paidMessageIds));
    expect(data.map(({ createdAt }) => createdAt)).toEqual(
      [...data.map(({ createdAt }) => createdAt)].sort().reverse(),
    );

    const idsOfPages: string[] = [];
    for (let query = "?size=2"; ; ) {
      const { data: page, nextPageToken } = await listDeliveriesPage(subscription, query);
      idsOfPages.push(...page.map(({ id }) => id));
      if (nextPageToken === null) break;
      query = `?size=2&pageToken=${nextPageToken}`;
    }
    expect(idsOfPages).toEqual(data.map(({ id }) => id));
    expect((await listDeliveriesPage(subscription, "?size=4&index=1")).data).toEqual(data.slice(4));

    expect(
      (await listDeliveriesPage(subscription, "?event=order.call")).data.map(({ messageId }) => messageId),
    ).toEqual([callMessageId]);
    expect((await listDeliveriesPage(subscription, "?state=succeeded")).meta.totalCount).toBe(5);
    const lastCreatedAt = data[0]?.createdAt ?? "";
    const sinceLast = await listDeliveriesPage(subscription, `?since=${lastCreatedAt}`);
    expect(sinceLast.data.map(({ messageId }) => messageId)).toEqual([callMessageId]);
    expect((await listDeliveriesPage(subscription, `?until=${lastCreatedAt}`)).meta.totalCount).toBe(6);
    const today = new Intl.DateTimeFormat("sv-SE", { timeZone: "Europe/Paris" }).format(new Date());
    expect((await listDeliveriesPage(subscription, `?since=${today}&until=${today}`)).meta.totalCount).toBe(6);
    expect((await listDeliveriesPage(subscription, "?until=2026-01-01")).meta.totalCount).toBe(0);
  });

  it("are filtered by days of time zones for which PostgreSQL has other rules", async () => {
    const subscription = await service.createSubscription(receiver.addEndpoint().url, { events: ["order.paid"] });
    await publishOrders(subscription, 1);
    await waitForCount(subscription, "succeeded", 1);
    const count = async (timeZone: string, createdAt: string, day: string) => {
      await service.db.sql`
        update webhook_deliveries set created_at = ${createdAt} where webhook_id = ${subscription.webhook.id}
          and location_id = ${subscription.locationId}`;
      const location = subscription.principal.location && { ...subscription.principal.location, timeZone };
      const principal = { ...subscription.principal, location };
      const { meta } = await listDeliveriesPage({ ...subscription, principal }, `?since=${day}&until=${day}`);
      return meta.totalCount;
    };
    // Summer time, the first of two midnights, and zones that PostgreSQL may not know.
    expect(await count("CET", "2026-07-13T22:30:00Z", "2026-07-14")).toBe(1);
    expect(await count("CET", "2026-07-14T22:30:00Z", "2026-07-14")).toBe(0);
    expect(await count("WET", "2026-07-13T23:30:00Z", "2026-07-14")).toBe(1);
    expect(await count("America/Havana", "2025-11-02T04:30:00Z", "2025-11-02")).toBe(1);
    expect(await count("America/Coyhaique", "2026-07-14T03:30:00Z", "2026-07-14")).toBe(1);
    expect(await count("Asia/Tokyo", "2026-07-14T03:30:00Z", "0001-01-01")).toBe(0);
  });

  it("return 400 for invalid filters", async () => {
    const { webhook, principal } = await service.createSubscription("http://127.0.0.1:9999/");
    const path = `/v1/webhooks/${webhook.id}/deliveries?event=x&state=y&since=yesterday&until=1`;
    const problem = await service.requestProblem({ method: "GET", path, principal });
    expect(problem.errors?.map((issue) => issue.path)).toEqual(["event", "state", "since", "until"]);
  });
});

describe("a single delivery", () => {
  it("contains every attempt and the payload, and has an entity tag", async () => {
    const endpoint = receiver.addEndpoint(createFixedStatusResponseHandler(500));
    const subscription = await service.createSubscription(endpoint.url);
    const [messageId = ""] = await publishOrders(subscription, 1);
    const delivery = await service.waitForDelivery(subscription, messageId, "failed");
    expect(delivery).toMatchObject({ webhookId: subscription.webhook.id, messageId, event: "order.paid" });
    expect(delivery.nextAttemptAt).toBeNull();
    expect(delivery.attempts.map(({ generation, number, status }) => [generation, number, status])).toEqual([
      [1, 1, 500],
      [1, 2, 500],
    ]);
    expect(JSON.stringify(delivery.payload)).toBe(endpoint.receivedWebhooks[0]?.body);
    const names = ["webhook-id", "webhook-timestamp", "webhook-signature"] as const;
    expect(delivery.attempts.map(({ signatureHeaders }) => names.map((name) => signatureHeaders?.[name]))).toEqual(
      endpoint.receivedWebhooks.map(({ headers }) => names.map((name) => headers[name])),
    );
    const path = `/v1/webhooks/deliveries/${delivery.id}`;
    const { principal } = subscription;
    const etag = (await service.request("GET", path, { principal })).headers.get("etag") ?? "";
    const conditional = await service.request("GET", path, { principal, headers: { "if-none-match": etag } });
    expect(conditional.status).toBe(304);
  });

  it("cannot be accessed from another location", async () => {
    const subscription = await service.createSubscription(receiver.addEndpoint().url);
    const [messageId = ""] = await publishOrders(subscription, 1);
    const { id } = await service.waitForDelivery(subscription, messageId, "succeeded");
    const principal = createWebhooksTestPrincipal();
    for (const [method, path] of [
      ["GET", `/v1/webhooks/deliveries/${id}`],
      ["POST", `/v1/webhooks/deliveries/${id}/replay`],
    ] as const) {
      expect(await service.requestProblem({ method, path, principal })).toMatchObject({ code: "delivery_not_found" });
    }
  });
});

describe("a replayed delivery", () => {
  const replay = ({ principal }: TestWebhookWithSecret, id: string) =>
    service.sendJson(
      { method: "POST", path: `/v1/webhooks/deliveries/${id}/replay`, principal },
      { status: 202, schema: WebhookDelivery },
    );

  it("sends the same message with the same id, and lists the attempts of both generations", async () => {
    const endpoint = receiver.addEndpoint(createFixedStatusResponseHandler(500));
    const subscription = await service.createSubscription(endpoint.url);
    const [messageId = ""] = await publishOrders(subscription, 1);
    const { id } = await service.waitForDelivery(subscription, messageId, "failed");
    expect(await replay(subscription, id)).toMatchObject({ id, state: "pending" });
    await eventually("the first attempt of the second generation", () => endpoint.receivedWebhooks.length === 3);
    endpoint.setHandler(createFixedStatusResponseHandler(200));
    const { attempts } = await service.waitForDelivery(subscription, messageId, "succeeded");
    expect(attempts.map(({ generation, number, status }) => [generation, number, status])).toEqual([
      [1, 1, 500],
      [1, 2, 500],
      [2, 1, 500],
      [2, 2, 200],
    ]);
    expect(new Set(endpoint.receivedWebhooks.map(({ body }) => body)).size).toBe(1);
    expect(new Set(endpoint.receivedWebhooks.map(({ headers }) => headers["webhook-id"]))).toEqual(
      new Set([messageId]),
    );
  });

  it("can have succeeded before", async () => {
    const endpoint = receiver.addEndpoint();
    const subscription = await service.createSubscription(endpoint.url);
    const [messageId = ""] = await publishOrders(subscription, 1);
    const { id } = await service.waitForDelivery(subscription, messageId, "succeeded");
    await replay(subscription, id);
    await eventually("the message again", () => endpoint.receivedWebhooks.length === 2);
    await service.waitForDelivery(subscription, messageId, "succeeded");
  });

  it("returns 409 while an attempt is in progress", async () => {
    let respond = () => {};
    const endpoint = receiver.addEndpoint((_, response) => {
      respond = () => response.writeHead(200).end();
    });
    const subscription = await service.createSubscription(endpoint.url);
    const [messageId = ""] = await publishOrders(subscription, 1);
    const { id, attempts } = await service.waitForDelivery(subscription, messageId, "sending");
    expect(attempts).toMatchObject([{ generation: 1, number: 1, status: null, milliseconds: null, error: null }]);
    expect(Math.abs(Date.parse(attempts[0]?.startedAt ?? "") - Date.now())).toBeLessThan(5_000);
    const { principal } = subscription;
    const rejected = await service.request("POST", `/v1/webhooks/deliveries/${id}/replay`, { principal });
    expect([rejected.status, rejected.headers.get("retry-after")]).toEqual([409, "5"]);
    expect(await rejected.json()).toMatchObject({ code: "delivery_under_way" });
    await eventually("the message", () => endpoint.receivedWebhooks.length === 1);
    respond();
    await service.waitForDelivery(subscription, messageId, "succeeded");
  });
});

describe("a recovery", () => {
  const recover = ({ webhook, principal }: TestWebhookWithSecret, since: string) =>
    service.sendJson(
      { method: "POST", path: `/v1/webhooks/${webhook.id}/recover`, principal, body: { since } },
      { status: 202, schema: WebhookDeliveryRecovery },
    );
  const waitForRecovery = ({ webhook, principal }: TestWebhookWithSecret, { id }: WebhookDeliveryRecovery) =>
    eventually("the recovery to be done", async () => {
      const recovery = await service.getJson(
        `/v1/webhooks/${webhook.id}/recoveries/${id}`,
        WebhookDeliveryRecovery,
        principal,
      );
      return recovery.state === "done" && recovery;
    });

  it("replays all deliveries that failed since a time, and no other deliveries", async () => {
    const endpoint = receiver.addEndpoint();
    const subscription = await service.createSubscription(endpoint.url);
    const succeededIds = await publishOrders(subscription, 3);
    await waitForCount(subscription, "succeeded", 3);
    endpoint.setHandler(createFixedStatusResponseHandler(500));
    const earlierIds = await publishOrders(subscription, 2);
    await waitForCount(subscription, "failed", 2);
    const since = new Date(Date.now() + 1).toISOString();
    await new Promise((resolve) => setTimeout(resolve, 5));
    const laterIds = await publishOrders(subscription, 7);
    await waitForCount(subscription, "failed", 9);
    endpoint.setHandler(createFixedStatusResponseHandler(200));
    endpoint.receivedWebhooks.length = 0;

    const recovery = await recover(subscription, since);
    expect(recovery).toMatchObject({ webhookId: subscription.webhook.id, total: 7 });
    expect(await waitForRecovery(subscription, recovery)).toMatchObject({
      total: 7,
      recovered: 7,
      finishedAt: expect.any(String),
    });
    for (const id of laterIds) await service.waitForDelivery(subscription, id, "succeeded");
    const sentIds = new Set(endpoint.receivedWebhooks.map(({ headers }) => headers["webhook-id"]));
    expect(sentIds).toEqual(new Set(laterIds));
    for (const id of earlierIds) await service.waitForDelivery(subscription, id, "failed");
    expect(succeededIds.some((id) => sentIds.has(id))).toBe(false);
  });

  it("excludes failed test messages", async () => {
    const endpoint = receiver.addEndpoint(createFixedStatusResponseHandler(500));
    const subscription = await service.createSubscription(endpoint.url);
    const { webhook, principal } = subscription;
    const since = new Date(Date.now() - 1_000).toISOString();
    const test = await service.sendJson(
      { method: "POST", path: `/v1/webhooks/${webhook.id}/test`, principal },
      { status: 202, schema: WebhookDelivery },
    );
    const [messageId = ""] = await publishOrders(subscription, 1);
    await waitForCount(subscription, "failed", 2);
    endpoint.setHandler(createFixedStatusResponseHandler(200));
    endpoint.receivedWebhooks.length = 0;

    expect(await waitForRecovery(subscription, await recover(subscription, since))).toMatchObject({
      total: 1,
      recovered: 1,
    });
    await service.waitForDelivery(subscription, messageId, "succeeded");
    await service.waitForDelivery(subscription, test.messageId, "failed");
    expect(endpoint.receivedWebhooks.map(({ headers }) => headers["webhook-id"])).toEqual([messageId]);
  });

  it("replays a delivery whose attempt in progress fails", async () => {
    const pendingResponses: (() => void)[] = [];
    const endpoint = receiver.addEndpoint(createFixedStatusResponseHandler(500));
    const subscription = await service.createSubscription(endpoint.url);
    const [messageId = ""] = await publishOrders(subscription, 1);
    await eventually("the first attempt", () => endpoint.receivedWebhooks.length === 1);
    endpoint.setHandler((_, response) => void pendingResponses.push(() => response.writeHead(503).end()));
    await eventually("the second attempt", () => pendingResponses.length === 1);

    const recovery = await recover(subscription, "2026-01-01T00:00:00Z");
    expect(await waitForRecovery(subscription, recovery)).toMatchObject({ total: 1, recovered: 1 });
    await service.waitForDelivery(subscription, messageId, "sending");
    endpoint.setHandler(createFixedStatusResponseHandler(200));
    pendingResponses[0]?.();
    const { attempts } = await service.waitForDelivery(subscription, messageId, "succeeded");
    expect(attempts.map(({ generation, number, status }) => [generation, number, status])).toEqual([
      [1, 1, 500],
      [1, 2, 503],
      [2, 1, 200],
    ]);
  });

  it("continues from its cursor after a crash", async () => {
    const endpoint = receiver.addEndpoint(createFixedStatusResponseHandler(500));
    const subscription = await service.createSubscription(endpoint.url);
    const { sql } = service.db;
    const { webhook, locationId } = subscription;
    await service.request("POST", `/v1/webhooks/${webhook.id}/pause`, { principal: subscription.principal });
    // A webhook has only one delivery per message, so each delivery needs its own message.
    await sql`
      with message as (
        insert into webhook_messages (location_id, id, subject, created_on, body, created_at)
        select ${locationId}, gen_random_uuid(), gen_random_uuid(), (now() at time zone 'UTC')::date, '{}', now()
        from generate_series(1, 1200) returning id
      )
      insert into webhook_deliveries
        (location_id, id, message_id, webhook_id, event, state, generation, attempt, failures, created_at)
      select ${locationId}, gen_random_uuid(), id, ${webhook.id}, 'order.paid', 'failed', 1, 2, 2, now() from message`;
    // Simulates a process that crashed after the first batch (500 deliveries) of a recovery.
    const id = randomUUID();
    const [cursor] = await sql<[{ createdAt: Date; id: string }]>`
      select created_at, id from webhook_deliveries where webhook_id = ${webhook.id}
      order by created_at, id offset 499 limit 1`;
    await sql`
      insert into delivery_recoveries
        (location_id, id, webhook_id, since, created_at, total, recovered, cursor_created_at, cursor_id)
      values (
        ${locationId}, ${id}, ${webhook.id}, '2026-01-01', now() + interval '1 second', 1200, 500, ${cursor.createdAt},
        ${cursor.id}
      )`;
    const recovery = await waitForRecovery(subscription, { id } as WebhookDeliveryRecovery);
    expect(recovery).toMatchObject({ total: 1200, recovered: 1200 });
    expect((await listDeliveriesPage(subscription, "?state=pending&size=1")).meta.totalCount).toBe(700);
  });

  it("restarts from the earlier time when it is requested again before it has finished", async () => {
    const subscription = await service.createSubscription(
      receiver.addEndpoint(createFixedStatusResponseHandler(500)).url,
    );
    await publishOrders(subscription, 2);
    await waitForCount(subscription, "failed", 2);
    const { locationId } = subscription;
    const request = { locationId, webhookId: subscription.webhook.id, now: new Date() };
    const rollback = new Error("Roll back the transaction.");
    const recoveries = await new Promise<DeliveryRecoveryRow[]>((resolve, reject) => {
      service.db
        .transaction(async (tx) => {
          const rows: DeliveryRecoveryRow[] = [];
          for (const since of ["2026-02-01T00:00:00Z", "2026-01-01T00:00:00Z", "2099-01-01T00:00:00Z"]) {
            rows.push(await upsertBulkDeliveryRecoveryRow(tx, { ...request, since }));
          }
          resolve(rows);
          throw rollback;
        })
        .catch((error) => error !== rollback && reject(error));
    });
    expect(new Set(recoveries.map(({ id }) => id)).size).toBe(1);
    expect(recoveries.map(({ since }) => since.getUTCMonth())).toEqual([1, 0, 0]);
    expect(recoveries.map(({ total }) => total)).toEqual([2, 2, 2]);
  });

  it("returns 400 without a time, and 404 for an unknown id", async () => {
    const { webhook, principal } = await service.createSubscription("http://127.0.0.1:9999/");
    const path = `/v1/webhooks/${webhook.id}/recover`;
    expect(await service.requestProblem({ method: "POST", path, principal, body: {} })).toMatchObject({
      errors: [{ path: "since", code: "required" }],
    });
    const unknownPath = `/v1/webhooks/${webhook.id}/recoveries/${randomUUID()}`;
    expect(await service.requestProblem({ method: "GET", path: unknownPath, principal })).toMatchObject({
      code: "recovery_not_found",
    });
  });
});

it("sends a location's test without delay while the tests of another location wait for a slow endpoint", async () => {
  const pendingResponses: (() => void)[] = [];
  const slowSubscription = await service.createSubscription(
    receiver.addEndpoint((_, response) => void pendingResponses.push(() => response.writeHead(204).end())).url,
  );
  const sendTest = ({ webhook, principal }: TestWebhookWithSecret) =>
    service.request("POST", `/v1/webhooks/${webhook.id}/test`, { principal });
  for (let count = 0; count < 30; count += 1) expect((await sendTest(slowSubscription)).status).toBe(202);
  await eventually("the first tests", () => pendingResponses.length > 0);
  const endpoint = receiver.addEndpoint();
  await sendTest(await service.createSubscription(endpoint.url));
  await eventually("the other location's test", () => endpoint.receivedWebhooks.length === 1);
  expect(pendingResponses.length).toBe(5);
  for (let count = 0; count < 30; count += 1) {
    await eventually("the next test", () => pendingResponses.length > 0);
    pendingResponses.shift()?.();
  }
});

it("returns a delivery with exactly the documented fields", async () => {
  const subscription = await service.createSubscription(receiver.addEndpoint().url);
  const [messageId = ""] = await publishOrders(subscription, 1);
  const { id } = await service.waitForDelivery(subscription, messageId, "succeeded");
  await service.getJson(`/v1/webhooks/deliveries/${id}`, WebhookDeliveryDetails.strict(), subscription.principal);
});

describe("the deliveries of all webhooks of a location", () => {
  const listAll = (query: string, principal: TestWebhookWithSecret["principal"]) =>
    service.getJson(`/v1/webhooks/deliveries${query}`, paginatedSchema(WebhookDelivery), principal);

  /** Two webhooks of one location, with two succeeded and two failed deliveries each, and one of another location. */
  async function deliverToTwoWebhooks() {
    const endpoint = receiver.addEndpoint();
    const subscription = await service.createSubscription(endpoint.url, { events: ["order.paid", "order.call"] });
    const { principal, recipientId, locationId } = subscription;
    const body = { recipientId, endpointUrl: endpoint.url, events: ["order.paid"] };
    const second = (await (await service.request("POST", "/v1/webhooks/", { principal, body })).json()) as {
      id: string;
    };
    const other = await service.createSubscription(endpoint.url, { events: ["order.paid"] });
    await publishOrders(other, 1);
    const succeed = await publishOrders(subscription, 2);
    await eventually("4 deliveries", async () => (await listAll("?state=succeeded", principal)).meta.totalCount === 4);
    endpoint.setHandler(createFixedStatusResponseHandler(500));
    const fail = await publishOrders(subscription, 2);
    await eventually("4 failures", async () => (await listAll("?state=failed", principal)).meta.totalCount === 4);
    endpoint.setHandler(createFixedStatusResponseHandler(204));
    return { endpoint, subscription, principal, locationId, second, other, succeed, fail };
  }

  it("are listed newest first, filtered, and page by page", async () => {
    const { principal, subscription, second, fail, succeed, other } = await deliverToTwoWebhooks();
    const { data, meta } = await listAll("?size=100", principal);
    expect(meta.totalCount).toBe(8);
    expect(data.map(({ createdAt }) => createdAt)).toEqual(
      data
        .map(({ createdAt }) => createdAt)
        .toSorted()
        .reverse(),
    );
    expect(new Set(data.map(({ webhookId }) => webhookId))).toEqual(new Set([subscription.webhook.id, second.id]));
    expect(new Set(data.slice(0, 4).map(({ messageId }) => messageId))).toEqual(new Set(fail));
    const seen: string[] = [];
    for (let token: string | null = ""; token !== null; ) {
      const page: Awaited<ReturnType<typeof listAll>> = await listAll(
        `?size=3${token && `&pageToken=${token}`}`,
        principal,
      );
      seen.push(...page.data.map(({ id }) => id));
      token = page.nextPageToken;
    }
    expect(seen).toEqual(data.map(({ id }) => id));
    expect((await listAll("?size=3&index=2", principal)).data.map(({ id }) => id)).toEqual(seen.slice(6));
    const ofSecond = (await listAll(`?webhookId=${second.id}&state=succeeded&event=order.paid`, principal)).data;
    expect(new Set(ofSecond.map(({ messageId }) => messageId))).toEqual(new Set(succeed));
    expect((await listAll("?event=order.call", principal)).data).toEqual([]);
    expect((await listAll("?until=2020-01-01", principal)).data).toEqual([]);
    expect((await listAll(`?webhookId=${other.webhook.id}`, principal)).data).toEqual([]);
    await service.request("DELETE", `/v1/webhooks/${second.id}`, { principal });
    expect((await listAll("", principal)).meta.totalCount).toBe(4);
  });

  it("are replayed by filter, oldest first, up to the limit", async () => {
    const { principal, endpoint, fail, locationId, second } = await deliverToTwoWebhooks();
    const replay = async (body: object) =>
      (await service.request("POST", "/v1/webhooks/deliveries/replay", { principal, body })).json();
    const [before] = (await listAll(`?state=failed&webhookId=${second.id}&size=100`, principal)).data.toReversed();
    const part = (await replay({ webhookId: second.id, limit: 1 })) as { nextPageToken: string };
    expect(part).toEqual({ replayedCount: 1, remainingCount: 1, nextPageToken: expect.any(String) });
    await eventually("the oldest delivery to succeed", async () =>
      (await listAll(`?state=succeeded&webhookId=${second.id}`, principal)).data.some(({ id }) => id === before?.id),
    );
    expect(await replay({})).toEqual({ replayedCount: 3, remainingCount: 0, nextPageToken: null });
    await eventually(
      "all deliveries to succeed",
      async () => (await listAll("?state=succeeded", principal)).meta.totalCount === 8,
    );
    const received = endpoint.receivedWebhooks.map(({ headers }) => String(headers["webhook-id"]));
    for (const messageId of fail) expect(received.lastIndexOf(messageId)).toBeGreaterThan(received.indexOf(messageId));
    expect(await replay({})).toEqual({ replayedCount: 0, remainingCount: 0, nextPageToken: null });
    expect(await replay({ state: "succeeded", event: "order.call" })).toEqual({
      replayedCount: 0,
      remainingCount: 0,
      nextPageToken: null,
    });
    const audited = await service.db.sql`
      select from outbox where type = 'audit.recorded' and body like ${`%deliveries.replayed%`} and location_id = ${locationId}
      union all select from sent_events where type = 'audit.recorded' and location_id = ${locationId}`;
    expect(audited.length).toBeGreaterThan(0);
  });

  it("are each replayed once, page by page, whatever their state", async () => {
    const { principal, endpoint } = await deliverToTwoWebhooks();
    const received = endpoint.receivedWebhooks.length;
    let replayedCount = 0;
    for (let pageToken: string | null | undefined; pageToken !== null; ) {
      const body = { state: "succeeded", limit: 3, ...(pageToken !== undefined && { pageToken }) };
      const response = await service.request("POST", "/v1/webhooks/deliveries/replay", { principal, body });
      const page = (await response.json()) as { replayedCount: number; nextPageToken: string | null };
      replayedCount += page.replayedCount;
      pageToken = page.nextPageToken;
      await eventually(
        "the replayed deliveries to succeed",
        async () => (await listAll("?state=succeeded", principal)).meta.totalCount === 4,
      );
    }
    expect(replayedCount).toBe(4);
    expect(endpoint.receivedWebhooks.length - received).toBe(4);
  });

  it("of another location are neither listed nor replayed", async () => {
    const { principal, other, locationId } = await deliverToTwoWebhooks();
    expect((await listAll("?size=100", other.principal)).meta.totalCount).toBe(1);
    const path = "/v1/webhooks/deliveries/replay";
    const body = { locationId };
    expect((await service.request("POST", path, { principal: other.principal, body })).status).toBe(403);
    expect(
      (await service.request("POST", path, { principal: other.principal, body: { state: "failed" } })).status,
    ).toBe(202);
    expect((await listAll("?state=failed", principal)).meta.totalCount).toBe(4);
  });

  it("are not replayed if the request is invalid", async () => {
    const { principal } = await service.createSubscription(receiver.addEndpoint().url);
    const body = { state: "sending", event: "order.unknown", limit: 1_001, since: "2026-05-30", until: "2026-05-29" };
    const response = await service.request("POST", "/v1/webhooks/deliveries/replay", { principal, body });
    const { errors } = (await response.json()) as { errors: { path: string }[] };
    expect([response.status, ...errors.map(({ path }) => path).toSorted()]).toEqual([400, "event", "limit", "state"]);
  });
});
