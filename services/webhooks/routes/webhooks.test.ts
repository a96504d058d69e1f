import { randomUUID } from "node:crypto";
import { paginatedSchema } from "@pragma/contracts/pagination";
import { Webhook, WebhookWithDeliveryStatistics } from "@pragma/contracts/webhook";
import { WebhookDelivery } from "@pragma/contracts/webhook-delivery";
import { eventually } from "@pragma/runtime/testing/eventually";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
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
const path = "/v1/webhooks/";
/** The first IP address that the fake resolver returns for each host. */
const hostAddresses: Record<string, string> = {
  ...{ "inside.example": "10.1.2.3", "both.example": "93.184.216.34", "public.example": "93.184.216.34" },
  "metadata.google.internal": "169.254.169.254",
};

beforeAll(async () => {
  const resolveHost = async (host: string) => {
    const address = hostAddresses[host];
    if (host === "timeout.example") throw Object.assign(new Error("timed out"), { code: "ETIMEOUT" });
    if (!address) throw Object.assign(new Error("not found"), { code: "ENOTFOUND" });
    const forbidden = host === "both.example" ? [{ address: "::ffff:169.254.169.254", family: 6 }] : [];
    return [{ address, family: 4 }, ...forbidden];
  };
  [service, receiver] = await Promise.all([startTestWebhooksService({ resolveHost }), startTestWebhookReceiver()]);
});
afterAll(async () => {
  await service?.remove();
  await receiver?.close();
});

const getDetails = ({ webhook, principal }: TestWebhookWithSecret) =>
  service.getJson(`${path}${webhook.id}`, WebhookWithDeliveryStatistics, principal);

