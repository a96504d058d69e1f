import { createHmac, timingSafeEqual } from "node:crypto";

/**
 * Throws unless the message was signed with the recipient's secret and has a timestamp within five minutes of the
 * current time.
 * The names in `headers` are in lower case. `body` is the raw request body, before parsing.
 */
export function verifyWebhook(headers: Record<string, string | undefined>, body: Buffer, secret: string): void {
  const id = headers["webhook-id"] ?? "";
  const timestamp = headers["webhook-timestamp"] ?? "";
  const age = Math.abs(Date.now() / 1000 - Number(timestamp));
  if (!(age < 300)) throw new Error("The timestamp of the message is not within five minutes.");

  const expected = createHmac("sha256", secret).update(`${id}.${timestamp}.`).update(body).digest();
  const isSigned = (headers["webhook-signature"] ?? "").split(" ").some((entry) => {
    const [version, signature = ""] = entry.split(",");
    const received = Buffer.from(signature, "base64");
    return version === "v1" && received.length === expected.length && timingSafeEqual(received, expected);
  });
  if (!isSigned) throw new Error("The message is not signed with this secret.");
}
