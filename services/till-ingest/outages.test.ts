import { rename, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { type OwnTestServers, startOwnTestServers } from "@pragma/runtime/testing/dedicated-infrastructure-servers";
import { eventually } from "@pragma/runtime/testing/eventually";
import { buildTestPrincipal } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestTillIngestService, type TestTillIngestService } from "./testing/start-test-till-ingest.ts";
import { buildTestTill } from "./testing/till-fixtures.ts";

let servers: OwnTestServers;
let service: TestTillIngestService;
const principal = buildTestPrincipal();

beforeAll(async () => {
  servers = await startOwnTestServers();
  await servers.kill("nats");
  service = await startTestTillIngestService({ DATABASE_URL: servers.postgres.url, NATS_URL: servers.nats.url });
});
afterAll(async () => {
  await service?.remove();
  await servers?.stop();
});

const push = (body: unknown) => service.request("POST", "/v2/tills/", { principal, body });

describe("a push", () => {
  it("is accepted before NATS is first available, and its event follows later", async () => {
    const till = buildTestTill();
    expect((await push(till)).status).toBe(201);
    expect(await service.db.sql`select 1 from outbox where type = 'till.pushed'`).toHaveLength(1);
    await servers.start("nats");
    expect(await service.tillPushedEvents(String(till.id))).toHaveLength(1);
  });

  it("is accepted while NATS is unavailable, and its event follows later", async () => {
    await servers.kill("nats");
    const tills = Array.from({ length: 5 }, () => buildTestTill());
    for (const till of tills) expect((await push(till)).status).toBe(201);
    await servers.start("nats");
    for (const till of tills) expect(await service.tillPushedEvents(String(till.id))).toHaveLength(1);
  });

  it("returns 503 and stores nothing while the object store is unavailable, then 201", async () => {
    const folder = fileURLToPath(service.environment.variables.OBJECT_STORE ?? "");
    await rename(folder, `${folder}-away`);
    await writeFile(folder, "");
    const till = buildTestTill();
    const response = await push(till);
    await rm(folder);
    await rename(`${folder}-away`, folder);
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "2"]);
    expect(await service.db.sql`select 1 from tills where id = ${till.id}`).toHaveLength(0);
    expect((await push(till)).status).toBe(201);
    expect(await service.tillPushedEvents(String(till.id))).toHaveLength(1);
  });

  it("returns 503 while PostgreSQL is unavailable, and a repeated push creates one till", async () => {
    await servers.kill("postgres");
    const till = buildTestTill();
    const response = await push(till);
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "2"]);
    await servers.start("postgres");
    const accepted = await eventually("the push to be accepted", async () => {
      const { status } = await push(till);
      return status < 300 && status;
    });
    expect([200, 201]).toContain(accepted);
    expect(await service.tillPushedEvents(String(till.id))).toHaveLength(1);
  });
});
