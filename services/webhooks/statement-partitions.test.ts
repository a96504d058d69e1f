import { randomUUID } from "node:crypto";
import { eventually } from "@pragma/runtime/testing/eventually";
import { multiPartitionStatements } from "@pragma/runtime/testing/multi-partition-statements";
import {
  assertStatementsUseOnePartition,
  listMultiPartitionPlans,
  type StatementPlan,
} from "@pragma/runtime/testing/statement-recorder";
import { afterAll, beforeAll, expect, it } from "vitest";
import { buildTestOrderEventData } from "./testing/event-publisher.ts";
import {
  createWebhooksTestPrincipal,
  startTestWebhooksService,
  type TestWebhooksService,
} from "./testing/start-test-webhooks.ts";
import {
  createFixedStatusResponseHandler,
  startTestWebhookReceiver,
  type TestWebhookReceiver,
} from "./testing/webhook-receiver.ts";

const operator = createWebhooksTestPrincipal({ location: null, scopes: ["webhooks:write", "locations:any"] });
let service: TestWebhooksService;
let receiver: TestWebhookReceiver;
let plans: StatementPlan[];

beforeAll(async () => {
  [service, receiver] = await Promise.all([
    startTestWebhooksService({ pollSeconds: 0.1, variables: { WEBHOOK_RETRY_SCHEDULE: "1s" } }),
    startTestWebhookReceiver(),
  ]);
  const { sql } = service.db;
  const endpoint = receiver.addEndpoint();
  const subscription = await service.createSubscription(endpoint.url);
  const { principal, locationId, webhook, recipientId } = subscription;
  const publish = (id: string = randomUUID()) => {
    const event = buildTestOrderEventData(locationId, { id });
    // Without personal data, an erasure does not change the message.
    event.order.firebaseCustomerName = "Ada";
    return service.publishEvent("order.paid", event);
  };
  const orderId = randomUUID();
  const messageId = await publish(orderId);
  const delivery = await service.waitForDelivery(subscription, messageId, "succeeded");

  endpoint.setHandler(createFixedStatusResponseHandler(500));
  await service.waitForDelivery(subscription, await publish(), "failed");
  endpoint.setHandler(createFixedStatusResponseHandler(204));
  const body = { since: "2020-01-01T00:00:00Z" };
  const recovery = await service.request("POST", `/v1/webhooks/${webhook.id}/recover`, { principal, body });
  const { id: recoveryId } = (await recovery.json()) as { id: string };
  await service.request("GET", `/v1/webhooks/${webhook.id}/recoveries/${recoveryId}`, { principal });
  await service.request("POST", `/v1/webhooks/${webhook.id}/test`, { principal });
  await service.request("POST", `/v1/recipients/${recipientId}/rotate`, { principal, body: {} });
  for (const reader of [principal, operator]) {
    for (const path of [
      `/v1/webhooks/deliveries/${delivery.id}`,
      `/v1/webhooks/${webhook.id}`,
      `/v1/webhooks/${webhook.id}/deliveries?state=succeeded&since=2020-01-01T00:00:00Z`,
      `/v1/webhooks/?locationId=${locationId}`,
      `/v1/recipients/?locationId=${locationId}`,
    ])
      expect((await service.request("GET", path, { principal: reader })).status, path).toBe(200);
    await service.request("POST", `/v1/webhooks/deliveries/${delivery.id}/replay`, { principal: reader });
  }
  const erasedId = await service.publishEvent("orders.erased", {
    ...{ locationId, tillId: null, orderIds: [orderId], isWholeTill: false },
  });
  await eventually("the erasure", async () => (await sql`select from inbox where event_id = ${erasedId}`).length === 1);
  const waitForEnd = () =>
    eventually(
      "all deliveries to end",
      async () => (await sql`select from webhook_deliveries where state in ('pending', 'sending')`).length === 0,
    );
  await waitForEnd();
  // Deliveries of two earlier days, which become due together. The plans are those of the last values of each statement.
  const receivedCount = endpoint.receivedWebhooks.length;
  await service.request("POST", `/v1/webhooks/${webhook.id}/pause`, { principal });
  await sql`select create_day_partitions((now() at time zone 'UTC')::date - 2, (now() at time zone 'UTC')::date)`;
  for (const days of [1, 2]) {
    const earlierId = await publish();
    await service.waitForDelivery(subscription, earlierId, "pending");
    for (const [table, id] of [
      ["webhook_messages", "id"],
      ["webhook_deliveries", "message_id"],
    ] as const) {
      const day = sql`created_on = created_on - ${days}::int,`;
      await sql`
        update ${sql(table)} set ${table === "webhook_messages" ? day : sql``} created_at = created_at - ${days} * interval '24 hours'
        where ${sql(id)} = ${earlierId}`;
    }
  }
  await service.request("POST", `/v1/webhooks/${webhook.id}/resume`, { principal });
  await eventually("the earlier messages", () => endpoint.receivedWebhooks.length === receivedCount + 2);
  await waitForEnd();
  expect((await service.request("DELETE", `/v1/webhooks/${webhook.id}`, { principal })).status).toBe(204);
  for (const query of ["", "?allLocations=true"]) {
    const changes = await service.request("GET", `/v1/changes/${query}`, {
      principal: { ...principal, scopes: ["admin"] },
    });
    expect(await changes.json()).toMatchObject({ data: [{ locationId }, { locationId }] });
  }
  plans = await service.statements.explainStatements(service.db);
}, 300_000);
afterAll(async () => {
  await service?.remove();
  await receiver?.close();
});

it("reads one partition of messages and of attempts in a statement, except for listed statements", async () => {
  const texts = plans.filter(({ partitions }) => partitions.size > 0).map(({ text }) => text);
  for (const pattern of [
    /^select m\.id, m\.body, m\.traceparent from/,
    /^select body from webhook_messages/,
    /from attempts where/,
    /^update webhook_messages set body/,
    /^update attempts set response/,
    /delete from attempts a using selected/,
  ])
    expect(texts).toContainEqual(expect.stringMatching(pattern));
  await assertStatementsUseOnePartition(service.db, service.statements);
});

it("sends the listed statements", () => {
  const texts = listMultiPartitionPlans(plans).map(({ text }) => text);
  for (const { service: name, pattern } of multiPartitionStatements) {
    if (name === "webhooks") expect(texts.some((text) => pattern.test(text))).toBe(true);
  }
});

it("names the location of deliveries in every statement, except for operators and for searches of all locations", () => {
  const namesLocation = (text: string) =>
    /(where|and|on) [^()]*location_id = (\$\d+|\w+\.location_id)/.test(text) || /^with input_message/.test(text);
  const others = plans
    .map(({ text }) => text)
    .filter((text) => /\b(from|update|join|into) webhook_deliveries\b/.test(text) && !namesLocation(text));
  const searchesAllLocations = [
    /state = 'sending' limit/,
    /created_at < \$1 and state <> 'sending'/,
    /event = 'test' and due_at <= \$1 limit 1/,
    /event = 'test'\) as is_unsettled/,
  ];
  expect(others.filter((text) => !searchesAllLocations.some((pattern) => pattern.test(text)))).toEqual([]);
});
