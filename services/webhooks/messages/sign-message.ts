import { createHmac } from "node:crypto";
import type { WebhookEventName } from "@pragma/contracts/webhook";

interface SignableMessage {
  id: string;
  event: WebhookEventName;
  body: Uint8Array;
}

interface SigningOptions {
  /** Every secret that is current, the latest first; at least one. */
  secrets: readonly string[];
  signedAt: Date;
}

/**
 * The headers that say who sent a message. Two schemes, over the same bytes and under the same secrets, each taken as
 * its UTF-8 bytes:
 * - Standard Webhooks: a signature under every current secret, so that receivers may change theirs at any time of a
 *   rotation;
 * - `x-popina-*`, for receivers that know but one: under the oldest secret until a rotation ends.
 */
export function signWebhookMessage(
  { id, event, body }: SignableMessage,
  { secrets, signedAt }: SigningOptions,
): Record<string, string> {
  const timestamp = Math.floor(signedAt.getTime() / 1_000).toString();
  const signatures = secrets.map((secret) => {
    const hmac = createHmac("sha256", secret).update(`${id}.${timestamp}.`);
    return `v1,${hmac.update(body).digest("base64")}`;
  });
  const oldest = secrets.at(-1);
  if (oldest === undefined) throw new Error("A message cannot be signed without a secret.");
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures.join(" "),
    "x-popina-hmac-signature": createHmac("sha256", oldest).update(body).digest("hex"),
    "x-popina-webhook-id": id,
    "x-popina-webhook-event": event,
  };
}

/** A secret in the form that Standard Webhooks libraries take: the base64 of its bytes. */
export function encodeSigningSecret(secret: string): string {
  return `whsec_${Buffer.from(secret, "utf8").toString("base64")}`;
}
