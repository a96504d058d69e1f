import { randomUUID } from "node:crypto";
import { AccountingExport, StartedAccountingExport } from "@pragma/contracts/accounting-export";
import type { TillV2Input } from "@pragma/contracts/till-v2";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import { eventually } from "@pragma/runtime/testing/eventually";
import { measureLongestEventLoopBlockMs } from "@pragma/runtime/testing/measure-event-loop-block";
import { startTestService } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  claimAccountingExports,
  deleteExpiredExports,
  type ExportClaim,
  finishAccountingExport,
  releaseExportClaim,
  renewExportClaim,
  type StoredTillReport,
} from "../queries/accounting-exports.ts";
import reporting, { createReportingOperatorRoutes } from "../service.ts";
import { principalWithScopes, startTestReporting, type TestReporting } from "../testing/start-test-reporting.ts";
import {
  createTestOrder,
  createTestPaymentRow,
  createTestProductRow,
  createTestTill,
} from "../testing/till-fixtures.ts";
import writeTillEntries from "./write-till-entries.ts";

const principal = principalWithScopes("accounting:write");
let service: TestReporting;
let items: object[];
beforeAll(async () => {
  service = await startTestReporting({ EXPORT_CLAIM_SECONDS: "10", DATABASE_POOL: "20" });
  items = await createExportItems(service);
});
afterAll(() => service?.remove());

/** Tills with their reports, by a config of their own. */
async function createExportItems(
  { pushTills, request }: TestReporting,
  tillFields: Partial<TillV2Input>[] = [{}],
): Promise<object[]> {
  const rows = { productRowList: [createTestProductRow()], paymentRowList: [createTestPaymentRow()] };
  const orders = () => [createTestOrder({ id: randomUUID(), total: 1100, ...rows })];
  const tills = tillFields.map((fields) => createTestTill(orders(), { id: randomUUID(), ...fields }));
  await pushTills(tills, principal.location.id);
  const config = (await (await request("POST", "/v1/accounting/configs", { principal, body: {} })).json()) as {
    id: string;
  };
  return tills.map(({ id }) => ({ tillId: id, accountingConfigId: config.id, accountingProvider: "INEXWEB" }));
}

async function startExport({ request }: TestReporting = service, body = items): Promise<string> {
  const response = await request("POST", "/v1/accounting/exports", { principal, body });
  return StartedAccountingExport.parse(await response.json()).id;
}

async function readExport(
  id: string,
  { request }: Pick<TestReporting, "request"> = service,
): Promise<AccountingExport> {
  return AccountingExport.parse(await (await request("GET", `/v1/accounting/exports/${id}`, { principal })).json());
}

const waitForState = (id: string, ...states: AccountingExport["state"][]) =>
  eventually(`the export to be ${states.join(" or ")}`, async () => {
    const found = await readExport(id);
    return states.includes(found.state) && found;
  });

async function findAttempts(id: string, { db } = service): Promise<number> {
  const [row] = await db.sql<{ attempt: number }[]>`select attempt from accounting_exports where id = ${id}`;
  return row?.attempt ?? 0;
}

/** Does `work` while no till can be read: whoever makes an export is stopped in the middle of it. */
async function whileExportsBlocked(
  work: (begun: () => Promise<number>) => Promise<void>,
  { db }: Pick<TestReporting, "db"> = service,
): Promise<void> {
  await db.sql.begin(async (tx) => {
    await tx`lock table reports in access exclusive mode`;
    await work(async () => (await tx`select 1 from accounting_exports where state = 'running'`).length);
  });
}

/** An export as a maker leaves it that dies in the middle, and the claim that it had. */
async function createAbandonedExport(): Promise<ExportClaim> {
  const id = await startExport();
  await waitForState(id, "done");
  await service.db.transaction(async (tx) => {
    await tx`update accounting_files set name = null, etag = null, entries = null, content = null where export_id = ${id}`;
    await tx`update accounting_items set state = 'pending' where export_id = ${id}`;
    await tx`
      update accounting_exports set state = 'running', claimed_until = now(), finished_at = null where id = ${id}`;
  });
  return { id, attempt: 1, traceparent: null };
}

