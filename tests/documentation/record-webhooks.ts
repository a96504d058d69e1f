import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { eventually } from "@pragma/runtime/testing/eventually";
import type { DocumentationExampleLocation } from "./documentation-fixture.ts";
import {
  createExampleOrder,
  createExamplePaymentRow,
  createExampleProductRow,
  createExampleUuid,
} from "./example-order.ts";

const secret = "4f2d8c0b7a6e5d4c3b2a19080f7e6d5c4b3a29180f7e6d5c4b3a291807f6e5d4";
const documentedEndpointUrl = "https://stock.example/webhooks/pragma";

interface Delivery {
  id: string;
  messageId: string;
  state: string;
}

interface ReceivedWebhookMessage {
  headers: IncomingHttpHeaders;
  body: string;
}

/**
 * Records the examples of a recipient, a webhook, a message that is delivered on the second attempt, a replay, a
 * recovery and a secret rotation.
 */
export async function recordWebhookExamples({ recorder }: DocumentationExampleLocation): Promise<void> {
  const { recordExchange, sendRequest, recordExample, normalize } = recorder;
  const endpoint = await startWebhookEndpoint();
  const recipient = await recordExchange("webhook-recipient", {
    method: "POST",
    path: "/v1/recipients/",
    body: { name: "Stock keeper", hmacSecret: secret },
  });
  const newWebhook = {
    recipientId: recipient.id,
    endpointUrl: endpoint.url,
    events: ["order.paid", "report.finalized"],
  };
  const { body: webhook, response } = await sendRequest({ method: "POST", path: "/v1/webhooks/", body: newWebhook });
  const withDocumentedUrl = (value: object) => ({ ...value, endpointUrl: documentedEndpointUrl });
  recordExample("webhook", {
    request: {
      method: "POST",
      path: "/v1/webhooks/",
      headers: { authorization: "Bearer <your key>" },
      body: withDocumentedUrl(newWebhook),
    },
    reply: { status: response.status, headers: {}, body: withDocumentedUrl(webhook) },
  });

  await recordExchange("webhook-test", { method: "POST", path: `/v1/webhooks/${webhook.id}/test` });
  const testMessage = await eventually("the test to arrive", () => endpoint.messagesWith('"event":"test"')[0]);
  recordExample("webhook-test-message", describeMessage(testMessage, normalize));

  const wine = createExampleProductRow(3001, "Verre de vin", 600);
  const paid = createExampleOrder(
    3000,
    { products: [wine], payments: [createExamplePaymentRow(3002, 600)] },
    { tableName: "7" },
  );
  const tillId = createExampleUuid(3003);
  recorder.keepIds([paid, tillId]);
  endpoint.failOnce(paid.id);
  await sendRequest({
    method: "POST",
    path: "/v1/orders-live/",
    body: [{ id: paid.id, tillId, revisionHash: "rev-1", data: paid }],
  });
  const secondAttempt = await eventually("the second attempt", () => endpoint.messagesWith(paid.id)[1], {
    timeoutSeconds: 30,
  });
  recordExample("webhook-message", describeMessage(secondAttempt, normalize));

  const deliveries = `/v1/webhooks/${webhook.id}/deliveries`;
  const delivered = await eventually("the delivery to be settled", async () => {
    const { body } = await sendRequest({ path: `${deliveries}?event=order.paid` });
    const { "webhook-id": messageId } = secondAttempt.headers;
    return body.data.find((delivery: Delivery) => delivery.messageId === messageId && delivery.state === "succeeded");
  });
  await recordExchange("webhook-delivery", { path: `/v1/webhooks/deliveries/${delivered.id}` });
  await recordExchange("webhook-replay", { method: "POST", path: `/v1/webhooks/deliveries/${delivered.id}/replay` });
  await recordExchange("webhook-recover", {
    method: "POST",
    path: `/v1/webhooks/${webhook.id}/recover`,
    body: { since: "2026-05-31T00:00:00.000Z" },
  });
  const next = `${secret.slice(32)}${secret.slice(0, 32)}`;
  await recordExchange("webhook-rotate", {
    method: "POST",
    path: `/v1/recipients/${recipient.id}/rotate`,
    body: { hmacSecret: next },
  });
  endpoint.close();
}

/**
 * Returns the example of a received message. Its values are normalized, and it has new signatures for these values, so
 * that readers can verify it. The received signatures are verified first.
 */
function describeMessage({ headers, body }: ReceivedWebhookMessage, normalize: <Value>(value: Value) => Value) {
  const receivedTimestamp = String(headers["webhook-timestamp"]);
  const signatures = computeSignatures(String(headers["webhook-id"]), receivedTimestamp, body);
  for (const [name, value] of Object.entries(signatures))
    if (headers[name] !== value) throw new Error(`${name} is ${headers[name]}, and not ${value}.`);

  const normalized = normalize(JSON.parse(body));
  const text = JSON.stringify(normalized);
  const timestamp = String(Date.parse("2026-06-01T09:00:00.000Z") / 1_000);
  return {
    headers: {
      "content-type": headers["content-type"],
      "webhook-id": normalized.meta.id,
      "webhook-timestamp": timestamp,
      "x-popina-webhook-id": normalized.meta.id,
      "x-popina-webhook-event": headers["x-popina-webhook-event"],
      ...computeSignatures(normalized.meta.id, timestamp, text),
    },
    body: normalized,
    text,
    secret,
  };
}

function computeSignatures(id: string, timestamp: string, body: string): Record<string, string> {
  const hmac = (signatures: string) => createHmac("sha256", secret).update(signatures).digest();
  return {
    "webhook-signature": `v1,${hmac(`${id}.${timestamp}.${body}`).toString("base64")}`,
    "x-popina-hmac-signature": hmac(body).toString("hex"),
  };
}

/**
 * Starts a webhook endpoint. Tests must find messages by their text, because the endpoint can also receive messages
 * about events that occurred just before the subscription.
 */
async function startWebhookEndpoint() {
  const messages: ReceivedWebhookMessage[] = [];
  let failingText: string | undefined;
  const server = createServer(async (request, response) => {
    const body = await text(request);
    messages.push({ headers: request.headers, body });
    const isFailing = failingText !== undefined && body.includes(failingText);
    if (isFailing) failingText = undefined;
    response.writeHead(isFailing ? 503 : 204).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`,
    /** Returns the received messages whose body contains this text, from first to last. */
    messagesWith: (part: string) => messages.filter(({ body }) => body.includes(part)),
    /** Responds with 503 to the next message whose body contains this text. */
    failOnce(part: string) {
      failingText = part;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
