import { randomUUID } from "node:crypto";
import { paginatedSchema } from "@pragma/contracts/pagination";
import { WebhookRecipient, WebhookRecipientWithSecret } from "@pragma/contracts/webhook-recipient";
import { createTestPrincipal } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { createWebhooksPrincipal, startTestWebhooks, type TestWebhooks } from "../testing/start-test-webhooks.ts";

let service: TestWebhooks;
const principal = createWebhooksPrincipal();
const path = "/v1/recipients/";

beforeAll(async () => {
  service = await startTestWebhooks();
});
afterAll(() => service?.remove());

const createRecipient = (body: object = {}, by = principal) =>
  service.sendRequest(
    { method: "POST", path, principal: by, body: { name: "Stock keeper", ...body } },
    { status: 201, schema: WebhookRecipientWithSecret },
  );
const listRecipients = async (by = principal) =>
  (await service.getJson(`${path}?size=100`, paginatedSchema(WebhookRecipient), by)).data;

describe("a location with as many recipients as it may have", () => {
  let limited: TestWebhooks;
  beforeAll(async () => {
    limited = await startTestWebhooks({ variables: { RECIPIENTS_PER_LOCATION: "3" } });
  });
  afterAll(() => limited?.remove());

  it("gets no more, also of many requests at once, and changes those that it has", async () => {
    const body = { name: "Stock keeper" };
    const replies = await Promise.all(
      Array.from({ length: 12 }, () => limited.request("POST", path, { principal, body })),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 201, 201, ...Array(9).fill(409)]);
    const problem = await limited.requestProblem({ method: "POST", path, principal, body });
    expect(problem).toMatchObject({
      code: "limit_reached",
      limit: { name: "recipients", maximum: 3, unit: "recipients of a location" },
    });
    const { data, meta } = await limited.getJson(path, paginatedSchema(WebhookRecipient), principal);
    expect(meta.totalCount).toBe(3);
    const id = data[0]?.id;
    const changed = await limited.request("POST", path, { principal, body: { id, name: "Renamed" } });
    expect(changed.status).toBe(200);
    expect((await limited.request("POST", path, { principal: createWebhooksPrincipal(), body })).status).toBe(201);
    expect((await limited.request("DELETE", `${path}${id}`, { principal })).status).toBe(204);
    expect((await limited.request("POST", path, { principal, body })).status).toBe(201);
  });
});

describe("a new recipient", () => {
  it("gets a secret of 64 characters, which is shown this once, in both forms", async () => {
    const made = await createRecipient();
    expect(made.hmacSecret).toMatch(/^[0-9a-f]{64}$/);
    const base64 = made.signingSecret?.replace("whsec_", "") ?? "";
    expect(Buffer.from(base64, "base64").toString()).toBe(made.hmacSecret);
    const [row] = await service.db.sql`select sealed_secret from recipient_secrets where recipient_id = ${made.id}`;
    expect(row?.sealedSecret).not.toContain(made.hmacSecret);
    const listed = (await listRecipients()).find(({ id }) => id === made.id);
    expect(JSON.stringify(listed)).not.toContain(made.hmacSecret);
    expect(listed).toMatchObject({ name: "Stock keeper", hasApiKey: false, secrets: [{ expiresAt: null }] });
  });

  it("takes the secret and the key that it is given, and never gives them back", async () => {
    const hmacSecret = "s".repeat(64);
    const made = await createRecipient({ hmacSecret, apiKey: "Bearer for-us" });
    expect(made).toMatchObject({ hmacSecret: null, signingSecret: null, hasApiKey: true });
    const everything = JSON.stringify([made, await listRecipients()]);
    expect(everything).not.toContain(hmacSecret);
    expect(everything).not.toContain("for-us");
    const rows = await service.db.sql`select * from recipients r join recipient_secrets s on s.recipient_id = r.id`;
    expect(JSON.stringify(rows)).not.toContain(hmacSecret);
    expect(JSON.stringify(rows)).not.toContain("for-us");
  });

  test.each([
    ["a secret of 63 characters", { hmacSecret: "s".repeat(63) }, "hmacSecret"],
    ["a key with a line break", { apiKey: "a\r\nx-evil: 1" }, "apiKey"],
    ["an empty key", { apiKey: "" }, "apiKey"],
    ["no name", { name: undefined }, "name"],
    ["an id that is none", { id: "7" }, "id"],
    ["a name that cannot be stored", { name: "a\u0000b" }, "name"],
  ])("is refused with %s", async (_, body, at) => {
    const problem = await service.requestProblem({ method: "POST", path, principal, body: { name: "x", ...body } });
    expect(problem).toMatchObject({ status: 400, code: "invalid_request", errors: [{ in: "body", path: at }] });
    expect(JSON.stringify(problem)).not.toContain("sss");
  });
});