describe("a new webhook", () => {
  it("is active, and subscribes to its events once each", async () => {
    const { webhook, recipientId, locationId } = await service.createSubscription("http://127.0.0.1:9999/hook", {
      events: ["order.paid", "order.paid", "report.finalized"],
    });
    expect(webhook).toMatchObject({
      locationId,
      recipientId,
      endpointUrl: "http://127.0.0.1:9999/hook",
      events: ["order.paid", "report.finalized"],
      state: "active",
      disabledReason: null,
      failingSince: null,
      lastError: null,
    });
  });

  test.each([
    ["that is not a URL", "hook", "invalid_url"],
    ["with another scheme", "ftp://example.com/", "invalid_url"],
    ["with a user and password", "https://user:pass@example.com/", "userinfo"],
    ["with a fragment", "https://example.com/#there", "fragment"],
    ["on the port of SMTP", "https://example.com:25/", "forbidden_port"],
  ])("returns 400 for an endpoint %s", async (_, endpointUrl, code) => {
    const subscription = await service.createSubscription("http://127.0.0.1:9999/");
    const { principal, recipientId } = subscription;
    const body = { recipientId, endpointUrl, events: ["order.paid"] };
    const problem = await service.requestProblem({ method: "POST", path, principal, body });
    expect(problem).toMatchObject({
      status: 400,
      code: "invalid_request",
      errors: [{ in: "body", path: "endpointUrl", code, message: expect.stringMatching(/^Must /) }],
    });
  });

  test.each([
    ["a private address", "https://10.0.0.1/"],
    ["the metadata address of most clouds", "http://169.254.169.254/latest/meta-data/"],
    ["the same as a number", "http://2852039166/"],
    ["the same in hexadecimal", "http://0xa9fea9fe/"],
    ["the same in octal", "http://0251.0376.0251.0376/"],
    ["the same in three parts", "http://169.254.43518/"],
    ["the same in IPv6", "http://[::ffff:a9fe:a9fe]/"],
    ["the same as 6to4", "http://[2002:a9fe:a9fe::1]/"],
    ["AWS's metadata address in IPv6", "http://[fd00:ec2::254]/"],
    ["AWS's address for the credentials of containers", "http://169.254.170.2/"],
    ["Azure's platform address", "http://168.63.129.16/"],
    ["the same with a trailing dot", "http://168.63.129.16./"],
    ["the same platform address as a number", "http://2822734096/"],
    ["the same in hexadecimal parts", "http://0xa8.0x3f.0x81.0x10/"],
    ["the same behind NAT64", "http://[64:ff9b::168.63.129.16]/"],
    ["Google's metadata host", "http://metadata.google.internal/"],
    ["Alibaba's metadata address", "http://100.100.100.200/"],
    ["Oracle's metadata address", "http://192.0.0.192/"],
    ["a link-local IPv6 address", "http://[fe80::1]/"],
    ["a host with a private address", "https://inside.example/"],
    ["a host with a public and a private address", "https://both.example/"],
    ["a host without an address", "https://nowhere.example/"],
  ])("returns the same issue when its endpoint is %s", async (_, endpointUrl) => {
    const { principal, recipientId } = await service.createSubscription("http://127.0.0.1:9999/");
    const body = { recipientId, endpointUrl, events: ["order.paid"] };
    const { status, errors } = await service.requestProblem({ method: "POST", path, principal, body });
    expect({ status, errors }).toEqual({
      status: 400,
      errors: [
        {
          in: "body",
          path: "endpointUrl",
          code: "forbidden_address",
          message: "Must have a public IP address. This host has no address, or an address that is not public.",
        },
      ],
    });
  });

  test.each([
    ["an unknown event", { events: ["order.eaten"] }, "events[0]"],
    ["no events", { events: [] }, "events"],
    ["no recipient", { recipientId: undefined }, "recipientId"],
    ["an unknown recipient", { recipientId: randomUUID() }, "recipientId"],
  ])("returns 400 for %s", async (_, invalidFields, issuePath) => {
    const { principal, recipientId } = await service.createSubscription("http://127.0.0.1:9999/");
    const body = { recipientId, endpointUrl: "http://127.0.0.1:9999/", events: ["order.paid"], ...invalidFields };
    const problem = await service.requestProblem({ method: "POST", path, principal, body });
    expect(problem).toMatchObject({ status: 400, errors: [{ path: issuePath }] });
  });

  it("returns 400 for a recipient of another location", async () => {
    const { recipientId } = await service.createSubscription("http://127.0.0.1:9999/");
    const body = { recipientId, endpointUrl: "http://127.0.0.1:9999/", events: ["order.paid"] };
    const problem = await service.requestProblem({
      method: "POST",
      path,
      principal: createWebhooksTestPrincipal(),
      body,
    });
    expect(problem).toMatchObject({ errors: [{ path: "recipientId", code: "unknown_recipient" }] });
  });

  it("is accepted when name servers do not respond", async () => {
    const { webhook } = await service.createSubscription("https://timeout.example/hook");
    expect(webhook.endpointUrl).toBe("https://timeout.example/hook");
  });

  it("does not reveal to which address its host resolves later, or whether it resolves", async () => {
    const attemptAt = async (address: string | undefined) => {
      hostAddresses["later.example"] = "93.184.216.34";
      const subscription = await service.createSubscription("http://later.example/");
      if (address) hostAddresses["later.example"] = address;
      else delete hostAddresses["later.example"];
      const id = await service.publishEvent("order.paid", buildTestOrderEventData(subscription.locationId));
      const { attempts } = await eventually("the attempt", async () => {
        const delivery = await service.waitForDelivery(subscription, id, "pending");
        return delivery.attempts[0]?.error ? delivery : undefined;
      });
      const { status, error, response } = attempts[0] ?? {};
      return { status, error, response };
    };
    const failedAttempt = {
      status: null,
      error: "The endpoint's host has no public address, or could not be resolved.",
      response: null,
    };
    for (const address of ["10.1.2.3", "168.63.129.16", "fd00:ec2::254", undefined]) {
      expect(await attemptAt(address)).toEqual(failedAttempt);
    }
  });
});

