import { createHmac, randomBytes } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { createWebhookSignatureHeaders } from "./sign-message.ts";
import { encodeSigningSecret } from "./signing-secret.ts";

const randomSecret = () => randomBytes(32).toString("hex");
const signedAt = new Date();
const body = JSON.stringify({ meta: { id: "m", event: "order.paid" }, data: { name: "Crème brûlée", price: 690 } });
const message = { id: "9b0d7a53-5f0e-4f44-9d2e-6a1b8f0c7d94", event: "order.paid" as const, body: Buffer.from(body) };

describe("a signed message", () => {
  it("is verified by the Standard Webhooks library, with the secret's bytes in base64", () => {
    const secret = randomSecret();
    const headers = createWebhookSignatureHeaders(message, { secrets: [secret], signedAt });
    expect(new Webhook(encodeSigningSecret(secret)).verify(body, headers)).toEqual(JSON.parse(body));
    expect(() => new Webhook(encodeSigningSecret(randomSecret())).verify(body, headers)).toThrow();
    expect(() => new Webhook(encodeSigningSecret(secret)).verify(body.replace("690", "69"), headers)).toThrow();
  });

  it("is verified by the x-popina headers, with the unencoded secret", () => {
    const secret = randomSecret();
    const headers = createWebhookSignatureHeaders(message, { secrets: [secret], signedAt });
    expect(headers["x-popina-hmac-signature"]).toBe(createHmac("sha256", secret).update(body, "utf8").digest("hex"));
    expect(headers).toMatchObject({ "x-popina-webhook-id": message.id, "x-popina-webhook-event": "order.paid" });
  });

  it("is verified with either secret during a rotation, and by the x-popina headers with the previous secret", () => {
    const [previous, current] = [randomSecret(), randomSecret()];
    const headers = createWebhookSignatureHeaders(message, { secrets: [current, previous], signedAt });
    for (const secret of [previous, current]) new Webhook(encodeSigningSecret(secret)).verify(body, headers);
    expect(headers["webhook-signature"]?.split(" ")).toHaveLength(2);
    expect(headers["x-popina-hmac-signature"]).toBe(createHmac("sha256", previous).update(body).digest("hex"));
  });

  it("is signed again for another secret and at another time", () => {
    const secrets = [randomSecret(), randomSecret()];
    const times = [signedAt, new Date(signedAt.getTime() - 60_000)];
    const all = times.flatMap((at) =>
      secrets.map((secret) => {
        const headers = createWebhookSignatureHeaders(message, { secrets: [secret], signedAt: at });
        expect(new Webhook(encodeSigningSecret(secret)).verify(body, headers)).toEqual(JSON.parse(body));
        return headers["webhook-signature"];
      }),
    );
    expect(new Set(all).size).toBe(all.length);
  });

  it("can be signed with a secret that is not ASCII", () => {
    const secret = "clé-secrète-".repeat(6);
    const headers = createWebhookSignatureHeaders(message, { secrets: [secret], signedAt });
    expect(new Webhook(encodeSigningSecret(secret)).verify(body, headers)).toBeTruthy();
  });
});
