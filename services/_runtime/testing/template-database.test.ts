import { randomBytes } from "node:crypto";
import { serviceNames } from "@pragma/contracts/service-names";
import postgres from "postgres";
import { afterAll, beforeAll, expect, it } from "vitest";
import { buildServiceSchemaName } from "../service/start-service.ts";
import { createMigratedTestDatabase, dropTestDatabase } from "./template-database.ts";

const serverUrl = process.env.DATABASE_URL ?? "";
const names = [0, 1].map(() => `t${randomBytes(5).toString("hex")}`);
let urls: string[];
beforeAll(async () => {
  urls = await Promise.all(names.map((name) => createMigratedTestDatabase(serverUrl, name)));
});
afterAll(() => Promise.all(names.map((name) => dropTestDatabase(serverUrl, name))));

it("has the schemas of its namespace, to which its functions refer", async () => {
  for (const [index, url] of urls.entries()) {
    const sql = postgres(url, { max: 1 });
    const schemasOf = (services: readonly string[]) =>
      services.map((service) => buildServiceSchemaName(names[index] ?? "", service));
    const schemas = await sql<{ name: string }[]>`
      select nspname as name from pg_namespace where nspname !~ '^(pg_|information_schema$|public$)'`;
    expect(schemas.map(({ name }) => name).sort()).toEqual(schemasOf(serviceNames).sort());
    const paths = await sql<{ path: string }[]>`
      select distinct setting as path from pg_proc, unnest(proconfig) setting
      where setting like 'search_path=%' order by path`;
    const [webhooks] = schemasOf(["webhooks"]);
    const expected = schemasOf(serviceNames).map((schema) => `search_path=${schema}, pg_temp`);
    expect(paths.map(({ path }) => path)).toEqual(expected.sort());
    const day = "2031-05-01";
    await sql`select ${sql(webhooks ?? "")}.create_day_partitions(${day}::date, ${day}::date)`;
    await sql.end();
  }
});
