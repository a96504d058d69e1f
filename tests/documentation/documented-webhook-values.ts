import type { WebhookDeliveryDetails } from "@pragma/contracts/webhook-delivery";
import { createWebhookSignatureHeaders, formatSignatureHeaders } from "@pragma/webhooks/messages/sign-message";
import { encodeSigningSecret } from "@pragma/webhooks/messages/signing-secret";

/** The secret of the recipient in the documentation. Its text warns readers not to use it for a recipient of theirs. */
export const documentedWebhookSecret = "example-secret-from-the-documentation-never-use-it-in-production";

/** The secret that replaces it in the example of a rotation. */
export const documentedRotatedSecret = "another-example-secret-from-the-documentation-never-use-it-in-production";

/** The URLs that replace the URLs of the endpoints that run during the recording. */
export const documentedEndpointUrl = "https://stock.example/webhooks/pragma";
export const documentedFailingEndpointUrl = "https://stock.example/webhooks/kitchen-screen";

/**
 * Returns a copy of a value in which fields have fixed times instead of the times of the run, by field name at any
 * depth. If several times are given for a name, the fields of that name have these times in sequence. Null values do
 * not change.
 */
export function withDocumentedTimes<Value>(value: Value, times: Record<string, string | readonly string[]>): Value {
  const usedCounts = new Map<string, number>();
  return JSON.parse(
    JSON.stringify(value, (name, part) => {
      const documented = times[name];
      if (documented === undefined || typeof part !== "string") return part;
      if (typeof documented === "string") return documented;
      const used = usedCounts.get(name) ?? 0;
      usedCounts.set(name, used + 1);
      if (documented[used] === undefined) throw new Error(`There are more than ${used} fields ${name}.`);
      return documented[used];
    }),
  );
}

/** Returns a copy of an example in which generated secrets and the URL of the endpoint are replaced. */
export function withDocumentedRecipient<Value>(
  example: Value,
  { endpointUrl, secret = documentedWebhookSecret }: { endpointUrl?: string; secret?: string } = {},
): Value {
  return JSON.parse(
    JSON.stringify(example, (name, part) => {
      if (name === "hmacSecret" && typeof part === "string") return secret;
      if (name === "signingSecret" && typeof part === "string") return encodeSigningSecret(secret);
      return endpointUrl !== undefined && part === endpointUrl ? documentedEndpointUrl : part;
    }),
  );
}

/** Returns a copy of the exchange about a delivery in which the documented secret signs the requests of its attempts. */
export function withDocumentedSignatures(example: unknown): unknown {
  const exchange = example as { reply: { body: WebhookDeliveryDetails } };
  const { messageId, event, attempts, payload } = exchange.reply.body;
  const message = { id: messageId, event, body: Buffer.from(JSON.stringify(payload)) };
  const signedAttempts = attempts.map((attempt) => {
    const signedAt = new Date(attempt.startedAt);
    const headers = createWebhookSignatureHeaders(message, { secrets: [documentedWebhookSecret], signedAt });
    const signatureHeaders = formatSignatureHeaders(messageId, signedAt, headers["webhook-signature"]);
    return { ...attempt, signatureHeaders };
  });
  return { ...exchange, reply: { ...exchange.reply, body: { ...exchange.reply.body, attempts: signedAttempts } } };
}
