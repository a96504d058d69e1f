import { createHash, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import calculateTill from "@pragma/reporting/calculate-till";
import { generateTill } from "@pragma/simulator/generate-till";
import postgres from "postgres";
import { test } from "vitest";
import { benchBusyShiftTillJson } from "./sample-tills.ts";
const timeZone = "Europe/Paris";
test("x", async () => {
  const sql = postgres(process.env.DATABASE_URL ?? "", { max: 1, onnotice: () => {} });
  const tills = Array.from({ length: 12 }, (_, index) => index < 0 ? benchBusyShiftTillJson : JSON.stringify(generateTill({ seed: `s`, orders: Number(process.env.N ?? 150), day: `2026-05-${10 + index}` })));
  const all = tills.map((json, i) => {
    const bytes = Buffer.from(json);
    const hash = createHash("sha256").update(bytes).digest("hex");
    const t0 = process.cpuUsage();
    const till = calculateTill({ bytes, hash, version: "V2", timeZone, tillId: JSON.parse(json).id, locationId: randomUUID() });
    const t1 = process.cpuUsage(t0);
    if (!till?.metrics) throw new Error();
    const c = JSON.parse(till.metrics.cells);
    console.log(i, bytes.length, till.orders.length, "json", till.metrics.cells.length, "cells", c.order_hour.length, c.product_id.length, c.payment_name.length, c.discount_id.length, c.cancellation_reason.length, "cpu ms", (t1.user + t1.system) / 1000);
    return till.metrics;
  });
  await sql.unsafe(`drop schema if exists scratch_metrics cascade; create schema scratch_metrics; set search_path = scratch_metrics; create table tills (a int); create function copy_grants(regclass, regclass) returns void language sql as ''; create function copy_grants(text, regclass) returns void language sql as '';`);
  const migration = readFileSync("services/reporting/migrations/018_metrics.sql", "utf8");
  await sql.unsafe(migration);
  const locationId = randomUUID();
  const n = 240;
  const variant = async (name: string, setup: string) => {
    await sql.unsafe(`drop table if exists t cascade; create table t (like metric_cells including all); ${setup}`);
    const t0 = performance.now();
    for (let i = 0; i < n; i++) {
      const metrics = all[i % all.length]!;
      const key = JSON.stringify({ location_id: locationId, day: "2026-01-01", till_id: randomUUID() });
      const json = key.slice(0, -1) + "," + metrics.cells.slice(1);
      await sql`insert into t select * from jsonb_populate_record(null::metric_cells, ${json}::text::jsonb)`;
    }
    const ms = (performance.now() - t0) / n;
    await sql.unsafe("vacuum full t");
    const [row] = await sql.unsafe(`select pg_total_relation_size('t') as total, pg_relation_size('t') as main, pg_total_relation_size((select reltoastrelid from pg_class where oid = 't'::regclass)) as toast`);
    const read = async (q: string) => { await sql.unsafe(q); const t = performance.now(); await sql.unsafe(q); return (performance.now() - t) / n; };
    const r1 = await read("select sum(s) from (select id, sum(s) as s from (select unnest(product_id) id, unnest(product_sales) s from t) x group by 1) y");
    console.log(name, "insert ms", ms.toFixed(2), "bytes/till", Math.round(Number(row!.total) / n), "main", Math.round(Number(row!.main) / n), "toast", Math.round(Number(row!.toast) / n), "bytes/order", (Number(row!.total) / n / Number(process.env.N ?? 150)).toFixed(1), "read ms/till", r1.toFixed(3));
  };
  const columns = (await sql.unsafe(`select attname from pg_attribute where attrelid = 'metric_cells'::regclass and attnum > 3`)).map((r) => r.attname as string);
  const lz4 = columns.map((c) => `alter table t alter ${c} set compression lz4;`).join("");

  const cpu = (pid: number) => { const f = readFileSync(`/proc/${pid}/stat`, "utf8").split(" "); return (Number(f[13]) + Number(f[14])) * 10; };
  const pid = (await sql`select pg_backend_pid() as pid`)[0]!.pid as number;
  const time = async (label: string, run: (json: string, i: number) => Promise<unknown>) => {
    
    const c0 = cpu(pid), t0 = performance.now(), u0 = process.cpuUsage();
    for (let i = 0; i < 400; i++) { const k = JSON.stringify({ location_id: locationId, day: "2026-01-01", till_id: randomUUID() }); await run(`${k.slice(0, -1)},${all[i % all.length]!.cells.slice(1)}`, i); }
    const u = process.cpuUsage(u0);
    console.log(label, "pg cpu ms", (cpu(pid) - c0) / 400, "node ms", ((u.user + u.system) / 400000).toFixed(2), "wall", ((performance.now() - t0) / 400).toFixed(2));
  };
  const fresh = (setup: string) => sql.unsafe(`drop table if exists t cascade; create table t (like metric_cells including all); ${setup}`);
  await fresh("");
  await time("length", (json) => sql`select length(${json}::text)`);
  await time("jsonb", (json) => sql`select jsonb_typeof(${json}::text::jsonb)`);
  await time("populate jsonb", (json) => sql`select till_id from jsonb_populate_record(null::metric_cells, ${json}::text::jsonb)`);
  await time("populate json", (json) => sql`select till_id from json_populate_record(null::metric_cells, ${json}::text::json)`);
  await time("insert pglz 2032", (json) => sql`insert into t select * from jsonb_populate_record(null::metric_cells, ${json}::text::jsonb)`);
  await fresh("alter table t set (toast_tuple_target = 8160)");
  await time("insert pglz 8160", (json) => sql`insert into t select * from jsonb_populate_record(null::metric_cells, ${json}::text::jsonb)`);
  await fresh(`${lz4} alter table t set (toast_tuple_target = 8160)`);
  await time("insert lz4 8160", (json) => sql`insert into t select * from jsonb_populate_record(null::metric_cells, ${json}::text::jsonb)`);
  await fresh(`alter table t set (toast_tuple_target = 8160)`);
  const cellsOf = (json: string) => JSON.parse(json);
  const toArray = (v: unknown[]) => `{${v.map((x) => x === null ? "NULL" : typeof x === "string" ? `"${x}"` : String(x)).join(",")}}`;
  const types = new Map((await sql.unsafe(`select attname, format_type(atttypid, atttypmod) as t from pg_attribute where attrelid = 'metric_cells'::regclass and attnum > 0`)).map((r) => [r.attname, r.t]));
  const names = columns;
  const text = `insert into t values ($1,'2026-01-01',$2,${names.map((n, i) => `$${i + 3}::text::${types.get(n)}`).join(",")})`;
  const arrays = all.map((m) => { const c = cellsOf(m.cells); return names.map((n) => toArray(c[n])); });
  await time("insert arrays 8160", (_json, i) => sql.unsafe(text, [locationId, randomUUID(), ...arrays[i % arrays.length]!], { prepare: true }));
  await sql.unsafe("create type rec as (" + names.map((n) => `${n} ${types.get(n)}`).join(",") + ")");
  const cols = await sql.unsafe(`select ${columns.map((c) => `avg(pg_column_size(${c}))::int as ${c}`).join(",")} from t`);
  console.log(JSON.stringify(cols[0]));
  const raw = await sql.unsafe(`select ${columns.map((c) => `pg_column_size(${c} || '{}') as ${c}`).join(",")} from t limit 3`);
  console.log(JSON.stringify(raw[2]));
  const big = async (label: string, expr: (json: string) => unknown) => {};
  await sql.unsafe("drop schema scratch_metrics cascade");
  await sql.end();
}, 120_000);
