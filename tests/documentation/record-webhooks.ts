import { buildServiceSchemaName } from "@pragma/runtime/service/start-service";
import { eventually } from "@pragma/runtime/testing/eventually";
import type { IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import postgres from "postgres";
import type { DocumentationExampleLocation } from "./documentation-fixture.ts";
import { documentedRotatedSecret, withDocumentedRecipient, withDocumentedTimes } from "./documented-webhook-values.ts";
import { recordDelivery, recordFailedDelivery } from "./record-webhook-deliveries.ts";
import {
  type RecordMessage,
  recordFailingEndpointMessages,
  recordOrderMessages,
  recordReportMessages,
} from "./record-webhook-messages.ts";
import { startExampleWebhookEndpoint } from "./webhook-endpoint.ts";
import { day, paid } from "./webhook-example-orders.ts";
import { describeTestVector, describeWebhookMessage } from "./webhook-message-example.ts";

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
    const record: RecordMessage = (event, message, times) =>
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

    await recordReportMessages(fixture, endpoint, record);
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
