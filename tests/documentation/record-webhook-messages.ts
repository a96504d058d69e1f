import { eventually } from "@pragma/runtime/testing/eventually";
import type { DocumentationExampleLocation } from "./documentation-fixture.ts";
import { createExampleUuid } from "./example-order.ts";
import type { ReceivedWebhookMessage, startExampleWebhookEndpoint } from "./webhook-endpoint.ts";
import {
  canceled,
  createOrder,
  day,
  open,
  opened,
  paid,
  reopenExampleOrder,
  till,
  tillId,
  transferred,
  wine,
} from "./webhook-example-orders.ts";

export type RecordMessage = (
  event: string,
  message: ReceivedWebhookMessage,
  times: Record<string, string | string[]>,
) => void;
type Endpoint = Awaited<ReturnType<typeof startExampleWebhookEndpoint>>;

/** Sends live orders that cause one message of each order event. The endpoint rejects the first message of the payment. */
export async function recordOrderMessages(
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

/** Pushes the till of the documented day and replaces it, and records the messages about its report. */
export async function recordReportMessages(
  { recorder }: DocumentationExampleLocation,
  endpoint: Endpoint,
  record: RecordMessage,
) {
  await recorder.sendRequest({ method: "POST", path: "/v2/tills", body: till });
  const finalized = await eventually("the report", () => endpoint.messagesOf("report.finalized", tillId)[0]);
  record("report.finalized", finalized, { emittedAt: `${day}T13:05:03.871Z` });
  await recorder.sendRequest({ method: "PUT", path: `/v1/tills/${tillId}`, body: { ...till, reportNumber: 27 } });
  const replaced = await eventually("the replacement", () => endpoint.messagesOf("report.replaced", tillId)[0]);
  record("report.replaced", replaced, { emittedAt: `${day}T13:20:11.402Z` });
}

/** Records the messages about another endpoint of the recipient, which has been failing for days. */
export async function recordFailingEndpointMessages(
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
