import { randomUUID } from "node:crypto";
import { paginatedSchema } from "@pragma/contracts/pagination";
import { WebhookRecipient, WebhookRecipientWithSecret } from "@pragma/contracts/webhook-recipient";
import { buildTestPrincipal } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import {
  createWebhooksTestPrincipal,
  startTestWebhooksService,
  type TestWebhooksService,
} from "../testing/start-test-webhooks.ts";

let service: TestWebhooksService;
const principal = createWebhooksTestPrincipal();
const path = "/v1/recipients/";

beforeAll(async () => {
  service = await startTestWebhooksService();
});
afterAll(() => service?.remove());

const createRecipient = (body: object = {}, creator = principal) =>
  service.sendJson(
    { method: "POST", path, principal: creator, body: { name: "Stock keeper", ...body } },
    { status: 201, schema: WebhookRecipientWithSecret },
  );
const listRecipients = async (reader = principal) =>
  (await service.getJson(`${path}?size=100`, paginatedSchema(WebhookRecipient), reader)).data;

describe("a location at its limit of recipients", () => {
  let limited: TestWebhooksService;
  beforeAll(async () => {
    limited = await startTestWebhooksService({ variables: { MAX_RECIPIENTS_PER_LOCATION: "3" } });
  });
  afterAll(() => limited?.remove());

  it("rejects further recipients, even from concurrent requests, and accepts updates", async () => {
    const body = { name: "Stock keeper" };
    const responses = await Promise.all(
      Array.from({ length: 12 }, () => limited.request("POST", path, { principal, body })),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 201, 201, ...Array(9).fill(409)]);
    const problem = await limited.requestProblem({ method: "POST", path, principal, body });
    expect(problem).toMatchObject({
      code: "limit_reached",
      limit: { name: "recipients", maximum: 3, unit: "recipients of a location" },
    });
    const { data, meta } = await limited.getJson(path, paginatedSchema(WebhookRecipient), principal);
    expect(meta.totalCount).toBe(3);
    const id = data[0]?.id;
    const update = await limited.request("POST", path, { principal, body: { id, name: "Renamed" } });
    expect(update.status).toBe(200);
    expect((await limited.request("POST", path, { principal: createWebhooksTestPrincipal(), body })).status).toBe(201);
    expect((await limited.request("DELETE", `${path}${id}`, { principal })).status).toBe(204);
    expect((await limited.request("POST", path, { principal, body })).status).toBe(201);
  });
});

describe("a new recipient", () => {
  it("gets a generated secret of 64 characters, returned once and in both formats", async () => {
    const created = await createRecipient();
    expect(created.hmacSecret).toMatch(/^[0-9a-f]{64}$/);
    const base64 = created.signingSecret?.replace("whsec_", "") ?? "";
    expect(Buffer.from(base64, "base64").toString()).toBe(created.hmacSecret);
    const [row] = await service.db.sql`
      select encrypted_secret from signing_secrets where recipient_id = ${created.id}`;
    expect(row?.encryptedSecret).not.toContain(created.hmacSecret);
    const listed = (await listRecipients()).find(({ id }) => id === created.id);
    expect(JSON.stringify(listed)).not.toContain(created.hmacSecret);
    expect(listed).toMatchObject({ name: "Stock keeper", hasApiKey: false, secrets: [{ expiresAt: null }] });
  });

  it("uses the given secret and API key, and returns the secret only in the format of Standard Webhooks", async () => {
    const hmacSecret = "s".repeat(64);
    const created = await createRecipient({ hmacSecret, apiKey: "Bearer recipient-key" });
    const signingSecret = `whsec_${Buffer.from(hmacSecret).toString("base64")}`;
    expect(created).toMatchObject({ hmacSecret: null, signingSecret, hasApiKey: true });
    expect(JSON.stringify(await listRecipients())).not.toContain(signingSecret);
    const responses = JSON.stringify([created, await listRecipients()]);
    expect(responses).not.toContain(hmacSecret);
    expect(responses).not.toContain("recipient-key");
    const rows = await service.db.sql`select * from recipients r join signing_secrets s on s.recipient_id = r.id`;
    expect(JSON.stringify(rows)).not.toContain(hmacSecret);
    expect(JSON.stringify(rows)).not.toContain("recipient-key");
  });

  test.each([
    ["a secret of 63 characters", { hmacSecret: "s".repeat(63) }, "hmacSecret"],
    ["a key with a line break", { apiKey: "a\r\nx-evil: 1" }, "apiKey"],
    ["an empty key", { apiKey: "" }, "apiKey"],
    ["no name", { name: undefined }, "name"],
    ["an id that is not a UUID", { id: "7" }, "id"],
    ["a name that cannot be stored", { name: "a\u0000b" }, "name"],
  ])("returns 400 for %s", async (_, body, issuePath) => {
    const problem = await service.requestProblem({ method: "POST", path, principal, body: { name: "x", ...body } });
    expect(problem).toMatchObject({ status: 400, code: "invalid_request", errors: [{ in: "body", path: issuePath }] });
    expect(JSON.stringify(problem)).not.toContain("sss");
  });
});