describe("a location at its limit of webhooks", () => {
  let limited: TestWebhooksService;
  beforeAll(async () => {
    limited = await startTestWebhooksService({ variables: { MAX_WEBHOOKS_PER_LOCATION: "3" } });
  });
  afterAll(() => limited?.remove());
  const endpointUrl = "http://127.0.0.1:9999/";

  it("rejects further webhooks, even from concurrent requests, and accepts updates", async () => {
    const first = await limited.createSubscription(endpointUrl);
    const { principal, recipientId } = first;
    const body = { recipientId, endpointUrl, events: ["order.paid"] };
    const responses = await Promise.all(
      Array.from({ length: 12 }, () => limited.request("POST", path, { principal, body })),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 201, ...Array(10).fill(409)]);
    const problem = await limited.requestProblem({ method: "POST", path, principal, body });
    expect(problem).toMatchObject({
      code: "limit_reached",
      limit: { name: "webhooks", maximum: 3, unit: "webhooks of a location" },
      detail: "A location can have up to 3 webhooks. Delete the webhooks that you no longer need, then try again.",
    });
    const update = { ...body, id: first.webhook.id, events: ["order.call"] };
    await limited.sendJson({ method: "POST", path, principal, body: update }, { status: 200, schema: Webhook });
    expect((await limited.getJson(path, paginatedSchema(Webhook), principal)).meta.totalCount).toBe(3);
    await limited.createSubscription(endpointUrl);

    expect((await limited.request("DELETE", `${path}${first.webhook.id}`, { principal })).status).toBe(204);
    await limited.sendJson({ method: "POST", path, principal, body }, { status: 201, schema: Webhook });
    expect((await limited.requestProblem({ method: "POST", path, principal, body })).code).toBe("limit_reached");
  });
});

describe("in production", () => {
  let production: TestWebhooksService;
  beforeAll(async () => {
    production = await startTestWebhooksService({
      variables: { NODE_ENV: "production", WEBHOOK_ALLOWLIST: "10.9.0.0/16" },
    });
  });
  afterAll(() => production?.remove());

  it("endpoints must use https and must not be local, unless the operator's allowlist contains them", async () => {
    await expect(production.createSubscription("http://10.9.0.1/")).rejects.toThrow("Must be an https URL");
    await expect(production.createSubscription("https://127.0.0.1/")).rejects.toThrow("Must have a public IP address");
    await expect(production.createSubscription("https://localhost:8443/")).rejects.toThrow(
      "Must have a public IP address",
    );
    expect((await production.createSubscription("https://10.9.0.1/")).webhook.state).toBe("active");
  });
});

