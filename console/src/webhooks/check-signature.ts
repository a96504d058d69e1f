import type { ApiSchemaTypes } from "@pragma/client";
import { verifyWebhook, WebhookVerificationError } from "@pragma/client";

type SignatureHeaders = NonNullable<ApiSchemaTypes["Attempt"]["signatureHeaders"]>;

export type SignatureResult =
  | { kind: "valid" | "wrongSecret" | "missingPrefix" | "malformedSecret" }
  /** The secret signed the sent body. `index` is that of the first character that differs. */
  | { kind: "otherBody"; index: number };

interface SentMessage {
  headers: SignatureHeaders;
  /** The body as it was sent. */
  body: string;
}

/**
 * Returns whether the secret signed the sent message and, if not, what is wrong. `receivedBody` is what the endpoint
 * received; empty if unknown.
 */
export async function checkSignature(
  { headers, body }: SentMessage,
  { secret, receivedBody }: { secret: string; receivedBody: string },
): Promise<SignatureResult> {
  const isSignedWith = (candidate: string) => isVerified({ headers, body }, candidate);
  try {
    if (!(await isSignedWith(secret))) {
      const withPrefix = `whsec_${secret}`;
      const isPrefixMissing = isBase64(secret) && (await isSignedWith(withPrefix));
      return { kind: isPrefixMissing ? "missingPrefix" : "wrongSecret" };
    }
  } catch (error) {
    if (error instanceof TypeError) return { kind: "malformedSecret" };
    throw error;
  }
  if (receivedBody === "" || receivedBody === body) return { kind: "valid" };
  return { kind: "otherBody", index: findDifference(body, receivedBody) };
}

/** @throws TypeError if the secret begins with `whsec_`, and its rest is not base64. */
async function isVerified({ headers, body }: SentMessage, secret: string): Promise<boolean> {
  // A message is valid at the time at which it was sent.
  const now = Number(headers["webhook-timestamp"]) * 1_000;
  try {
    await verifyWebhook({ headers, body }, { secret, now });
    return true;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false;
    throw error;
  }
}

const isBase64 = (value: string): boolean =>
  value.length > 0 && /^[\w+/-]+={0,2}$/.test(value) && value.length % 4 === 0;

function findDifference(one: string, other: string): number {
  let index = 0;
  while (index < one.length && one[index] === other[index]) index += 1;
  return index;
}
