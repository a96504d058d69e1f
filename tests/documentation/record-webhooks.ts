import { tillV2Example } from "@pragma/contracts/examples/till-v2";
import { buildServiceSchemaName } from "@pragma/runtime/service/start-service";
import { eventually } from "@pragma/runtime/testing/eventually";
import type { IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { webhooksServiceConfigSchema } from "@pragma/webhooks/config";
import postgres from "postgres";
import type { DocumentationExampleLocation } from "./documentation-fixture.ts";
import {
  documentedRotatedSecret,
  withDocumentedRecipient,
  withDocumentedSignatures,
  withDocumentedTimes,
} from "./documented-webhook-values.ts";
import {
  createExampleOrder,
  createExamplePaymentRow,
  createExampleProductRow,
  createExampleUuid,
} from "./example-order.ts";
import { type ReceivedWebhookMessage, startExampleWebhookEndpoint } from "./webhook-endpoint.ts";
import { describeTestVector, describeWebhookMessage } from "./webhook-message-example.ts";

interface Delivery {
  id: string;
  messageId: string;
  state: string;
}

const tillId = createExampleUuid(3099);
const day = "2026-06-01";

/** Returns an order of the documented day, with other times than the default ones of example orders. */
function createOrder(...order: Parameters<typeof createExampleOrder>): ReturnType<typeof createExampleOrder> {
  return JSON.parse(JSON.stringify(createExampleOrder(...order)).replaceAll("2026-05-31", day));
}

const wine = createExampleProductRow(3001, "Verre de vin", 600);
const steak = createExampleProductRow(3002, "Entrecôte frites", 1950);
const open = { isPaid: false, closedAt: null };
const opened = createOrder(3000, { products: [wine, steak], payments: [] }, { ...open, tableName: "7" });
const payment = createExamplePaymentRow(3003, 2550);
const paid = createOrder(
  3000,
  { products: [wine, steak], payments: [payment] },
  { tableName: "7", paidAt: `${day}T11:10:00.000Z`, modifiedAt: `${day}T11:10:00.000Z` },
);

const salad = createExampleProductRow(3011, "Salade niçoise", 1400);
const canceled = createOrder(
  3010,
  { products: [salad], payments: [] },
  {
    tableName: "9",
    isCanceled: true,
    canceledAt: `${day}T10:25:00.000Z`,
    closedAt: `${day}T10:25:00.000Z`,
    modifiedAt: `${day}T10:25:00.000Z`,
    canceledReason: "Client parti",
  },
);

const special = createExampleProductRow(3021, "Plat du jour", 1600);
const transferred = createOrder(
  3020,
  { products: [special], payments: [] },
  {
    tableName: "4",
    isTransferred: true,
    transferredAt: `${day}T11:10:00.000Z`,
    modifiedAt: `${day}T11:10:00.000Z`,
    transferredTo: "Chambre 12",
  },
);
/** Returns the order as it was before it was canceled or transferred. */
function reopenExampleOrder(order: typeof paid): typeof paid {
  const notCanceled = { isCanceled: false, canceledAt: null, canceledReason: null };
  const notTransferred = { isTransferred: false, transferredAt: null, transferredTo: null };
  return { ...order, ...open, ...notCanceled, ...notTransferred, modifiedAt: null };
}

const till = {
  ...tillV2Example,
  ...{ id: tillId, reportNumber: 26, financialMovementList: [], declaredPaymentList: [], clerkShiftList: [] },
  ...{ startedAt: `${day}T09:30:00.000Z`, finalizedAt: `${day}T13:05:00.000Z` },
  orderList: [paid, canceled, transferred],
};

/**
 * Records the examples of the webhook guides: a recipient, a webhook, a message of each event, a delivery that succeeds
 * on the second attempt, a replay, a recovery, a delivery that fails, and a secret rotation.
 */
export async function recordWebhookExamples(
  fixture: DocumentationExampleLocation,
  environment: IsolatedTestEnvironment,
): Promise<void> {
  const { recorder } = fixture;
  const endpoint = await startExampleWebhookEndpoint();
  const sql = postgres(String(environment.variables.DATABASE_URL), { max: 1, onnotice: () => {} });
  try {
    const { recipientId, webhookId, secret } = await recordSubscription(fixture, endpoint.url);
    const record = (event: string, message: ReceivedWebhookMessage, times: Record<string, string | string[]>) =>
      recorder.recordedExamples.set(
        event === "test" ? "webhook-test-message" : `webhook-message-${event.replace(".", "-")}`,
        describeWebhookMessage(message, { secret, normalize: recorder.normalize, endpointUrl: endpoint.url, times }),
      );

    const test = await eventually("the test message", () => endpoint.messagesOf("test")[0]);
    record("test", test, { emittedAt: `${day}T08:31:10.214Z` });
    recorder.recordedExamples.set(
      "webhook-test-vector",
      describeTestVector(recorder.recordedExamples.get("webhook-test-message")),
    );

    await recordOrderMessages(fixture, endpoint, record);
    const attempted = await eventually("the second attempt", () => endpoint.messagesOf("order.paid", paid.id)[1], {
      timeoutSeconds: 30,
    });
    record("order.paid", attempted, { emittedAt: `${day}T11:10:02.318Z` });
    await recordDelivery(fixture, { webhookId, messageId: String(attempted.headers["webhook-id"]) });

    await recorder.sendRequest({ method: "POST", path: "/v2/tills", body: till });
    const finalized = await eventually("the report", () => endpoint.messagesOf("report.finalized", tillId)[0]);
    record("report.finalized", finalized, { emittedAt: `${day}T13:05:03.871Z` });
    await recorder.sendRequest({ method: "PUT", path: `/v1/tills/${tillId}`, body: { ...till, reportNumber: 27 } });
    const replaced = await eventually("the replacement", () => endpoint.messagesOf("report.replaced", tillId)[0]);
    record("report.replaced", replaced, { emittedAt: `${day}T13:20:11.402Z` });

    const schema = sql(buildServiceSchemaName(environment.namespace, "webhooks"));
    await recordFailedDelivery(fixture, {
      ...{ recipientId, endpointUrl: endpoint.failingUrl },
      makeDue: async (id) => {
        await sql`update ${schema}.webhook_deliveries set due_at = now() where id = ${id} and state = 'pending'`;
      },
    });
    await recordFailingEndpointMessages(fixture, {
      ...{ recipientId, endpoint, record },
      setFailingSince: async (id, since) => {
        await sql`update ${schema}.webhooks set failing_since = ${since} where id = ${id}`;
      },
    });
    await recordRotation(fixture, recipientId);
  } finally {
    await sql.end();
    endpoint.close();
  }
}

/** Records the requests that create a recipient and a webhook, and request a test message. */
async function recordSubscription({ recorder }: DocumentationExampleLocation, url: string) {
  const times = { createdAt: `${day}T08:30:00.000Z`, updatedAt: `${day}T08:30:00.000Z` };
  const recipient = await recorder.recordExchange("webhook-recipient", {
    method: "POST",
    path: "/v1/recipients",
    body: { name: "Stock keeper" },
  });
  recorder.updateExample("webhook-recipient", (example) =>
    withDocumentedTimes(withDocumentedRecipient(example), times),
  );
  const orderEvents = ["order.call", "order.paid", "order.canceled", "order.transferred"];
  const events = [...orderEvents, "report.finalized", "report.replaced"];
  const webhook = await recorder.recordExchange("webhook", {
    method: "POST",
    path: "/v1/webhooks",
    body: { recipientId: recipient.id, endpointUrl: url, events },
  });
  recorder.updateExample("webhook", (example) =>
    withDocumentedTimes(withDocumentedRecipient(example, { endpointUrl: url }), times),
  );
  await recorder.recordExchange("webhook-test", { method: "POST", path: `/v1/webhooks/${webhook.id}/test` });
  const requestedAt = `${day}T08:31:10.214Z`;
  recorder.updateExample("webhook-test", (example) =>
    withDocumentedTimes(example, { createdAt: requestedAt, nextAttemptAt: requestedAt }),
  );
  return { recipientId: recipient.id, webhookId: webhook.id, secret: recipient.hmacSecret };
}

type RecordMessage = (event: string, message: ReceivedWebhookMessage, times: Record<string, string | string[]>) => void;
type Endpoint = Awaited<ReturnType<typeof startExampleWebhookEndpoint>>;

/** Sends live orders that cause one message of each order event. The endpoint rejects the first message of the payment. */
async function recordOrderMessages(
  { recorder }: DocumentationExampleLocation,
  endpoint: Endpoint,
  record: RecordMessage,
) {
  const send = async (data: typeof paid, revisionHash: string) => {
    const order = { id: data.id, tillId, revisionHash, data };
    const { response } = await recorder.sendRequest({ method: "POST", path: "/v1/orders-live", body: [order] });
    if (!response.ok) throw new Error(`Sending a live order returned ${response.status}.`);
  };
  await send(opened, "rev-1");
  const call = await eventually("order.call", () => endpoint.messagesOf("order.call", opened.id)[0]);
  record("order.call", call, { emittedAt: `${day}T10:20:01.105Z` });
  await send(reopenExampleOrder(canceled), "rev-1");
  await send(canceled, "rev-2");
  const cancel = await eventually("order.canceled", () => endpoint.messagesOf("order.canceled", canceled.id)[0]);
  record("order.canceled", cancel, { emittedAt: `${day}T10:25:01.442Z` });
  await send(reopenExampleOrder(transferred), "rev-1");
  await send(transferred, "rev-2");
  const transfer = await eventually("transfer", () => endpoint.messagesOf("order.transferred", transferred.id)[0]);
  record("order.transferred", transfer, { emittedAt: `${day}T11:10:01.730Z` });
  endpoint.failOnce(paid.id);
  await send(paid, "rev-2");
}

/** Records the delivery of a message whose first attempt failed, its replay, and a recovery. */
async function recordDelivery(
  { recorder }: DocumentationExampleLocation,
  { webhookId, messageId }: { webhookId: string; messageId: string },
) {
  const delivered = await eventually("the end of the delivery", async () => {
    const { body } = await recorder.sendRequest({ path: `/v1/webhooks/${webhookId}/deliveries?event=order.paid` });
    return body.data.find((delivery: Delivery) => delivery.messageId === messageId && delivery.state === "succeeded");
  });
  const times = {
    createdAt: `${day}T11:10:02.340Z`,
    emittedAt: `${day}T11:10:02.318Z`,
    settledAt: `${day}T11:10:07.774Z`,
    startedAt: [`${day}T11:10:02.352Z`, `${day}T11:10:07.736Z`],
    nextAttemptAt: `${day}T11:10:07.702Z`,
  };
  const delivery = `/v1/webhooks/deliveries/${delivered.id}`;
  await recorder.recordExchange("webhook-delivery", { path: delivery });
  recorder.updateExample("webhook-delivery", (example) =>
    withDocumentedSignatures(withDocumentedTimes(example, times)),
  );
  await recorder.recordExchange("webhook-replay", { method: "POST", path: `${delivery}/replay` });
  recorder.updateExample("webhook-replay", (example) =>
    withDocumentedTimes(example, { ...times, nextAttemptAt: `${day}T14:00:00.000Z` }),
  );
  await recorder.recordExchange("webhook-recover", {
    method: "POST",
    path: `/v1/webhooks/${webhookId}/recover`,
    body: { since: `${day}T09:00:00.000Z` },
  });
  recorder.updateExample("webhook-recover", (example) =>
    withDocumentedTimes(example, { createdAt: `${day}T14:05:00.000Z` }),
  );
}

/** Records a delivery whose ten attempts failed, and the list of failed deliveries. The attempts do not wait for days. */
async function recordFailedDelivery(
  { recorder }: DocumentationExampleLocation,
  {
    recipientId,
    endpointUrl,
    makeDue,
  }: {
    recipientId: string;
    endpointUrl: string;
    /** Makes the next attempt of a delivery due now. */
    makeDue: (deliveryId: string) => Promise<void>;
  },
) {
  const { sendRequest, recordExchange, updateExample } = recorder;
  const newWebhook = { recipientId, endpointUrl, events: ["order.call"] };
  const { body: webhook } = await sendRequest({ method: "POST", path: "/v1/webhooks", body: newWebhook });
  const data = createOrder(3040, { products: [wine], payments: [] }, open);
  const order = { id: data.id, tillId: createExampleUuid(3097), revisionHash: "rev-1", data };
  await sendRequest({ method: "POST", path: "/v1/orders-live", body: [order] });
  const list = { path: `/v1/webhooks/${webhook.id}/deliveries?state=failed` };
  const delivery = await eventually("the delivery", async () => {
    const { body } = await sendRequest({ path: `/v1/webhooks/${webhook.id}/deliveries` });
    return body.data[0] as Delivery | undefined;
  });
  const path = `/v1/webhooks/deliveries/${delivery.id}`;
  for (let number = 1; number <= retryScheduleMs.length; number += 1) {
    await eventually(`the end of attempt ${number}`, async () => {
      const { body } = await sendRequest({ path });
      // The state is not checked, because the API may have read it before the attempts.
      return typeof body.attempts[number - 1]?.status === "number";
    });
    await makeDue(delivery.id);
    // Makes the API look for due deliveries at once.
    await sendRequest({ method: "POST", path: `/v1/webhooks/${webhook.id}/resume` });
  }
  await eventually("the delivery to fail", async () => (await sendRequest({ path })).body.state === "failed");
  await recordExchange("webhook-delivery-failed", { path });
  await recordExchange("webhook-deliveries-failed", list);
  for (const name of ["webhook-delivery-failed", "webhook-deliveries-failed"])
    updateExample(name, (example) => withDocumentedTimes(example, createFailedDeliveryTimes()));
  updateExample("webhook-delivery-failed", withDocumentedSignatures);
  await recordExchange("webhook-replay-failed", {
    ...{ method: "POST", path: "/v1/webhooks/deliveries/replay" },
    body: { event: "order.call", since: day },
  });
  await sendRequest({ method: "DELETE", path: `/v1/webhooks/${webhook.id}` });
}

/** The delay before each retry, in milliseconds. */
const retryScheduleMs = webhooksServiceConfigSchema.shape.WEBHOOK_RETRY_SCHEDULE.parse(undefined);

/** Returns the times of a delivery whose attempts follow the retry schedule, with delays that are 4% longer. */
function createFailedDeliveryTimes() {
  const attemptMs = 38;
  const startedAt = [Date.parse(`${day}T10:16:02.352Z`)];
  const nextAttemptAt: number[] = [];
  for (const delayMs of retryScheduleMs) {
    const nextMs = Number(startedAt.at(-1)) + attemptMs + Math.round(delayMs * 1.04);
    nextAttemptAt.push(nextMs);
    startedAt.push(nextMs + 9);
  }
  const toIso = (ms: number) => new Date(ms).toISOString();
  return {
    createdAt: `${day}T10:16:02.340Z`,
    emittedAt: `${day}T10:16:02.318Z`,
    startedAt: startedAt.map(toIso),
    nextAttemptAt: nextAttemptAt.map(toIso),
    settledAt: toIso(Number(startedAt.at(-1)) + attemptMs),
  };
}

/** Records the messages about another endpoint of the recipient, which has been failing for days. */
async function recordFailingEndpointMessages(
  { recorder }: DocumentationExampleLocation,
  {
    recipientId,
    endpoint,
    record,
    setFailingSince,
  }: {
    recipientId: string;
    endpoint: Endpoint;
    record: RecordMessage;
    setFailingSince: (webhookId: string, since: Date) => Promise<void>;
  },
) {
  const { body: failing } = await recorder.sendRequest({
    method: "POST",
    path: "/v1/webhooks",
    body: { recipientId, endpointUrl: endpoint.failingUrl, events: ["order.call"] },
  });
  const failForDays = async (days: number, orderNumber: number) => {
    await setFailingSince(failing.id, new Date(Date.now() - days * 24 * 3_600_000));
    const data = createOrder(orderNumber, { products: [wine], payments: [] }, open);
    const order = { id: data.id, tillId: createExampleUuid(3098), revisionHash: "rev-1", data };
    await recorder.sendRequest({ method: "POST", path: "/v1/orders-live", body: [order] });
  };
  const times = { failingSince: `${day}T18:02:11.903Z` };
  await failForDays(2.5, 3031);
  const warning = await eventually("endpoint.failing", () => endpoint.messagesOf("endpoint.failing", failing.id)[0]);
  record("endpoint.failing", warning, { ...times, emittedAt: "2026-06-04T06:40:27.118Z" });
  await failForDays(5, 3032);
  const disabled = await eventually("endpoint.disabled", () => endpoint.messagesOf("endpoint.disabled", failing.id)[0]);
  record("endpoint.disabled", disabled, { ...times, emittedAt: "2026-06-06T18:15:40.561Z" });
}

async function recordRotation({ recorder }: DocumentationExampleLocation, recipientId: string) {
  await recorder.recordExchange("webhook-rotate", {
    method: "POST",
    path: `/v1/recipients/${recipientId}/rotate`,
    body: {},
  });
  const rotatedAt = "2026-06-15T08:00:00.000Z";
  recorder.updateExample("webhook-rotate", (example) =>
    withDocumentedTimes(withDocumentedRecipient(example, { secret: documentedRotatedSecret }), {
      createdAt: [`${day}T08:30:00.000Z`, rotatedAt, `${day}T08:30:00.000Z`],
      updatedAt: rotatedAt,
      expiresAt: "2026-06-16T08:00:00.000Z",
    }),
  );
}
