import { randomUUID } from "node:crypto";
import { maxSandboxMessages } from "@pragma/contracts/sandbox";
import type { Database } from "@pragma/runtime/database/postgres";
import { createTestDatabaseSchema } from "@pragma/runtime/testing/database-schema";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, expect, it } from "vitest";
import { insertMessage } from "./messages.ts";

let environment: IsolatedTestEnvironment;
let db: Database;
const sandbox = { id: randomUUID(), locationId: randomUUID() };

beforeAll(async () => {
  environment = await createIsolatedTestEnvironment();
  db = await createTestDatabaseSchema(environment, ["_runtime", "sandboxes"]);
  await db.sql`
    insert into sandboxes
      (id, state, expires_at, client_network_hash, location_id, inbox_token, encrypted_inbox_secret, due_at)
    values (${sandbox.id}, 'ready', now() + interval '1 day', '', ${sandbox.locationId}, 'token', '', now())`;
});
afterAll(async () => {
  await db.close();
  await environment.remove();
});

const receive = (id: string) =>
  insertMessage(db, { sandbox, headers: { id }, body: Buffer.from("{}"), verificationError: null });

it("stores messages that arrive together without a deadlock, and keeps the newest", async () => {
  const statuses = await Promise.all(Array.from({ length: 1_000 }, (_, index) => receive(`${index}`)));
  expect(new Set(statuses)).toEqual(new Set([204]));
  const [row] = await db.sql<[{ count: number }]>`select count(*)::int from messages`;
  expect(row.count).toBe(maxSandboxMessages);
}, 240_000);

it("responds with 500 to exactly as many messages as should fail", async () => {
  await db.sql`update sandboxes set failing_deliveries = 3 where id = ${sandbox.id}`;
  const statuses = await Promise.all(Array.from({ length: 20 }, (_, index) => receive(`failing ${index}`)));
  expect(statuses.filter((status) => status === 500)).toHaveLength(3);
});
