import { createHmac } from "node:crypto";
import type { WebhookEventName } from "@pragma/contracts/webhook";

/**
 * Returns the headers that identify and sign a message. `secrets` contains the keys of all active secrets, newest first; at
 * least one. A text stands for its UTF-8 bytes. Two schemes sign the same body, with the key of each secret:
 * - The Standard Webhooks headers contain one signature per active secret, so that receivers can switch to the new
 *   secret at any time during a rotation.
 * - The `x-popina-*` headers contain a single signature, because their receivers expect only one. The oldest active
 *   secret signs the message until the rotation ends.
 */
export function createWebhookSignatureHeaders(
  { id, event, body }: { id: string; event: WebhookEventName; body: Uint8Array },
  { secrets, signedAt }: { secrets: readonly (string | Uint8Array)[]; signedAt: Date },
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
