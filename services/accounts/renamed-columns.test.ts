import { randomUUID } from "node:crypto";
import type { Database } from "@pragma/runtime/database/postgres";
import { createPreviousDatabaseSchema } from "@pragma/runtime/testing/previous-schema";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

let environment: IsolatedTestEnvironment;
let db: Database;
const locationId = randomUUID();
const earlier = randomUUID();

const insertConsumer = (id: string, names: Record<string, string | null>) => db.sql`
  insert into consumers ${db.sql({ id, name: id, scopes: [], locationId, ...names })} on conflict do nothing`;
const insertKey = (id: string, origin: Record<string, string>) => db.sql`
  insert into api_keys ${db.sql({ id, hash: id.replaceAll("-", "").repeat(2), prefix: "p", consumerId: earlier, ...origin })}`;

beforeAll(async () => {
  environment = await createIsolatedTestEnvironment();
  const previous = await createPreviousDatabaseSchema(environment, { _runtime: 6, accounts: 5 });
  db = previous.db;
  await insertConsumer(earlier, { givenName: "earlier" });
  await insertKey(earlier, { madeFrom: "first start" });
  await previous.migrate();
});
afterAll(async () => {
  await db.close();
  await environment.remove();
});

describe("created_from of an API key, formerly made_from", () => {
  const origins = async (id: string) =>
    (await db.sql`select made_from, created_from from api_keys where id = ${id}`)[0];

  it("is filled for existing keys", async () => {
    expect(await origins(earlier)).toEqual({ madeFrom: "first start", createdFrom: "first start" });
  });

  it.each(["madeFrom", "createdFrom"])("is written as %s and read by both names", async (name) => {
    const id = randomUUID();
    await insertKey(id, { [name]: "environment" });
    expect(await origins(id)).toEqual({ madeFrom: "environment", createdFrom: "environment" });
  });
});

describe("display_name of a consumer, formerly given_name", () => {
  const names = async (id: string) =>
    (await db.sql`select given_name, display_name from consumers where id = ${id}`)[0];

  it("is filled for existing consumers", async () => {
    expect(await names(earlier)).toEqual({ givenName: "earlier", displayName: "earlier" });
  });

  it.each(["givenName", "displayName"])("is written as %s, read by both names, and unique", async (name) => {
    const id = randomUUID();
    await insertConsumer(id, { [name]: name });
    expect(await names(id)).toEqual({ givenName: name, displayName: name });
    for (const other of ["givenName", "displayName"])
      expect((await insertConsumer(randomUUID(), { [other]: name })).count).toBe(0);
  });
});
