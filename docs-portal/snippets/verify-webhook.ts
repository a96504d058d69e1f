import { createHmac, timingSafeEqual } from "node:crypto";

/**
 * Throws unless the message was signed with the recipient's secret and has a timestamp
 * within five minutes of `now`. The names in `headers` are in lower case. `body` is the raw
 * request body, before parsing. Only tests set `now`.
 */
export function verifyWebhook(
  headers: Record<string, string | string[] | undefined>,
  body: Uint8Array,
  secret: string,
  now: Date = new Date(),
): void {
  const [id, timestamp, signatures] = [
    "webhook-id",
    "webhook-timestamp",
    "webhook-signature",
  ].map((name) => String(headers[name] ?? "")) as [string, string, string];
  const ageSeconds = Math.abs(now.getTime() / 1000 - Number(timestamp));
  if (!/^\d+$/.test(timestamp) || ageSeconds > 300) {
    throw new Error("The timestamp of the message is not within five minutes.");
  }

  // A secret that begins with whsec_ contains the key in base64.
  const key = secret.startsWith("whsec_")
    ? Buffer.from(secret.slice(6), "base64")
    : secret;
  const expected = createHmac("sha256", key)
    .update(`${id}.${timestamp}.`)
    .update(body)
    .digest();
  const isSigned = signatures.split(" ").some((entry) => {
    const [version, signature = ""] = entry.split(",");
    const received = Buffer.from(signature, "base64");
    return (
      version === "v1" &&
      received.length === expected.length &&
      timingSafeEqual(received, expected)
    );
  });
  if (!isSigned) throw new Error("The message is not signed with this secret.");
}