describe("in production with inboxes of sandboxes", () => {
  let production: TestWebhooksService;
  let inbox: ReturnType<typeof receiver.addEndpoint>;
  beforeAll(async () => {
    inbox = receiver.addEndpoint();
    const { origin } = new URL(inbox.url);
    production = await startTestWebhooksService({
      variables: { NODE_ENV: "production", SANDBOX_INBOX_URL: origin.replace("127.0.0.1", "sandboxes") },
      resolveHost: async () => [{ address: "127.0.0.1", family: 4 }],
    });
  });
  afterAll(() => production?.remove());
  const withHost = (host: string) => inbox.url.replace("127.0.0.1", host);

  it("messages are delivered to the inbox without https and to a private address", async () => {
    const subscription = await production.createSubscription(withHost("sandboxes"));
    const id = await production.publishEvent("order.paid", buildTestOrderEventData(subscription.locationId));
    await production.waitForDelivery(subscription, id, "succeeded");
    expect(inbox.receivedWebhooks).toHaveLength(1);
  });

  it("no other host, port or scheme is allowed", async () => {
    const rejections = [
      [withHost("127.0.0.1"), "Must be an https URL"],
      [withHost("sandboxes.example"), "Must be an https URL"],
      ["http://sandboxes:4090/", "Must be an https URL"],
      [withHost("sandboxes").replace("http:", "https:"), "Must have a public IP address"],
    ] as const;
    for (const [url, reason] of rejections)
      await expect(production.createSubscription(url), url).rejects.toThrow(reason);
  });

  it("connects to no other port of the host of the inbox, even if a webhook in the database names it", async () => {
    const other = await startTestWebhookReceiver();
    const endpoint = other.addEndpoint();
    const subscription = await production.createSubscription(withHost("sandboxes"));
    const { sql } = production.db;
    const url = endpoint.url.replace("127.0.0.1", "sandboxes").replace("http:", "https:");
    await sql`update webhooks set endpoint_url = ${url} where id = ${subscription.webhook.id}`;
    const id = await production.publishEvent("order.paid", buildTestOrderEventData(subscription.locationId));
    const delivery = await eventually("an attempt", async () => {
      const [found] = await sql<{ id: string; failures: number }[]>`
        select id, failures from webhook_deliveries where message_id = ${id}`;
      return found && found.failures > 0 && found;
    });
    const [attempt] = await production.listAttempts(delivery.id);
    expect(String(Object(attempt).error)).toContain("no public address");
    expect(endpoint.receivedWebhooks).toEqual([]);
    await other.close();
  });
});

describe("an existing webhook", () => {
  it("stays paused when it is updated", async () => {
    const { webhook, principal, recipientId } = await service.createSubscription("http://127.0.0.1:9999/one");
    await service.request("POST", `${path}${webhook.id}/pause`, { principal });
    const body = { id: webhook.id, recipientId, endpointUrl: "http://127.0.0.1:9999/two", events: ["order.call"] };
    const changed = await service.sendJson({ method: "POST", path, principal, body }, { status: 200, schema: Webhook });
    expect(changed).toMatchObject({ state: "paused", endpointUrl: body.endpointUrl, events: ["order.call"] });
    const { data } = await service.getJson(path, paginatedSchema(Webhook), principal);
    expect(data).toEqual([changed]);
  });

  it("cannot be read, updated or used from another location", async () => {
    const { webhook } = await service.createSubscription("http://127.0.0.1:9999/");
    const otherSubscription = await service.createSubscription("http://127.0.0.1:9999/");
    const { principal, recipientId } = otherSubscription;
    const body = { id: webhook.id, recipientId, endpointUrl: "http://127.0.0.1:9999/", events: ["order.paid"] };
    expect(await service.requestProblem({ method: "POST", path, principal, body })).toMatchObject({
      code: "webhook_conflict",
    });
    const operations = [
      ["GET", ""],
      ["DELETE", ""],
      ["POST", "/pause"],
      ["POST", "/resume"],
      ["POST", "/test"],
      ["GET", "/deliveries"],
    ] as const;
    for (const [method, subpath] of operations) {
      const problem = await service.requestProblem({ method, path: `${path}${webhook.id}${subpath}`, principal });
      expect(problem, subpath).toMatchObject({ status: 404, code: "webhook_not_found" });
    }
    const since = { since: "2026-01-01T00:00:00Z" };
    const recovery = { method: "POST", path: `${path}${webhook.id}/recover`, principal, body: since };
    expect(await service.requestProblem(recovery)).toMatchObject({ code: "webhook_not_found" });
  });

  it("sends to its new endpoint without delay, and no longer counts the failures of the previous endpoint", async () => {
    const [previousEndpoint, newEndpoint] = [
      receiver.addEndpoint(createFixedStatusResponseHandler(500)),
      receiver.addEndpoint(),
    ];
    const subscription = await service.createSubscription(previousEndpoint.url);
    const { webhook, principal, recipientId, locationId } = subscription;
    await service.publishEvent("order.paid", buildTestOrderEventData(locationId));
    await eventually("a failure", async () => (await getDetails(subscription)).failingSince !== null);
    const body = { id: webhook.id, recipientId, endpointUrl: newEndpoint.url, events: ["order.paid"] };
    const changed = await service.sendJson({ method: "POST", path, principal, body }, { status: 200, schema: Webhook });
    expect(changed).toMatchObject({ failingSince: null, lastError: null });
    const id = await service.publishEvent("order.paid", buildTestOrderEventData(locationId));
    await service.waitForDelivery(subscription, id, "succeeded");
    expect(newEndpoint.receivedWebhooks.map(({ headers }) => headers["webhook-id"])).toContain(id);
  });
});

