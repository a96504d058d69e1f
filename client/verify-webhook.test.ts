import { createHmac, randomBytes } from "node:crypto";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { isWebhookMessageOf, verifyWebhook, WebhookVerificationError } from "./verify-webhook.ts";

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

describe("a message that was signed with the secret", () => {
  it("is read", async () => {
    const read = await verifyWebhook({ headers: headersOf(secret), body }, { secret, now });
    expect(isWebhookMessageOf(read, "order.paid")).toBe(false);
    expect(isWebhookMessageOf(read, "test") && read.data.message).toBe("Ça marche.");
  });

  it("is read from bytes, from the headers of a Request, and with the secret in the other form", async () => {
    const inBase64 = `whsec_${Buffer.from(secret).toString("base64")}`;
    const headers = new Headers(headersOf(secret));
    const bytes = new TextEncoder().encode(body);
    expect(await verifyWebhook({ headers, body: bytes }, { secret: inBase64, now })).toEqual(message);
  });

  it("is read when it is signed several times, or one of several secrets signed it", async () => {
    const other = randomBytes(32).toString("hex");
    const headers = headersOf(secret);
    headers["Webhook-Signature"] = `${headersOf(other)["Webhook-Signature"]} ${headers["Webhook-Signature"]} v2,x`;
    expect(await verifyWebhook({ headers, body }, { secret, now })).toEqual(message);
    expect(await verifyWebhook({ headers: headersOf(secret), body }, { secret: [other, secret], now })).toEqual(
      message,
    );
  });

  it("is refused when it is old, or from the future", async () => {
    for (const at of [now - 301_000, now + 301_000]) {
      await expect(verifyWebhook({ headers: headersOf(secret, { at }), body }, { secret, now })).rejects.toThrow("old");
    }
    const headers = headersOf(secret, { at: now - 3_600_000 });
    expect(await verifyWebhook({ headers, body }, { secret, now, toleranceSeconds: 7_200 })).toEqual(message);
  });
});

describe("a message that the library of Standard Webhooks signed", () => {
  const signedBy = (...secrets: string[]) => {
    const at = new Date(now);
    const signatures = secrets.map((each) =>
      new StandardWebhook(`whsec_${Buffer.from(each).toString("base64")}`).sign(id, at, body),
    );
    const timestamp = String(Math.floor(now / 1_000));
    return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures.join(" ") };
  };

  it("is read with either secret of a rotation, and with no other", async () => {
    const [next, before] = [secret, randomBytes(48).toString("base64")];
    const headers = signedBy(next, before);
    for (const each of [next, before]) {
      expect(await verifyWebhook({ headers, body }, { secret: each, now })).toEqual(message);
    }
    const other = randomBytes(32).toString("hex");
    await expect(verifyWebhook({ headers, body }, { secret: other, now })).rejects.toThrow(WebhookVerificationError);
    await expect(verifyWebhook({ headers, body: `${body} ` }, { secret, now })).rejects.toThrow(
      WebhookVerificationError,
    );
  });
});

describe("a message with the signature that receivers in the field check", () => {
  const signed = (signedBy: string) => ({
    "x-popina-hmac-signature": createHmac("sha256", signedBy).update(body).digest("hex"),
  });
  const scheme = "popina";

  it("is read, in either form of the secret, and with one of several", async () => {
    const other = randomBytes(32).toString("hex");
    const headers = signed(secret);
    for (const each of [secret, `whsec_${Buffer.from(secret).toString("base64")}`, [other, secret]]) {
      expect(await verifyWebhook({ headers, body }, { secret: each, scheme })).toEqual(message);
    }
  });

  it("is refused when it was changed, or signed with another secret, and unless that scheme is asked for", async () => {
    const headers = signed(secret);
    const refused = [
      { headers, body: `${body} ` },
      { headers: signed("another"), body },
      { headers: { "x-popina-hmac-signature": headers["x-popina-hmac-signature"].slice(2) }, body },
      { headers: { "x-popina-hmac-signature": "not hex" }, body },
      { headers: headersOf(secret), body },
    ];
    for (const each of refused) {
      await expect(verifyWebhook(each, { secret, scheme })).rejects.toThrow(WebhookVerificationError);
    }
    await expect(verifyWebhook({ headers, body }, { secret, now })).rejects.toThrow("missing");
  });
});

describe("anything else", () => {
  it("is refused", async () => {
    const signed = headersOf(secret);
    const posted = [
      { headers: headersOf("another secret"), body },
      { headers: signed, body: body.replace("marche", "casse") },
      { headers: { ...signed, "Webhook-Id": "another" }, body },
      { headers: { ...signed, "Webhook-Timestamp": "now" }, body },
      { headers: { ...signed, "Webhook-Signature": "v1,%%%" }, body },
      { headers: { ...signed, "Webhook-Signature": undefined }, body },
      { headers: {}, body },
    ];
    for (const each of posted) {
      await expect(verifyWebhook(each, { secret, now })).rejects.toThrow(WebhookVerificationError);
    }
  });
});
