import { ObjectNotFound } from "@pragma/runtime/object-store/object-store";
import { testPrincipal } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { eraseTill } from "./erase-till.ts";
import { makeOrder, makeTill } from "./testing/make-till.ts";
import { startTillIngest, type TestTillIngest } from "./testing/start-till-ingest.ts";

let service: TestTillIngest;
let principal = testPrincipal();

beforeAll(async () => {
  service = await startTillIngest();
});
afterAll(() => service?.remove());
beforeEach(() => {
  principal = testPrincipal();
});

const push = (body: unknown) => service.ask("POST", "/v2/tills/", { principal, body });
const replace = (id: string, body: unknown) => service.ask("PUT", `/v1/tills/${id}`, { principal, body });
const bodyOf = async (id: string) => (await service.ask("GET", `/v1/tills/${id}/object`, { principal })).text();
const erase = (tillId: string) =>
  eraseTill(
    { db: service.db, objects: service.objects, sweepAfter: 300 },
    { tillId, orderIds: null, traceparent: undefined },
  );

/** A till that names somebody. */
const tillOfAda = () => makeTill({ orderList: [makeOrder({ firebaseCustomerName: "Ada Lovelace" })] });

async function keptBodies(): Promise<string[]> {
  const keys = await service.db.sql<{ key: string }[]>`
    select object_key as key from till_versions union select key from object_intents`;
  const bodies = keys.map(({ key }) =>
    service.objects.get(key).then(
      (bytes) => new TextDecoder().decode(bytes),
      (error) => {
        if (error instanceof ObjectNotFound) return "";
        throw error;
      },
    ),
  );
  return Promise.all(bodies);
}

describe("a till whose personal data was erased", () => {
  it("names nobody any more, in no body that is kept", async () => {
    const till = tillOfAda();
    await push(till);
    expect(await bodyOf(till.id)).toContain("Lovelace");
    await erase(till.id);
    expect(JSON.parse(await bodyOf(till.id))).toMatchObject({ id: till.id, reportNumber: till.reportNumber });
    expect((await keptBodies()).join()).not.toContain("Lovelace");
  });

  it.each([
    ["pushed", push],
    ["put in its place", (till: { id: string }) => replace(till.id, till)],
  ])("stays so when the body that it had is %s again", async (_, again) => {
    const till = tillOfAda();
    await push(till);
    await erase(till.id);
    expect((await again(till)).status).toBe(200);
    expect(await bodyOf(till.id)).not.toContain("Lovelace");
    expect((await keptBodies()).join()).not.toContain("Lovelace");
    expect((await service.announced(till.id)).map(({ revision }) => revision)).toEqual([1, 2]);
  });

  it("has the body of another that takes its place", async () => {
    const till = tillOfAda();
    await push(till);
    await erase(till.id);
    expect((await replace(till.id, { ...till, note: "other" })).status).toBe(200);
    expect(await bodyOf(till.id)).toContain("other");
    expect((await push(till)).status).toBe(409);
  });
});
