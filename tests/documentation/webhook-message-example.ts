import type { WebhookEventName } from "@pragma/contracts/webhook";
import { createWebhookSignatureHeaders } from "@pragma/webhooks/messages/sign-message";
import { encodeSigningSecret } from "@pragma/webhooks/messages/signing-secret";
import { Webhook as StandardWebhook } from "standardwebhooks";
import {
  documentedEndpointUrl,
  documentedFailingEndpointUrl,
  documentedWebhookSecret,
  withDocumentedTimes,
} from "./documented-webhook-values.ts";
import type { ReceivedWebhookMessage } from "./webhook-endpoint.ts";

interface WebhookMessageExample {
  headers: Record<string, string | undefined>;
  body: { meta: { id: string; event: WebhookEventName; emittedAt: string } };
}

interface DescribeMessageOptions {
  /** The secret that signed the received message. */
  secret: string;
  normalize: <Value>(value: Value) => Value;
  /** The URL of the running endpoint. */
  endpointUrl: string;
  times: Record<string, string | string[]>;
}

/**
 * Returns the example of a received message, after verifying its signature. The example has fixed values and is signed
 * again with the documented secret, so that readers can verify it. It must not be normalized again.
 */
export function describeWebhookMessage(
  { headers, body }: ReceivedWebhookMessage,
  { secret, normalize, endpointUrl, times }: DescribeMessageOptions,
): WebhookMessageExample {
  new StandardWebhook(encodeSigningSecret(secret)).verify(body, headers as Record<string, string>);
  const documentedText = body
    .replaceAll(endpointUrl, documentedEndpointUrl)
    .replaceAll(endpointUrl.replace(/\/[^/]*$/, "/failing"), documentedFailingEndpointUrl);
  const documentedBody: WebhookMessageExample["body"] = withDocumentedTimes(
    normalize(JSON.parse(documentedText)),
    times,
  );
  const { id, event, emittedAt } = documentedBody.meta;
  const message = { id, event, body: Buffer.from(JSON.stringify(documentedBody)) };
  const signatureHeaders = createWebhookSignatureHeaders(message, {
    secrets: [documentedWebhookSecret],
    signedAt: new Date(emittedAt),
  });
  return { headers: { "content-type": headers["content-type"], ...signatureHeaders }, body: documentedBody };
}

/** Returns an example message with the exact text of its body, its secret, and the time at which it is valid. */
export function describeTestVector(example: unknown) {
  const { headers, body } = example as WebhookMessageExample;
  return {
    headers,
    text: JSON.stringify(body),
    secret: documentedWebhookSecret,
    signingSecret: encodeSigningSecret(documentedWebhookSecret),
  };
}