describe("two processes that make exports", () => {
  it("make two at a time each, every one once, and give back what they make when they stop", async () => {
    const one = await startTestReporting({ EXPORT_CLAIM_SECONDS: "600", DATABASE_POOL: "20" });
    const items = await createExportItems(one, [{}, {}]);
    const other = await startTestService(reporting, one.environment);
    const ids: string[] = [];
    let stopped: Promise<void> | undefined;
    await whileExportsBlocked(async (begun) => {
      for (let count = 0; count < 7; count += 1) ids.push(await startExport(one, items));
      await eventually("two to have begun in each", async () => (await begun()) === 4);
      stopped = one.stop();
      await sleep(200);
    }, other);
    await stopped;
    for (const id of ids) await eventually("it to be done", async () => (await readExport(id, other)).state === "done");
    const attempts = await Promise.all(ids.map((id) => findAttempts(id, { ...one, db: other.db })));
    expect(attempts.toSorted()).toEqual([1, 1, 1, 1, 1, 2, 2]);
    await other.stop();
    await one.environment.remove();
  });
});

describe("exports that wait", () => {
  it("take turns by location: one that asks for many does not hold up another", async () => {
    const { sql } = service.db;
    const [many, one] = [randomUUID(), randomUUID()];
    const row = { keyId: many, consumer: "", state: "pending" };
    const rows = [many, many, many, one].map((locationId, second) => {
      return { ...row, id: randomUUID(), locationId, createdAt: new Date(Date.UTC(2020, 0, 1, 0, 0, second)) };
    });
    await sql.begin(async (tx) => {
      await tx`insert into accounting_exports ${tx(rows)}`;
      const claims = await claimAccountingExports(tx as never, { limit: 2, seconds: 60 });
      expect(claims.map(({ id }) => id).toSorted()).toEqual([rows[0]?.id, rows[3]?.id].toSorted());
      const [next] = await claimAccountingExports(tx as never, { limit: 1, seconds: 60 });
      expect(next?.id).toBe(rows[1]?.id);
      const late = { ...row, id: randomUUID(), locationId: randomUUID() };
      await tx`insert into accounting_exports ${tx(late)}`;
      const [other] = await claimAccountingExports(tx as never, { limit: 1, seconds: 60 });
      expect(other?.id).toBe(late.id);
      await tx`delete from accounting_exports where key_id = ${many}`;
    });
  });

  it("are as many as a location may have", async () => {
    const one = await startTestReporting({ EXPORTS_UNFINISHED_PER_LOCATION: "2" });
    const body = await createExportItems(one);
    await whileExportsBlocked(async () => {
      for (let count = 0; count < 2; count += 1) await startExport(one, body);
      const problem = await one.requestProblem("POST", "/v1/accounting/exports", { principal, body });
      expect(problem).toMatchObject({ code: "limit_reached", limit: { name: "unfinished_exports", maximum: 2 } });
    }, one);
    await eventually(
      "another to be taken",
      async () => (await one.request("POST", "/v1/accounting/exports", { principal, body })).ok,
    );
    await one.remove();
  });
});

describe("an export that could not be made", () => {
  it("is tried again after a while, and made", async () => {
    const { sql } = service.db;
    await sql`alter table reports rename column finalized to finalized_elsewhere`;
    const id = await startExport();
    await eventually("a first attempt", async () => (await findAttempts(id)) === 1);
    await sleep(1_000);
    expect(await readExport(id)).toMatchObject({ state: "pending" });
    const listed = await (await createReportingOperatorRoutes(service.db).request("/exports")).json();
    expect(listed).toMatchObject([{ exportId: id, state: "pending", attempts: 1, claimedUntil: expect.any(String) }]);
    await sql`alter table reports rename column finalized_elsewhere to finalized`;
    expect((await waitForState(id, "done", "failed")).state).toBe("done");
    expect(await findAttempts(id)).toBe(2);
  });
});