describe("an existing recipient", () => {
  it("is updated, and keeps the fields that are omitted", async () => {
    const id = randomUUID();
    await createRecipient({ id, apiKey: "one" });
    const update = async (body: object) =>
      service.sendJson(
        { method: "POST", path, principal, body: { id: id.toUpperCase(), name: "Another", ...body } },
        { status: 200, schema: WebhookRecipientWithSecret },
      );
    expect(await update({})).toMatchObject({
      id,
      name: "Another",
      hasApiKey: true,
      hmacSecret: null,
      signingSecret: null,
    });
    expect(await update({ apiKey: null })).toMatchObject({ hasApiKey: false });
    expect((await listRecipients()).filter((recipient) => recipient.id === id)).toHaveLength(1);
  });

  it("rotates to another secret, and does not change when the same secret is sent again", async () => {
    const { id } = await createRecipient({ hmacSecret: "a".repeat(64) });
    const setSecret = (hmacSecret: string) =>
      service.sendJson(
        { method: "POST", path, principal, body: { id, name: "x", hmacSecret } },
        { status: 200, schema: WebhookRecipientWithSecret },
      );
    expect((await setSecret("a".repeat(64))).secrets).toHaveLength(1);
    const { secrets } = await setSecret("b".repeat(64));
    expect(secrets).toMatchObject([{ expiresAt: null }, { expiresAt: expect.any(String) }]);
    const hours = (Date.parse(secrets[1]?.expiresAt ?? "") - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(23.9);
    expect(hours).toBeLessThan(24.1);
  });

  it("cannot be read, updated, rotated or deleted from another location", async () => {
    const { id } = await createRecipient();
    const otherPrincipal = createWebhooksTestPrincipal();
    const update = { method: "POST", path, principal: otherPrincipal, body: { id, name: "Mine" } };
    expect(await service.requestProblem(update)).toMatchObject({ status: 409, code: "recipient_conflict" });
    expect(await listRecipients(otherPrincipal)).toEqual([]);
    const rotation = { method: "POST", path: `${path}${id}/rotate`, principal: otherPrincipal, body: {} };
    expect(await service.requestProblem(rotation)).toMatchObject({ status: 404, code: "recipient_not_found" });
    const removal = { method: "DELETE", path: `${path}${id}`, principal: otherPrincipal };
    expect(await service.requestProblem(removal)).toMatchObject({ status: 404, code: "recipient_not_found" });
  });

  it("has up to five active secrets, and can expire earlier secrets as leaked", async () => {
    const { id } = await createRecipient();
    const rotate = (body = {}) =>
      service.request("POST", `${path}${id}/rotate`, { principal, body }).then(({ status }) => status);
    expect([await rotate(), await rotate(), await rotate(), await rotate()]).toEqual([200, 200, 200, 200]);
    expect(await rotate()).toBe(409);
    expect(await rotate({ isLeaked: true })).toBe(200);
    expect((await listRecipients()).find((recipient) => recipient.id === id)?.secrets).toHaveLength(1);
  });

  it("can be deleted once it has no webhooks", async () => {
    const { recipientId, webhook } = await service.createSubscription("http://127.0.0.1:9999/", { principal });
    const remove = () => service.request("DELETE", `${path}${recipientId}`, { principal }).then(({ status }) => status);
    expect(await remove()).toBe(409);
    await service.request("DELETE", `/v1/webhooks/${webhook.id}`, { principal });
    expect(await remove()).toBe(204);
    expect(await remove()).toBe(404);
  });
});

describe("an API key", () => {
  it("without the scope is rejected", async () => {
    const problem = await service.requestProblem({ method: "GET", path, principal: buildTestPrincipal() });
    expect(problem).toMatchObject({ status: 403, code: "scope_missing" });
  });

  it("of the operator creates recipients for any existing location", async () => {
    const operator = buildTestPrincipal({ scopes: ["admin"], location: null });
    const { id: locationId } = service.accounts.addLocation();
    expect(await createRecipient({ locationId }, operator)).toMatchObject({ locationId });
    const unknown = { method: "POST", path, principal: operator, body: { name: "x", locationId: randomUUID() } };
    expect(await service.requestProblem(unknown)).toMatchObject({ status: 404, code: "location_not_found" });
  });

  it("of a location cannot create recipients for another", async () => {
    const body = { name: "x", locationId: randomUUID() };
    const problem = await service.requestProblem({ method: "POST", path, principal, body });
    expect(problem).toMatchObject({ status: 403, code: "location_forbidden" });
  });
});