describe("a paused webhook", () => {
  it("sends only tests, and sends the messages from the pause after it is resumed", async () => {
    const endpoint = receiver.addEndpoint();
    const subscription = await service.createSubscription(endpoint.url);
    const { webhook, principal, locationId } = subscription;
    await service.sendJson(
      { method: "POST", path: `${path}${webhook.id}/pause`, principal },
      { status: 200, schema: Webhook },
    );
    const ids = [
      await service.publishEvent("order.paid", buildTestOrderEventData(locationId)),
      await service.publishEvent("order.paid", buildTestOrderEventData(locationId)),
    ];
    for (const id of ids) await service.waitForDelivery(subscription, id, "pending");
    const test = await service.sendJson(
      { method: "POST", path: `${path}${webhook.id}/test`, principal },
      { status: 202, schema: WebhookDelivery },
    );
    await service.waitForDelivery(subscription, test.messageId, "succeeded");
    expect(endpoint.receivedWebhooks.map(({ headers }) => headers["x-popina-webhook-event"])).toEqual(["test"]);
    expect((await getDetails(subscription)).statistics.pending).toBe(2);
    await service.sendJson(
      { method: "POST", path: `${path}${webhook.id}/resume`, principal },
      { status: 200, schema: Webhook },
    );
    for (const id of ids) await service.waitForDelivery(subscription, id, "succeeded");
  });
});

describe("a test message", () => {
  it("is sent once and shows the response, and its failure does not count for the endpoint", async () => {
    const endpoint = receiver.addEndpoint(createFixedStatusResponseHandler(500, { body: "no such thing" }));
    const subscription = await service.createSubscription(endpoint.url);
    const { webhook, principal, locationId } = subscription;
    const sent = await service.sendJson(
      { method: "POST", path: `${path}${webhook.id}/test`, principal },
      { status: 202, schema: WebhookDelivery },
    );
    expect(sent).toMatchObject({ webhookId: webhook.id, event: "test", state: "pending" });
    const { attempts, payload } = await service.waitForDelivery(subscription, sent.messageId, "failed");
    expect(attempts).toMatchObject([{ status: 500, response: "no such thing", nextAttemptAt: null }]);
    expect(payload).toMatchObject({ meta: { event: "test" }, data: { locationId, webhookId: webhook.id } });
    expect(await getDetails(subscription)).toMatchObject({ failingSince: null });
  });

  it("is sent once for each Idempotency-Key", async () => {
    const endpoint = receiver.addEndpoint();
    const { webhook, principal } = await service.createSubscription(endpoint.url);
    const headers = { "idempotency-key": randomUUID() };
    const request = { method: "POST", path: `${path}${webhook.id}/test`, principal, headers };
    const first = await service.sendJson(request, { status: 202, schema: WebhookDelivery });
    const second = await service.sendJson(request, { status: 202, schema: WebhookDelivery });
    expect(second).toEqual(first);
    await eventually("the test", () => endpoint.receivedWebhooks.length > 0);
    expect(endpoint.receivedWebhooks).toHaveLength(1);
  });
});

