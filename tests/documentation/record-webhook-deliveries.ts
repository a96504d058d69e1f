import { eventually } from "@pragma/runtime/testing/eventually";
import { webhooksServiceConfigSchema } from "@pragma/webhooks/config";
import type { DocumentationExampleLocation } from "./documentation-fixture.ts";
import { withDocumentedSignatures, withDocumentedTimes } from "./documented-webhook-values.ts";
import { createExampleUuid } from "./example-order.ts";
import { createOrder, day, open, wine } from "./webhook-example-orders.ts";

interface Delivery {
  id: string;
  messageId: string;
  state: string;
}

/** Records the delivery of a message whose first attempt failed, its replay, and a recovery. */
export async function recordDelivery(
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
export async function recordFailedDelivery(
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
