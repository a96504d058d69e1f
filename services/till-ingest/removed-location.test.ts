import { randomUUID } from "node:crypto";
import { writeEventJsonToOutbox } from "@pragma/runtime/messaging/outbox";
import { eventually } from "@pragma/runtime/testing/eventually";
import { buildTestPrincipal } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestTillIngestService, type TestTillIngestService } from "./testing/start-test-till-ingest.ts";
import { buildTestTill } from "./testing/till-fixtures.ts";

const principal = buildTestPrincipal();
const removedLocationId = principal.location?.id ?? "";
let service: TestTillIngestService;
beforeAll(async () => {
  service = await startTestTillIngestService();
  const { sql } = service.db;
  await sql`insert into removed_locations ${sql({ locationId: removedLocationId })}`;
  // As `npm run ops -- location remove` does.
  await sql`
    create trigger reject_removed_location before insert on till_directory
    for each row execute function reject_removed_location()`;
});
afterAll(() => service?.remove());

describe("a location that was removed", () => {
  it("gets 404 for a push that had begun before, and nothing is stored", async () => {
    const response = await service.request("POST", "/v2/tills/", { principal, body: buildTestTill() });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: "location_not_found" });
    expect(await service.db.sql`select from till_directory`).toEqual([]);
  });

  it("gets no dead letters for events that can no longer be handled", async () => {
    const publishInvalidEvent = async (locationId: string) => {
      const event = { subject: randomUUID(), locationId, data: JSON.stringify({ locationId }), traceparent: undefined };
      await service.db.transaction((tx) => writeEventJsonToOutbox(tx, "till.expired", event));
      return event.subject;
    };
    const subject = await publishInvalidEvent(removedLocationId);
    const otherSubject = await publishInvalidEvent(randomUUID());
    const findDeadLetters = async () => {
      const rows = await service.db.sql<{ subject: string }[]>`select subject from dead_letters`;
      return rows.map((row) => row.subject);
    };
    await eventually("the dead letter of the other location", async () =>
      (await findDeadLetters()).includes(otherSubject),
    );
    expect(await findDeadLetters()).not.toContain(subject);
  });
});
