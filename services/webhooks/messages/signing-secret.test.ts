import { UpsertWebhookRecipientRequest } from "@pragma/contracts/webhook-recipient";
import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { createWebhookSignatureHeaders } from "./sign-message.ts";
import { encodeSigningSecret, getSigningKey, toStoredSecret } from "./signing-secret.ts";

const body = JSON.stringify({ meta: { event: "order.paid" } });
const message = { id: "9b0d7a53-5f0e-4f44-9d2e-6a1b8f0c7d94", event: "order.paid" as const, body: Buffer.from(body) };
const toStandardSecret = (key: Uint8Array) => `whsec_${Buffer.from(key).toString("base64")}`;

const issueOf = (hmacSecret: string) =>
  UpsertWebhookRecipientRequest.safeParse({ name: "x", hmacSecret }).error?.issues.map(({ path, message }) => ({
    path: path.join("."),
    message,
  }));

function verifyWith(secret: string, storedSecret: string): unknown {
  const headers = createWebhookSignatureHeaders(message, {
    secrets: [getSigningKey(storedSecret)],
    signedAt: new Date(),
  });
  return new Webhook(secret).verify(body, headers);
}

describe("a recipient's own secret", () => {
  it("in the format of Standard Webhooks is the one with which its library verifies", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 24, maxLength: 64 }), (key) => {
        const secret = toStandardSecret(key);
        expect(issueOf(secret)).toBeUndefined();
        const stored = toStoredSecret(secret);
        expect(verifyWith(secret, stored)).toEqual(JSON.parse(body));
        expect(encodeSigningSecret(stored)).toBe(secret);
      }),
      { examples: [[new Uint8Array(24)], [Buffer.from("whsec_".repeat(6))], [new Uint8Array(64).fill(255)]] },
    );
  });

  it("as a text is verified with its UTF-8 bytes in base64", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 64, maxLength: 200, unit: "grapheme" }), (secret) => {
        fc.pre(!secret.startsWith("whsec_") && !secret.includes("\0"));
        const stored = toStoredSecret(secret);
        expect(stored).toBe(secret);
        expect(verifyWith(encodeSigningSecret(stored), stored)).toEqual(JSON.parse(body));
      }),
    );
  });

  it.each([
    ["no base64", `whsec_${"-".repeat(64)}`, "base64 with padding"],
    ["base64 without padding", "whsec_YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eQ", "base64 with padding"],
    ["base64url", `whsec_${"_".repeat(32)}`, "base64 with padding"],
    ["a key of 23 bytes", toStandardSecret(new Uint8Array(23)), "at least 24 bytes"],
    ["only the prefix", "whsec_", "at least 24 bytes"],
    ["a short text", "s".repeat(63), "at least 64 characters"],
    ["the prefix after a space", ` ${toStandardSecret(new Uint8Array(48))}`, "in lower case and without a space"],
    ["the prefix in upper case", `WHSEC_${"A".repeat(64)}`, "in lower case and without a space"],
    ["a public key", `whpk_${"A".repeat(64)}`, "Must begin with whsec_"],
  ])("cannot be %s", (_, secret, expected) => {
    expect(issueOf(secret)).toMatchObject([{ path: "hmacSecret", message: expect.stringContaining(expected) }]);
  });
});
