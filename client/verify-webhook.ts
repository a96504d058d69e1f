import type { webhooks } from "./generated/public-api.ts";

/** The type of each webhook message, by event name. */
export type WebhookMessageByEvent = {
  [Event in keyof webhooks]: webhooks[Event]["post"]["requestBody"]["content"]["application/json"];
};

/** Any webhook message. `meta.event` determines the type of `data`. */
export type WebhookMessage = WebhookMessageByEvent[keyof WebhookMessageByEvent];

/** Returns whether a message is about this event, so that TypeScript can narrow the type of the message. */
export function isWebhookMessageOfEvent<Event extends keyof WebhookMessageByEvent>(
  message: WebhookMessage,
  event: Event,
): message is WebhookMessageByEvent[Event] {
  return message.meta.event === event;
}

/** Thrown when a request is not a webhook message of this API, is too old, or is not signed with the secret. */
export class WebhookVerificationError extends Error {
  override name = "WebhookVerificationError";
}

interface WebhookRequest {
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The request body, exactly as received. A body that was parsed and serialized again can have another signature. */
  body: string | Uint8Array<ArrayBuffer>;
}

interface VerifyWebhookOptions {
  /** The recipient's secret: its `hmacSecret` or its `signingSecret`. During a rotation, pass all active secrets. */
  secret: string | readonly string[];
  /**
   * The signature scheme. Default: `standard`, the scheme of Standard Webhooks. `popina` verifies the header
   * x-popina-hmac-signature, which does not protect against replayed messages, because it does not sign the time.
   */
  scheme?: "standard" | "popina";
  /**
   * Maximum difference in seconds between the time of a message and the current time. Applies only to the scheme
   * `standard`. Default: 300 (five minutes).
   */
  toleranceSeconds?: number;
  /** The current time, in milliseconds since 1970. Only tests set it. Default: the time of the system clock. */
  now?: number;
}

/**
 * Verifies the signature of a webhook message and returns the parsed message. With the scheme `standard`, also rejects
 * messages that are too old or from the future. Process each `meta.id` only once, because the same message can
 * be delivered more than once.
 *
 * @throws `WebhookVerificationError` if the message is not authentic. Respond with status 401 and ignore the message.
 */
export async function verifyWebhook(
  { headers, body }: WebhookRequest,
  { secret, scheme = "standard", toleranceSeconds = 300, now = Date.now() }: VerifyWebhookOptions,
): Promise<WebhookMessage> {
  const bytes = typeof body === "string" ? encoder.encode(body) : body;
  const signedContent =
    scheme === "standard"
      ? await parseStandardSignature(headers, bytes, { tolerance: toleranceSeconds, now })
      : { content: bytes, signatures: [fromHex(headerOf(headers, "x-popina-hmac-signature") ?? "")] };
  const secrets = typeof secret === "string" ? [secret] : secret;
  for (const each of secrets) {
    if (await isSignedWith(each, signedContent)) return JSON.parse(decoder.decode(bytes));
  }
  throw new WebhookVerificationError("The message is not signed with this secret.");
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The signed bytes and the decoded signatures of a message. A signature that cannot be decoded is undefined. */
interface SignedContent {
  content: Uint8Array<ArrayBuffer>;
  signatures: (Uint8Array<ArrayBuffer> | undefined)[];
}

async function parseStandardSignature(
  headers: WebhookRequest["headers"],
  body: Uint8Array<ArrayBuffer>,
  { tolerance, now }: { tolerance: number; now: number },
): Promise<SignedContent> {
  const [id, timestamp, signatures] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) =>
    headerOf(headers, name),
  );
  if (!id || !timestamp || !signatures) throw new WebhookVerificationError("The signature headers are missing.");
  if (!(Math.abs(now / 1_000 - Number(timestamp)) <= tolerance)) {
    throw new WebhookVerificationError("The message is too old or from the future.");
  }
  return {
    content: new Uint8Array(await new Blob([`${id}.${timestamp}.`, body]).arrayBuffer()),
    signatures: signatures.split(" ").map((entry) => {
      const [version, signature = ""] = entry.split(",");
      return version === "v1" ? fromBase64(signature) : undefined;
    }),
  };
}

function headerOf(headers: WebhookRequest["headers"], name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const entry = Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1];
  return typeof entry === "object" ? entry[0] : entry;
}

/** Returns whether a signature was created with the secret. Compares in constant time to prevent timing attacks. */
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
  if (!bytes) throw new TypeError("The part of the secret after whsec_ is not valid base64.");
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
