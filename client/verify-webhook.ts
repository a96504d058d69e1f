import type { components } from "./generated/public-api.ts";

type Schemas = components["schemas"];

/** The messages that webhooks post, by what they tell of. */
export interface WebhookMessageByEvent {
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
export type WebhookMessage = WebhookMessageByEvent[keyof WebhookMessageByEvent];

/** Whether a message tells of this event. */
export function isWebhookMessageOf<Event extends keyof WebhookMessageByEvent>(
  message: WebhookMessage,
  event: Event,
): message is WebhookMessageByEvent[Event] {
  return message.meta.event === event;
}

/** What was posted is no message of this API, or not one for whoever holds the secret. */
export class WebhookVerificationError extends Error {
  override name = "WebhookNotVerified";
}

interface PostedWebhook {
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The body as it came, not yet parsed: parsing and writing it again changes it. */
  body: string | Uint8Array<ArrayBuffer>;
}

interface VerifyWebhookOptions {
  /** The recipient's secret, as it is or in the form that begins with `whsec_`; several while you change it. */
  secret: string | readonly string[];
  /**
   * Which of the signatures is checked: `standard`, unless given, is that of Standard Webhooks; `popina` is
   * x-popina-hmac-signature, which says nothing of the time, so that an old message can be sent again.
   */
  scheme?: "standard" | "popina";
  /** How old a message of the standard scheme may be, in seconds; five minutes unless given. */
  toleranceSeconds?: number;
  /** Milliseconds since 1970. For tests. */
  now?: number;
}

/**
 * Reads a message that a webhook posted, once it is sure who signed it, and, by the standard scheme, that it is no old
 * one sent again. Handle each `meta.id` once: a message may come more than once.
 *
 * @throws `WebhookNotVerified`: answer 401, and do nothing.
 */
export async function verifyWebhook(
  { headers, body }: PostedWebhook,
  { secret, scheme = "standard", toleranceSeconds = 300, now = Date.now() }: VerifyWebhookOptions,
): Promise<WebhookMessage> {
  const bytes = typeof body === "string" ? encoder.encode(body) : body;
  const signed =
    scheme === "standard"
      ? await parseStandardSignature(headers, bytes, { tolerance: toleranceSeconds, now })
      : { content: bytes, signatures: [fromHex(headerOf(headers, "x-popina-hmac-signature") ?? "")] };
  const secrets = typeof secret === "string" ? [secret] : secret;
  for (const each of secrets) {
    if (await isSignedWith(each, signed)) return JSON.parse(decoder.decode(bytes));
  }
  throw new WebhookVerificationError("The message is not signed with this secret.");
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** What was signed, and what is said to be its signatures. */
interface SignedContent {
  content: Uint8Array<ArrayBuffer>;
  signatures: (Uint8Array<ArrayBuffer> | undefined)[];
}

async function parseStandardSignature(
  headers: PostedWebhook["headers"],
  body: Uint8Array<ArrayBuffer>,
  { tolerance, now }: { tolerance: number; now: number },
): Promise<SignedContent> {
  const [id, timestamp, signatures] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) =>
    headerOf(headers, name),
  );
  if (!id || !timestamp || !signatures)
    throw new WebhookVerificationError("The headers that sign a message are missing.");
  if (!(Math.abs(now / 1_000 - Number(timestamp)) <= tolerance)) {
    throw new WebhookVerificationError("The message is too old, or from the future.");
  }
  return {
    content: new Uint8Array(await new Blob([`${id}.${timestamp}.`, body]).arrayBuffer()),
    signatures: signatures.split(" ").map((entry) => {
      const [version, signature = ""] = entry.split(",");
      return version === "v1" ? fromBase64(signature) : undefined;
    }),
  };
}

function headerOf(headers: PostedWebhook["headers"], name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const entry = Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1];
  return typeof entry === "object" ? entry[0] : entry;
}

/** Compares in a time that tells nothing of where the signatures differ. */
async function isSignedWith(secret: string, { content, signatures }: SignedContent): Promise<boolean> {
  const key = await crypto.subtle.importKey("raw", hmacKeyOf(secret), { name: "HMAC", hash: "SHA-256" }, false, [
    "verify",
  ]);
  for (const signature of signatures) {
    if (signature && (await crypto.subtle.verify("HMAC", key, signature, content))) return true;
  }
  return false;
}

function hmacKeyOf(secret: string): Uint8Array<ArrayBuffer> {
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

function fromHex(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^(?:[0-9a-f]{2})+$/i.test(text)) return undefined;
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}