describe("a recipient of this id", () => {
  it("is changed; what is left out stays", async () => {
    const id = randomUUID();
    await createRecipient({ id, apiKey: "one" });
    const change = async (body: object) =>
      service.sendRequest(
        { method: "POST", path, principal, body: { id: id.toUpperCase(), name: "Another", ...body } },
        { status: 200, schema: WebhookRecipientWithSecret },
      );
    expect(await change({})).toMatchObject({ id, name: "Another", hasApiKey: true, hmacSecret: null });
    expect(await change({ apiKey: null })).toMatchObject({ hasApiKey: false });
    expect((await listRecipients()).filter((each) => each.id === id)).toHaveLength(1);
  });

  it("takes another secret as a rotation, and the same one again as no change", async () => {
    const { id } = await createRecipient({ hmacSecret: "a".repeat(64) });
    const give = (hmacSecret: string) =>
      service.sendRequest(
        { method: "POST", path, principal, body: { id, name: "x", hmacSecret } },
        { status: 200, schema: WebhookRecipientWithSecret },
      );
    expect((await give("a".repeat(64))).secrets).toHaveLength(1);
    const { secrets } = await give("b".repeat(64));
    expect(secrets).toMatchObject([{ expiresAt: null }, { expiresAt: expect.any(String) }]);
    const hours = (Date.parse(secrets[1]?.expiresAt ?? "") - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(23.9);
    expect(hours).toBeLessThan(24.1);
  });

  it("is nobody else's: 409 says nothing of it, and it is neither listed, rotated nor deleted", async () => {
    const { id } = await createRecipient();
    const stranger = createWebhooksPrincipal();
    const asked = { method: "POST", path, principal: stranger, body: { id, name: "Mine" } };
    expect(await service.requestProblem(asked)).toMatchObject({ status: 409, code: "recipient_conflict" });
    expect(await listRecipients(stranger)).toEqual([]);
    const rotation = { method: "POST", path: `${path}${id}/rotate`, principal: stranger, body: {} };
    expect(await service.requestProblem(rotation)).toMatchObject({ status: 404, code: "recipient_not_found" });
    const removal = { method: "DELETE", path: `${path}${id}`, principal: stranger };
    expect(await service.requestProblem(removal)).toMatchObject({ status: 404, code: "recipient_not_found" });
  });

  it("has five secrets at most, until one expires or all but the last have leaked", async () => {
    const { id } = await createRecipient();
    const rotate = (body = {}) =>
      service.request("POST", `${path}${id}/rotate`, { principal, body }).then(({ status }) => status);
    expect([await rotate(), await rotate(), await rotate(), await rotate()]).toEqual([200, 200, 200, 200]);
    expect(await rotate()).toBe(409);
    expect(await rotate({ isLeaked: true })).toBe(200);
    expect((await listRecipients()).find((each) => each.id === id)?.secrets).toHaveLength(1);
  });

  it("is deleted once it has no webhooks", async () => {
    const { recipientId, webhook } = await service.createSubscription("http://127.0.0.1:9999/", { principal });
    const remove = () => service.request("DELETE", `${path}${recipientId}`, { principal }).then(({ status }) => status);
    expect(await remove()).toBe(409);
    await service.request("DELETE", `/v1/webhooks/${webhook.id}`, { principal });
    expect(await remove()).toBe(204);
    expect(await remove()).toBe(404);
  });
});

describe("a key", () => {
  it("without the scope makes no recipient", async () => {
    const problem = await service.requestProblem({ method: "GET", path, principal: createTestPrincipal() });
    expect(problem).toMatchObject({ status: 403, code: "scope_missing" });
  });

  it("of the operator makes them for any location that there is", async () => {
    const operator = createTestPrincipal({ scopes: ["admin"], location: null });
    const { id: locationId } = service.accounts.addLocation();
    expect(await createRecipient({ locationId }, operator)).toMatchObject({ locationId });
    const nowhere = { method: "POST", path, principal: operator, body: { name: "x", locationId: randomUUID() } };
    expect(await service.requestProblem(nowhere)).toMatchObject({ status: 404, code: "location_not_found" });
  });

  it("of a location makes them for no other", async () => {
    const body = { name: "x", locationId: randomUUID() };
    const problem = await service.requestProblem({ method: "POST", path, principal, body });
    expect(problem).toMatchObject({ status: 403, code: "location_forbidden" });
  });
});
