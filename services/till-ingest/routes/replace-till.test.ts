import { randomUUID } from "node:crypto";
import { ReplacedTill } from "@pragma/contracts/till";
import { testPrincipal } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { makeTill, makeTillV1 } from "../testing/make-till.ts";
import { startTillIngest, type TestTillIngest } from "../testing/start-till-ingest.ts";

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
const refused = (id: string, body: unknown) => service.refusal("PUT", `/v1/tills/${id}`, { principal, body });
const bodyOf = async (id: string) => (await service.ask("GET", `/v1/tills/${id}/object`, { principal })).text();

describe("PUT /v1/tills/{id}", () => {
  it("puts another body in the place of the till's, announces it as the next revision, and keeps the earlier body", async () => {
    const till = makeTill();
    await push(till);
    const other = JSON.stringify({ ...till, note: "other" }, null, 1);
    const answer = await replace(till.id, other);
    expect(answer.status).toBe(200);
    expect(ReplacedTill.parse(await answer.json())).toEqual({
      tillId: till.id,
      objectUrl: `http://pragma.test/v1/tills/${till.id}/object`,
    });
    expect(await bodyOf(till.id)).toBe(other);
    const announced = await service.announced(till.id);
    expect(announced.map(({ revision, reason }) => [revision, reason])).toEqual([
      [1, "push"],
      [2, "replace"],
    ]);
    for (const { object } of announced) expect((await service.objects.get(object.key)).byteLength).toBeGreaterThan(0);
    expect(announced[1]?.pushedAt).toBe(announced[0]?.pushedAt);
  });

  it("changes nothing when it is the body that the till has", async () => {
    const till = makeTill();
    await push(till);
    expect((await replace(till.id, till)).status).toBe(200);
    expect(await service.announced(till.id)).toHaveLength(1);
  });

  it("takes a body in the other format", async () => {
    const location = {
      ...principal.location,
      id: randomUUID(),
      application: "JALIA" as const,
      legacyId: 77,
      timeZone: "Europe/Paris",
    };
    principal = testPrincipal({ location });
    const till = makeTill();
    await push(till);
    const older = makeTillV1({ application: "JALIA", legacyId: 77 }, { client_id: `s${till.id.toUpperCase()}` });
    expect((await replace(till.id, older)).status).toBe(200);
    expect((await service.announced(till.id))[1]).toMatchObject({ version: "V1", revision: 2 });
  });

  it("makes each of many at once a revision of its own", async () => {
    const till = makeTill();
    await push(till);
    const notes = Array.from({ length: 12 }, (_, index) => `note ${index}`);
    const answers = await Promise.all(notes.map((note) => replace(till.id, { ...till, note })));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const revisions = (await service.announced(till.id)).map(({ revision }) => revision);
    expect(revisions.toSorted((one, other) => one - other)).toEqual(
      Array.from({ length: 13 }, (_, index) => index + 1),
    );
  });

  it("refuses a till that is not there, another location's, another id in the body, and faults", async () => {
    const till = makeTill();
    expect(await refused(till.id, till)).toMatchObject({ code: "till_not_found" });
    await push(till);
    const stranger = testPrincipal();
    expect(await service.refusal("PUT", `/v1/tills/${till.id}`, { principal: stranger, body: till })).toMatchObject({
      code: "till_not_found",
    });
    expect(await refused(till.id, makeTill())).toMatchObject({
      code: "invalid_request",
      errors: [{ in: "body", path: "id" }],
    });
    expect(await refused(till.id, { ...till, reportNumber: 0 })).toMatchObject({ errors: [{ path: "reportNumber" }] });
    expect(await service.announced(till.id)).toHaveLength(1);
  });
});
