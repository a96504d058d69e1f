import { createHmac, timingSafeEqual } from "node:crypto";

/**
 * Throws unless the message is one that was signed with the recipient's secret, within the last five minutes.
 * `headers` have lower-case names; `body` is the request's body as it came, not yet parsed.
 */
export function verifyWebhook(headers: Record<string, string | undefined>, body: Buffer, secret: string): void {
  const id = headers["webhook-id"] ?? "";
  const timestamp = headers["webhook-timestamp"] ?? "";
  const age = Math.abs(Date.now() / 1000 - Number(timestamp));
  if (!(age < 300)) throw new Error("The message is too old, or from the future.");

  const expected = createHmac("sha256", secret).update(`${id}.${timestamp}.`).update(body).digest();
  const isSigned = (headers["webhook-signature"] ?? "").split(" ").some((entry) => {
    const [version, signature = ""] = entry.split(",");
    const given = Buffer.from(signature, "base64");
    return version === "v1" && given.length === expected.length && timingSafeEqual(given, expected);
  });
  if (!isSigned) throw new Error("The message is not signed with this secret.");
}
