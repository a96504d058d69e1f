import { type BinaryLike, createHmac, type KeyObject } from "node:crypto";
import type { WebhookEventName } from "@pragma/contracts/webhook";

type SigningSecret = BinaryLike | KeyObject;

interface BodySignatures {
  secret: SigningSecret;
  timestamp: string;
  standard: string;
  popina: string;
}

/** The latest signatures of each body, because the webhooks of a recipient get the same message with the same secret. */
const latestSignatures = new WeakMap<Uint8Array, BodySignatures>();

function signBody(id: string, body: Uint8Array, secret: SigningSecret, timestamp: string): BodySignatures {
  const latest = latestSignatures.get(body);
  if (latest?.secret === secret && latest.timestamp === timestamp) return latest;
  const standard = createHmac("sha256", secret).update(`${id}.${timestamp}.`).update(body).digest("base64");
  const popina = createHmac("sha256", secret).update(body).digest("hex");
  const signatures = { secret, timestamp, standard, popina };
  latestSignatures.set(body, signatures);
  return signatures;
}

const formatTimestamp = (signedAt: Date): string => Math.floor(signedAt.getTime() / 1_000).toString();

/** Returns the headers of Standard Webhooks, from the signature or signatures of a message that was signed at this time. */
export const formatSignatureHeaders = (id: string, signedAt: Date, signature: string) => ({
  "webhook-id": id,
  "webhook-timestamp": formatTimestamp(signedAt),
  "webhook-signature": signature,
});

/**
 * Returns the headers that identify and sign a message. `secrets` contains the keys of all active secrets, newest first; at
 * least one. A text stands for its UTF-8 bytes. Two schemes sign the same body, with the key of each secret:
 * - The Standard Webhooks headers contain one signature per active secret, so that receivers can switch to the new
 *   secret at any time during a rotation.
 * - The `x-popina-*` headers contain a single signature, because their receivers expect only one. The oldest active
 *   secret signs the message until the rotation ends.
 *
 * The body belongs to one message. It must not be changed after the first call.
 */
export function createWebhookSignatureHeaders(
  { id, event, body }: { id: string; event: WebhookEventName; body: Uint8Array },
  { secrets, signedAt }: { secrets: readonly SigningSecret[]; signedAt: Date },
): Record<string, string> & ReturnType<typeof formatSignatureHeaders> {
  const timestamp = formatTimestamp(signedAt);
  const signatures = secrets.map((secret) => signBody(id, body, secret, timestamp));
  const oldest = signatures.at(-1);
  if (oldest === undefined) throw new Error("A message cannot be signed without a secret.");
  return {
    ...formatSignatureHeaders(id, signedAt, signatures.map(({ standard }) => `v1,${standard}`).join(" ")),
    "x-popina-hmac-signature": oldest.popina,
    "x-popina-webhook-id": id,
    "x-popina-webhook-event": event,
  };
}