describe("an export whose maker has died", () => {
  it("is made by another, and the dead one changes nothing more", async () => {
    const claim = await createAbandonedExport();
    const { id } = claim;
    const reply = await waitForState(id, "done", "failed");
    expect(reply.state).toBe("done");
    expect(await findAttempts(id)).toBe(4);
    const late = {
      state: "failed" as const,
      items: [{ position: 0, state: "failed" as const, failure: "{}" }],
      files: [],
    };
    expect(await service.db.transaction((tx) => finishAccountingExport(tx, claim, late))).toBe(false);
    expect(await renewExportClaim(service.db.sql, claim, { seconds: 60 })).toBe(false);
    await releaseExportClaim(service.db.sql, claim);
    expect(await readExport(id)).toEqual(reply);
  });

  it("is given up when a second one died", async () => {
    const { id } = await createAbandonedExport();
    await service.db.sql`update accounting_exports set attempt = 4 where id = ${id} and state = 'running'`;
    const reply = await waitForState(id, "done", "failed");
    expect(reply).toMatchObject({ state: "failed", files: [] });
    expect(reply.tills.map(({ failure }) => failure?.code)).toEqual(["interrupted"]);
  });
});

describe("an export of more than its files may hold", () => {
  it("ends with the tills closed first, says what to do with the others, and holds nobody up", async () => {
    const movement = { amount: 100, type: "cash-in", name: "n" } as const;
    const closedOn = (day: number, movements: number) => ({
      finalizedAt: `2026-06-0${day}T20:00:00.000Z`,
      financialMovementList: Array.from({ length: movements }, () => movement),
    });
    const one = await startTestReporting({ EXPORT_MAX_BYTES: "3500000", PAGE_MAX_BYTES: "1024" });
    const body = await createExportItems(one, [
      closedOn(4, 0),
      closedOn(3, 10_000),
      closedOn(2, 9_000),
      closedOn(1, 9_000),
    ]);
    let reply: AccountingExport = expect.anything();
    const exported = async () => {
      const id = await startExport(one, body);
      reply = await eventually("the export to end", async () => {
        const found = await readExport(id, one);
        return found.finishedAt !== null && found;
      });
    };
    // The thread is there from the first on.
    await exported();
    const block = await measureLongestEventLoopBlockMs(exported);
    const codes = reply.tills.map(({ failure }) => failure?.code);
    expect([reply.state, ...codes]).toEqual(["failed", "too_large", "too_large", undefined, undefined]);
    const [file] = reply.files;
    const answer = await one.request("GET", new URL(file?.fileUrl ?? "").pathname, { principal });
    const content = Buffer.from(await answer.arrayBuffer());
    expect(content.byteLength).toBe(file?.size);
    const lines = content.toString("latin1").split("\r\n").slice(1, -1);
    const numbers = lines.map((line) => Number(line.split("\t")[2]));
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
    expect([numbers.length, numbers.at(-1)]).toEqual([2 * (18_000 + 3), 4]);
    const stored = await one.db.sql<StoredTillReport[]>`select v2, accounting_facts from reports`;
    const began = performance.now();
    for (const each of stored) {
      writeTillEntries({ stored: each, provider: "INEXWEB", config: "{}", entriesBefore: 0 });
    }
    expect(block).toBeLessThan((performance.now() - began) / 2);
    await one.remove();
  });
});

describe("exports that are too old", () => {
  it("are removed with their files, and no others", async () => {
    const [old, young] = [await startExport(), await startExport()];
    for (const id of [old, young]) await waitForState(id, "done");
    await service.db.sql`update accounting_exports set created_at = now() - interval '11 days' where id = ${old}`;
    await deleteExpiredExports(service.db, 10);
    expect(await service.requestProblem("GET", `/v1/accounting/exports/${old}`, { principal })).toMatchObject({
      code: "accounting_export_not_found",
    });
    expect(await readExport(young)).toMatchObject({ state: "done", files: [{ tills: 1 }] });
  });
});
