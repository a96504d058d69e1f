import { createHmac, randomBytes } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { encodeSigningSecret, signWebhookMessage } from "./sign-message.ts";

const randomSecret = () => randomBytes(32).toString("hex");
const at = new Date();
const body = JSON.stringify({ meta: { id: "m", event: "order.paid" }, data: { name: "Crème brûlée", price: 690 } });
const message = { id: "9b0d7a53-5f0e-4f44-9d2e-6a1b8f0c7d94", event: "order.paid" as const, body: Buffer.from(body) };

describe("a message", () => {
  it("is verified by the library of Standard Webhooks, with the secret's bytes in base64", () => {
    const one = randomSecret();
    const headers = signWebhookMessage(message, { secrets: [one], signedAt: at });
    expect(new Webhook(encodeSigningSecret(one)).verify(body, headers)).toEqual(JSON.parse(body));
    expect(() => new Webhook(encodeSigningSecret(randomSecret())).verify(body, headers)).toThrow();
    expect(() => new Webhook(encodeSigningSecret(one)).verify(body.replace("690", "69"), headers)).toThrow();
  });

  it("is verified by a receiver in the field, with the secret as it is", () => {
    const one = randomSecret();
    const headers = signWebhookMessage(message, { secrets: [one], signedAt: at });
    expect(headers["x-popina-hmac-signature"]).toBe(createHmac("sha256", one).update(body, "utf8").digest("hex"));
    expect(headers).toMatchObject({ "x-popina-webhook-id": message.id, "x-popina-webhook-event": "order.paid" });
  });

  it("is verified with either secret during a rotation, and in the field with the one of before", () => {
    const [before, next] = [randomSecret(), randomSecret()];
    const headers = signWebhookMessage(message, { secrets: [next, before], signedAt: at });
    for (const one of [before, next]) new Webhook(encodeSigningSecret(one)).verify(body, headers);
    expect(headers["webhook-signature"]?.split(" ")).toHaveLength(2);
    expect(headers["x-popina-hmac-signature"]).toBe(createHmac("sha256", before).update(body).digest("hex"));
  });

  it("is signed with secrets that are not ASCII, too", () => {
    const one = "clé-secrète-".repeat(6);
    const headers = signWebhookMessage(message, { secrets: [one], signedAt: at });
    expect(new Webhook(encodeSigningSecret(one)).verify(body, headers)).toBeTruthy();
  });
});