describe("a deleted webhook", () => {
  it("is removed with its log, sends nothing, and its id can be reused", async () => {
    const endpoint = receiver.addEndpoint();
    const subscription = await service.createSubscription(endpoint.url);
    const { webhook, principal, recipientId, locationId } = subscription;
    const id = await service.publishEvent("order.paid", buildTestOrderEventData(locationId));
    const delivery = await service.waitForDelivery(subscription, id, "succeeded");
    const response = await service.request("DELETE", `${path}${webhook.id}`, { principal });
    expect(response.status).toBe(204);
    for (const address of [`${path}${webhook.id}`, `${path}deliveries/${delivery.id}`]) {
      expect((await service.request("GET", address, { principal })).status).toBe(404);
    }
    expect(await service.listAttempts(delivery.id)).toEqual([]);
    await service.publishEvent("order.paid", buildTestOrderEventData(locationId));
    const body = { id: webhook.id, recipientId, endpointUrl: endpoint.url, events: ["order.paid"] };
    await service.sendJson({ method: "POST", path, principal, body }, { status: 201, schema: Webhook });
    expect(endpoint.receivedWebhooks).toHaveLength(1);
  });
});

it("deletes many webhooks with long logs concurrently", async () => {
  const { principal, recipientId, locationId } = await service.createSubscription("http://127.0.0.1:9999/hook");
  const body = { recipientId, endpointUrl: "http://127.0.0.1:9999/hook", events: ["order.paid"] };
  const subscribe = () => service.sendJson({ method: "POST", path, principal, body }, { status: 201, schema: Webhook });
  for (let round = 1; round <= 3; round += 1) {
    const webhooks = await Promise.all(Array.from({ length: 8 }, subscribe));
    const ids = webhooks.map(({ id }) => id);
    await service.db.sql`
      with message as (
        insert into webhook_messages (location_id, id, subject, created_on, body, created_at)
        select ${locationId}, gen_random_uuid(), gen_random_uuid(), (now() at time zone 'UTC')::date, '{}', now()
        from generate_series(1, 1500) returning id
      )
      insert into webhook_deliveries
        (location_id, id, message_id, webhook_id, event, state, generation, attempt, failures, settled_at, created_at)
      select ${locationId}, gen_random_uuid(), message.id, webhook_id, 'order.paid', 'succeeded', 1, 1, 0, now(), now()
      from message, unnest(${ids}::uuid[]) as webhook_id order by random()`;
    const removals = ids.map((id) => service.request("DELETE", `${path}${id}`, { principal }));
    expect((await Promise.all(removals)).map(({ status }) => status)).toEqual(ids.map(() => 204));
    const remaining = await service.db.sql`select 1 from webhook_deliveries where webhook_id = any(${ids}::uuid[])`;
    expect(remaining.length).toBe(0);
  }
}, 240_000);

it("returns the statistics of a webhook's deliveries", async () => {
  const endpoint = receiver.addEndpoint();
  const subscription = await service.createSubscription(endpoint.url);
  expect((await getDetails(subscription)).statistics).toEqual({
    pending: 0,
    lastDay: { succeeded: 0, failed: 0, averageMilliseconds: null },
    lastSucceededAt: null,
    lastFailedAt: null,
  });
  for (const status of [204, 200, 500]) {
    endpoint.setHandler(createFixedStatusResponseHandler(status, { delayMs: 20 }));
    const id = await service.publishEvent("order.paid", buildTestOrderEventData(subscription.locationId));
    await eventually("an attempt", async () => {
      const [delivery] = await service.listDeliveries(subscription);
      return delivery?.messageId === id && (await service.listAttempts(delivery.id)).length === 1;
    });
  }
  const { statistics } = await getDetails(subscription);
  expect(statistics).toMatchObject({ pending: 1, lastDay: { succeeded: 2, failed: 1 } });
  expect(statistics.lastDay.averageMilliseconds).toBeGreaterThanOrEqual(19);
  expect(Date.parse(statistics.lastFailedAt ?? "")).toBeGreaterThan(Date.parse(statistics.lastSucceededAt ?? ""));
});
