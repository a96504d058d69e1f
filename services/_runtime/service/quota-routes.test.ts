import { randomUUID } from "node:crypto";
import { paginatedSchema } from "@pragma/contracts/pagination";
import { QuotaUsage } from "@pragma/contracts/quota";
import { afterAll, beforeAll, expect, it } from "vitest";
import { consumeDailyQuotasOrThrow, tryConsumeDailyQuota } from "../admission/daily-quota.ts";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "../testing/test-environment.ts";
import { buildTestPrincipal, startTestService, type TestService } from "../testing/test-service.ts";
import { createIdempotencyTestService } from "../testing/things-service.ts";

const path = "/v1/services/accounts/quotas";
const [busy, quiet] = [randomUUID(), randomUUID()];
const operator = buildTestPrincipal({ scopes: ["admin"], location: null });
const things = { name: "things", maximum: 10, unit: "things" };
const bytes = { name: "thing_bytes", maximum: 20_000_000_000, unit: "bytes" };

let environment: IsolatedTestEnvironment;
let service: TestService;
beforeAll(async () => {
  environment = await createIsolatedTestEnvironment();
  service = await startTestService(
    createIdempotencyTestService(async () => {}),
    environment,
  );
  const { sql } = service.db;
  await consumeDailyQuotasOrThrow(sql, busy, [
    { quota: things, amount: 9 },
    { quota: bytes, amount: 2_000_000_000 },
  ]);
  await consumeDailyQuotasOrThrow(sql, quiet, [
    { quota: things, amount: 5 },
    { quota: bytes, amount: 0 },
  ]);
  await sql`
    insert into daily_usage (location_id, day, quota, used, maximum)
    values (${quiet}, (now() at time zone 'UTC')::date - 1, 'yesterday', 9, 10)`;
});
afterAll(async () => {
  await service?.stop();
  await environment?.remove();
});

const listPage = (query = "") => service.getJson(`${path}${query}`, paginatedSchema(QuotaUsage), operator);

it("lists what locations have used today of their quotas, the largest share first", async () => {
  const { data, meta } = await listPage();
  expect(data).toEqual([
    { locationId: busy, quota: "things", used: 9, maximum: 10 },
    { locationId: quiet, quota: "things", used: 5, maximum: 10 },
    { locationId: busy, quota: "thing_bytes", used: 2_000_000_000, maximum: 20_000_000_000 },
  ]);
  expect(meta.totalCount).toBe(3);
  const { data: ofQuiet } = await listPage(`?locationId=${quiet.toUpperCase()}`);
  expect(ofQuiet.map(({ used }) => used)).toEqual([5]);
});

it("has pages", async () => {
  const listed: QuotaUsage[] = [];
  for (let token: string | null = ""; token !== null; ) {
    const { data, nextPageToken } = await listPage(`?size=1${token && `&pageToken=${token}`}`);
    listed.push(...data);
    token = nextPageToken;
  }
  expect(listed).toEqual((await listPage()).data);
});

it("states the maximum that applied to the last use", async () => {
  const lower = { ...things, maximum: 8 };
  const locationId = randomUUID();
  await tryConsumeDailyQuota(service.db.sql, { locationId, quota: things, amount: 2 });
  await tryConsumeDailyQuota(service.db.sql, { locationId, quota: lower, amount: 2 });
  expect(await tryConsumeDailyQuota(service.db.sql, { locationId, quota: lower, amount: 5 })).toBe(false);
  const { data } = await listPage(`?locationId=${locationId}`);
  expect(data).toEqual([{ locationId, quota: "things", used: 4, maximum: 8 }]);
});

it("is not found at another service, and forbidden without the scope admin", async () => {
  const other = await service.request("GET", path.replace("accounts", "webhooks"), { principal: operator });
  expect(other.status).toBe(404);
  const principal = buildTestPrincipal({ scopes: ["usage:read", "locations:any"] });
  expect((await service.request("GET", path, { principal })).status).toBe(403);
});
