import type { components } from "./generated/public-api.ts";

type Schemas = components["schemas"];

/** The messages that webhooks post, by what they tell of. */
export interface WebhookMessages {
  "order.call": Schemas["OrderCallWebhook"];
  "order.paid": Schemas["OrderPaidWebhook"];
  "order.canceled": Schemas["OrderCanceledWebhook"];
  "order.transferred": Schemas["OrderTransferredWebhook"];
  "report.finalized": Schemas["ReportFinalizedWebhook"];
  "endpoint.failing": Schemas["EndpointFailingWebhook"];
  "endpoint.disabled": Schemas["EndpointDisabledWebhook"];
  test: Schemas["TestWebhook"];
}

/** A message as a webhook posts it: `meta.event` tells what `data` is. */
export type WebhookMessage = WebhookMessages[keyof WebhookMessages];

/** Whether a message tells of this event. */
export function isMessageOf<Event extends keyof WebhookMessages>(
  message: WebhookMessage,
  event: Event,
): message is WebhookMessages[Event] {
  return message.meta.event === event;
}

/** What was posted is no message of this API, or not one for whoever holds the secret. */
export class WebhookNotVerified extends Error {
  override name = "WebhookNotVerified";
}

interface Posted {
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The body as it came, not yet parsed: parsing and writing it again changes it. */
  body: string | Uint8Array<ArrayBuffer>;
}

interface Verifying {
  /** The recipient's secret, as it is or in the form that begins with `whsec_`; several while you change it. */
  secret: string | readonly string[];
  /** How old a message may be, in seconds; five minutes unless given. */
  tolerance?: number;
  /** Milliseconds since 1970. For tests. */
  now?: number;
}

/**
 * Reads a message that a webhook posted, once it is sure who signed it, and that it is no old one sent again. Handle
 * each `meta.id` once: a message may come more than once.
 *
 * @throws `WebhookNotVerified`: answer 401, and do nothing.
 */
export async function verifyWebhook(
  { headers, body }: Posted,
  { secret, tolerance = 300, now = Date.now() }: Verifying,
): Promise<WebhookMessage> {
  const [id, timestamp, signature] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) =>
    headerOf(headers, name),
  );
  if (!id || !timestamp || !signature) throw new WebhookNotVerified("The headers that sign a message are missing.");
  if (!(Math.abs(now / 1_000 - Number(timestamp)) <= tolerance)) {
    throw new WebhookNotVerified("The message is too old, or from the future.");
  }
  const bytes = typeof body === "string" ? encoder.encode(body) : body;
  const content = new Uint8Array(await new Blob([`${id}.${timestamp}.`, bytes]).arrayBuffer());
  const secrets = typeof secret === "string" ? [secret] : secret;
  for (const each of secrets) {
    if (await isSignedWith(each, content, signature)) return JSON.parse(decoder.decode(bytes));
  }
  throw new WebhookNotVerified("The message is not signed with this secret.");
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function headerOf(headers: Posted["headers"], name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const entry = Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1];
  return typeof entry === "object" ? entry[0] : entry;
}

async function isSignedWith(secret: string, content: Uint8Array<ArrayBuffer>, signatures: string): Promise<boolean> {
  const key = await crypto.subtle.importKey("raw", keyOf(secret), { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
  for (const entry of signatures.split(" ")) {
    const [version, signature] = entry.split(",");
    const bytes = version === "v1" ? fromBase64(signature ?? "") : undefined;
    if (bytes && (await crypto.subtle.verify("HMAC", key, bytes, content))) return true;
  }
  return false;
}

function keyOf(secret: string): Uint8Array<ArrayBuffer> {
  const prefix = "whsec_";
  if (!secret.startsWith(prefix)) return encoder.encode(secret);
  const bytes = fromBase64(secret.slice(prefix.length));
  if (!bytes) throw new TypeError("What follows whsec_ in the secret is no base64.");
  return bytes;
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
