import { createHmac, randomBytes } from "node:crypto";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { isWebhookMessageOfEvent, verifyWebhook, WebhookVerificationError } from "./verify-webhook.ts";

const secret = randomBytes(32).toString("hex");
const id = "9b0d7a53-5f0e-4f44-9d2e-6a1b8f0c7d94";
const message = {
  meta: { id, event: "test", emittedAt: "2026-05-29T10:31:12.391Z", sequence: null },
  data: { locationId: id, webhookId: id, message: "Ça marche." },
};
const body = JSON.stringify(message);
const now = Date.parse("2026-05-29T10:31:20.000Z");

function headersOf(signedBy: string, { at = now, text = body } = {}) {
  const timestamp = String(Math.floor(at / 1_000));
  const signature = createHmac("sha256", signedBy).update(`${id}.${timestamp}.${text}`).digest("base64");
  return { "Webhook-Id": id, "Webhook-Timestamp": timestamp, "Webhook-Signature": `v1,${signature}` };
}

describe("a message that is signed with the secret", () => {
  it("is parsed", async () => {
    const verified = await verifyWebhook({ headers: headersOf(secret), body }, { secret, now });
    expect(isWebhookMessageOfEvent(verified, "order.paid")).toBe(false);
    expect(isWebhookMessageOfEvent(verified, "test") && verified.data.message).toBe("Ça marche.");
  });

  it("is accepted as bytes, with Headers, and with the secret in base64", async () => {
    const inBase64 = `whsec_${Buffer.from(secret).toString("base64")}`;
    const headers = new Headers(headersOf(secret));
    const bytes = new TextEncoder().encode(body);
    expect(await verifyWebhook({ headers, body: bytes }, { secret: inBase64, now })).toEqual(message);
  });

  it("is accepted with several signatures or several secrets, if one of them matches", async () => {
    const other = randomBytes(32).toString("hex");
    const headers = headersOf(secret);
    headers["Webhook-Signature"] = `${headersOf(other)["Webhook-Signature"]} ${headers["Webhook-Signature"]} v2,x`;
    expect(await verifyWebhook({ headers, body }, { secret, now })).toEqual(message);
    expect(await verifyWebhook({ headers: headersOf(secret), body }, { secret: [other, secret], now })).toEqual(
      message,
    );
  });

  it("is rejected when it is old or from the future", async () => {
    for (const at of [now - 301_000, now + 301_000]) {
      await expect(verifyWebhook({ headers: headersOf(secret, { at }), body }, { secret, now })).rejects.toThrow("old");
    }
    const headers = headersOf(secret, { at: now - 3_600_000 });
    expect(await verifyWebhook({ headers, body }, { secret, now, toleranceSeconds: 7_200 })).toEqual(message);
  });
});

describe("a message that is signed by the Standard Webhooks library", () => {
  const signedBy = (...secrets: string[]) => {
    const at = new Date(now);
    const signatures = secrets.map((each) =>
      new StandardWebhook(`whsec_${Buffer.from(each).toString("base64")}`).sign(id, at, body),
    );
    const timestamp = String(Math.floor(now / 1_000));
    return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures.join(" ") };
  };

  it("is accepted with either secret of a rotation and no other", async () => {
    const [newSecret, oldSecret] = [secret, randomBytes(48).toString("base64")];
    const headers = signedBy(newSecret, oldSecret);
    for (const each of [newSecret, oldSecret]) {
      expect(await verifyWebhook({ headers, body }, { secret: each, now })).toEqual(message);
    }
    const other = randomBytes(32).toString("hex");
    await expect(verifyWebhook({ headers, body }, { secret: other, now })).rejects.toThrow(WebhookVerificationError);
    await expect(verifyWebhook({ headers, body: `${body} ` }, { secret, now })).rejects.toThrow(
      WebhookVerificationError,
    );
  });
});

describe("a message with x-popina-hmac-signature", () => {
  const signed = (signedBy: string) => ({
    "x-popina-hmac-signature": createHmac("sha256", signedBy).update(body).digest("hex"),
  });
  const scheme = "popina";

  it("is accepted with either form of the secret and with one of several secrets", async () => {
    const other = randomBytes(32).toString("hex");
    const headers = signed(secret);
    for (const each of [secret, `whsec_${Buffer.from(secret).toString("base64")}`, [other, secret]]) {
      expect(await verifyWebhook({ headers, body }, { secret: each, scheme })).toEqual(message);
    }
  });

  it("is rejected when it is changed, signed with another secret, or verified with the standard scheme", async () => {
    const headers = signed(secret);
    const invalidRequests = [
      { headers, body: `${body} ` },
      { headers: signed("another"), body },
      { headers: { "x-popina-hmac-signature": headers["x-popina-hmac-signature"].slice(2) }, body },
      { headers: { "x-popina-hmac-signature": "not hex" }, body },
      { headers: headersOf(secret), body },
    ];
    for (const each of invalidRequests) {
      await expect(verifyWebhook(each, { secret, scheme })).rejects.toThrow(WebhookVerificationError);
    }
    await expect(verifyWebhook({ headers, body }, { secret, now })).rejects.toThrow("missing");
  });
});

describe("any other request", () => {
  it("is rejected", async () => {
    const signedHeaders = headersOf(secret);
    const requests = [
      { headers: headersOf("another secret"), body },
      { headers: signedHeaders, body: body.replace("marche", "casse") },
      { headers: { ...signedHeaders, "Webhook-Id": "another" }, body },
      { headers: { ...signedHeaders, "Webhook-Timestamp": "now" }, body },
      { headers: { ...signedHeaders, "Webhook-Signature": "v1,%%%" }, body },
      { headers: { ...signedHeaders, "Webhook-Signature": undefined }, body },
      { headers: {}, body },
    ];
    for (const each of requests) {
      await expect(verifyWebhook(each, { secret, now })).rejects.toThrow(WebhookVerificationError);
    }
  });
});
