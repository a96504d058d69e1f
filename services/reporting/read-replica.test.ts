import { randomUUID } from "node:crypto";
import { paginatedSchema } from "@pragma/contracts/pagination";
import { ReportListItem } from "@pragma/contracts/report-v2";
import { eventually } from "@pragma/runtime/testing/eventually";
import { startTestPostgresReplication, type TestPostgresReplication } from "@pragma/runtime/testing/postgres-replica";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  buildTestPrincipalWithScopes,
  startTestReportingService,
  type TestReportingService,
} from "./testing/start-test-reporting.ts";
import { buildTestOrder, buildTestTill } from "./testing/till-fixtures.ts";

let servers: TestPostgresReplication;
let reporting: TestReportingService;

beforeAll(async () => {
  servers = await startTestPostgresReplication();
  reporting = await startTestReportingService({
    DATABASE_URL: servers.primaryUrl,
    DATABASE_READ_URL: servers.replicaUrl,
  });
});
afterAll(async () => {
  await reporting.remove();
  await servers.stop();
});

const createTill = () => buildTestTill([buildTestOrder({ id: randomUUID() })], { id: randomUUID() });

const isReadFromReplica = (locationId: string) =>
  reporting.db.read(locationId, async ({ sql }) => {
    const [row] = await sql<[{ isReplica: boolean }]>`select pg_is_in_recovery() as is_replica`;
    return row.isReplica;
  });

it("lists the reports of tills that were just pushed, whether or not the replica has them", async () => {
  const [pushing, other] = [buildTestPrincipalWithScopes("reports:read"), buildTestPrincipalWithScopes("reports:read")];
  const listReports = (principal: typeof pushing) =>
    reporting.getJson("/v2/reports/", paginatedSchema(ReportListItem), principal);
  await reporting.pushTills([createTill()], other.location.id);
  await eventually("the replica to have the first till", () => isReadFromReplica(other.location.id));

  await servers.pauseReplay();
  for (let count = 1; count <= 5; count += 1) {
    await reporting.pushTills([createTill()], pushing.location.id);
    const { data, meta } = await listReports(pushing);
    expect([data.length, meta.totalCount]).toEqual([count, count]);
    const response = await reporting.request("GET", `/v2/reports/${data[0]?.id}`, { principal: pushing });
    expect(response.status).toBe(200);
  }
  expect(await isReadFromReplica(pushing.location.id)).toBe(false);
  await eventually("another location to be read from the replica", () => isReadFromReplica(other.location.id));
  expect((await listReports(other)).meta.totalCount).toBe(1);

  await servers.resumeReplay();
  await eventually("the replica to have all tills", () => isReadFromReplica(pushing.location.id));
  expect((await listReports(pushing)).meta.totalCount).toBe(5);
});
