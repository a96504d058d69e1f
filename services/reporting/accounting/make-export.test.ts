import { randomUUID } from "node:crypto";
import { AccountingExport, StartedAccountingExport } from "@pragma/contracts/accounting-export";
import { eventually } from "@pragma/runtime/testing/eventually";
import { startTestService } from "@pragma/runtime/testing/test-service";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { removeOldExports } from "../periodic/remove-old-exports.ts";
import { type Claim, finishExport, keepClaim, releaseClaim } from "../queries/accounting-exports.ts";
import reporting from "../service.ts";
import { makeOrder, makePayment, makeRow, makeTill } from "../testing/make-till.ts";
import { keyOf, startReporting, type TestReporting } from "../testing/start-reporting.ts";

const principal = keyOf("accounting:write");
let service: TestReporting;
let items: object[];
beforeAll(async () => {
  service = await startReporting({ EXPORT_CLAIM_SECONDS: "1", DATABASE_POOL: "20" });
  items = await itemsIn(service);
});
afterAll(() => service?.remove());

/** A till with its report, by a config of its own. */
async function itemsIn({ push, ask }: TestReporting): Promise<object[]> {
  const rows = { productRowList: [makeRow()], paymentRowList: [makePayment()] };
  const till = makeTill([makeOrder({ id: randomUUID(), total: 1100, ...rows })], { id: randomUUID() });
  await push([till], principal.location.id);
  const config = (await (await ask("POST", "/v1/accounting/configs", { principal, body: {} })).json()) as {
    id: string;
  };
  return [{ tillId: till.id, accountingConfigId: config.id, accountingProvider: "INEXWEB" }];
}

async function start({ ask }: TestReporting = service, body = items): Promise<string> {
  const answer = await ask("POST", "/v1/accounting/exports", { principal, body });
  return StartedAccountingExport.parse(await answer.json()).id;
}

async function read(id: string, { ask }: Pick<TestReporting, "ask"> = service): Promise<AccountingExport> {
  return AccountingExport.parse(await (await ask("GET", `/v1/accounting/exports/${id}`, { principal })).json());
}

const inState = (id: string, ...states: AccountingExport["state"][]) =>
  eventually(`the export to be ${states.join(" or ")}`, async () => {
    const reply = await read(id);
    return states.includes(reply.state) && reply;
  });

async function attemptsOf(id: string): Promise<number> {
  const [row] = await service.db.sql<{ attempt: number }[]>`select attempt from accounting_exports where id = ${id}`;
  return row?.attempt ?? 0;
}

/** Does `work` while no till can be read: whoever makes an export is stopped in the middle of it. */
async function whileMakersWait(work: (begun: () => Promise<number>) => Promise<void>): Promise<void> {
  await service.db.sql.begin(async (tx) => {
    await tx`lock table reports in access exclusive mode`;
    await work(async () => (await tx`select 1 from accounting_exports where state = 'running'`).length);
  });
}

/** Has Redis forget everything that it knows of this service. */
async function flush(): Promise<void> {
  const redis = new Redis(process.env.REDIS_URL ?? "");
  const keys = await redis.keys(`${service.environment.namespace}:*`);
  expect(keys.length).toBeGreaterThan(0);
  await redis.del(...keys);
  redis.disconnect();
}

/** An export as a maker leaves it that dies in the middle, and the claim that it had. */
async function abandoned(): Promise<Claim> {
  const id = await start();
  await inState(id, "done");
  await service.db.transaction(async (tx) => {
    await tx`update accounting_files set name = null, etag = null, entries = null, content = null where export_id = ${id}`;
    await tx`update accounting_items set state = 'pending' where export_id = ${id}`;
    await tx`
      update accounting_exports set state = 'running', claimed_until = now(), finished_at = null where id = ${id}`;
  });
  return { id, attempt: 1 };
}

describe("exports that Redis has forgotten", () => {
  it("are made all the same, those that had begun and those that had not", async () => {
    const ids: string[] = [];
    await whileMakersWait(async (begun) => {
      for (let count = 0; count < 5; count += 1) ids.push(await start());
      await eventually("two to have begun", async () => (await begun()) === 2);
      await flush();
    });
    for (const id of ids) expect((await inState(id, "done", "failed")).state).toBe("done");
  });
});

describe("an export whose maker has died", () => {
  it("is made by another, and the dead one changes nothing more", async () => {
    const claim = await abandoned();
    const { id } = claim;
    const reply = await inState(id, "done", "failed");
    expect(reply.state).toBe("done");
    expect(await attemptsOf(id)).toBe(2);
    const late = {
      state: "failed" as const,
      items: [{ position: 0, state: "failed" as const, failure: "{}" }],
      files: [],
    };
    expect(await service.db.transaction((tx) => finishExport(tx, claim, late))).toBe(false);
    expect(await keepClaim(service.db.sql, claim, { seconds: 60 })).toBe(false);
    await releaseClaim(service.db.sql, claim);
    expect(await read(id)).toEqual(reply);
  });

  it("is given up when it has died again and again", async () => {
    const { id } = await abandoned();
    await service.db.sql`update accounting_exports set attempt = 5 where id = ${id} and state = 'running'`;
    const reply = await inState(id, "done", "failed");
    expect(reply).toMatchObject({ state: "failed", files: [] });
    expect(reply.tills.map(({ failure }) => failure?.code)).toEqual(["interrupted"]);
  });
});

describe("exports that are too old", () => {
  it("are removed with their files, and no others", async () => {
    const [old, young] = [await start(), await start()];
    for (const id of [old, young]) await inState(id, "done");
    await service.db.sql`update accounting_exports set created_at = now() - interval '11 days' where id = ${old}`;
    await removeOldExports.run({ db: service.db, exportsKeptDays: 10 });
    expect(await service.refusal("GET", `/v1/accounting/exports/${old}`, { principal })).toMatchObject({
      code: "accounting_export_not_found",
    });
    expect(await read(young)).toMatchObject({ state: "done", files: [{ tills: 1 }] });
  });
});

describe("while Redis is away", () => {
  it("an export is asked for, and made when it is back", async () => {
    const without = await startReporting({ REDIS_URL: "redis://127.0.0.1:1" });
    try {
      const id = await start(without, await itemsIn(without));
      expect(await read(id, without)).toMatchObject({ state: "pending", startedAt: null });
      const variables = { ...without.environment.variables, REDIS_URL: process.env.REDIS_URL ?? "" };
      const back = await startTestService(reporting, { ...without.environment, variables });
      await without.running.stop();
      await eventually("the export", async () => (await read(id, back)).state === "done");
      await back.stop();
    } finally {
      await without.remove();
    }
  });
});
