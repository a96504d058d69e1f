import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findEnclosingPackageFolder } from "../process/package-folder.ts";
import { parseRepeatableStatements, runsOutsideTransaction } from "./run-outside-transaction.ts";

const services = join(findEnclosingPackageFolder(import.meta.url), "..");

/** Patterns of SQL statements that would break running instances of the previous version. */
const contractingStatements = [
  /\bdrop\s+(?:table|column|schema|view)\b/i,
  /\brename\s+(?:to|column)\b/i,
  /\balter\s+column\s+\w+\s+(?:set\s+not\s+null|(?:set\s+data\s+)?type)\b/i,
  /\badd\s+(?:column\s+)?\w+\s+[\w()]+(?:(?!default)[^,;])*\bnot\s+null\b(?:(?!default)[^,;])*[,;]/i,
];
const contractionComment = /^-- contracts: unused since \d+\.\d+/m;

/** Returns the SQL without comments, and without the dynamic statements of functions, which name no table. */
const withoutComments = (sql: string) => sql.replace(/--.*$/gm, "").replace(/\bexecute format\('[^']*'/g, "");

const tableRenames = /\balter\s+table\s+(\w+)\s+rename\s+to\s+(\w+)\s*;/gi;

/**
 * Returns the SQL without compatible renames: of indexes, of tables whose former name becomes a view, and of the
 * columns of these tables.
 */
function withoutCompatibleRenames(sql: string): string {
  let rest = sql.replace(/\balter\s+index\s+\w+\s+rename\s+to\s+\w+\s*;/gi, "");
  for (const [statement, formerName, name] of sql.matchAll(tableRenames)) {
    if (!new RegExp(`\\bcreate\\s+view\\s+${formerName}\\s+as\\b`, "i").test(sql)) continue;
    rest = rest
      .replace(statement, "")
      .replace(new RegExp(`\\balter\\s+table\\s+${name}\\s+rename\\s+column\\s+\\w+\\s+to\\s+\\w+\\s*;`, "gi"), "");
  }
  return rest;
}

function isAllowed(sql: string): boolean {
  const statements = withoutCompatibleRenames(withoutComments(sql));
  return contractionComment.test(sql) || !contractingStatements.some((pattern) => pattern.test(statements));
}

/** The number of the last migration of version 1.0, by folder in `services/`. These migrations ran everywhere. */
const lastMigrationsOfVersion10: Readonly<Record<string, number>> = {
  _runtime: 5,
  accounts: 4,
  catalog: 1,
  jobs: 8,
  "order-live": 3,
  reporting: 8,
  "till-ingest": 5,
  webhooks: 6,
};

/** Tables with at most a few rows for each location or API key. An index of them is created within a second. */
const smallTables = new Set([
  ...["locations", "consumers", "api_keys", "accounting_configs", "catalogs"],
  ...["recipients", "signing_secrets", "webhooks", "delivery_recoveries"],
]);

/** Migrations that keep a large table locked for longer than one quick change, or copy its rows, and why they do. */
const acceptedLongMigrations: Readonly<Record<string, string>> = {
  "_runtime/migrations/013_outbox_by_stream.sql": "The outbox is almost empty except during an outage of NATS.",
  "_runtime/migrations/015_erased_orders.sql":
    "The table contains the responses of a day, and no existing row is in the index, which takes one scan.",
  "order-live/migrations/006_storage_parameters.sql":
    "The table contains only the orders of open shifts and of the last day. The index can be created by hand first.",
  "reporting/migrations/009_partitioned_tables.sql":
    "The index of reports, one row for each till, is created by hand first if the table is large.",
  "reporting/migrations/014_lost_packed_tills.sql": "Before version 1.1, no till is packed, so the table is empty.",
  "till-ingest/migrations/008_till_requeue.sql":
    "Updates only the tills without a report. Their index is created by hand first if the table is large.",
  "till-ingest/migrations/009_compressed_bodies.sql": "The index is created by hand first if the table is large.",
  "till-ingest/migrations/010_till_directory.sql":
    "Updates the tills only of an installation with at most 10,000. A periodic task updates others in batches.",
  "webhooks/migrations/008_renamed_columns.sql":
    "Updates only the deliveries whose attempt is in flight. Recipients are few.",
  "webhooks/migrations/010_location_keys.sql":
    "The statistics have at most one row for each webhook and hour of the retention, and their new key needs the column in every row.",
  "webhooks/migrations/011_message_partitions.sql":
    "Updates the rows only of an installation with at most 10,000. A periodic task updates others in batches.",
  "webhooks/migrations/013_all_changes.sql": "Migration 012, which is in the same release, has created the table.",
};

/**
 * Returns the statements that keep a large table locked for long: creation of an index, also for a key, and changes of
 * rows. Tables that the same migration creates are empty.
 */
function findLongStatements(sql: string): string[] {
  if (runsOutsideTransaction(sql)) return [];
  // The statements of functions run later, or for one row.
  const statements = sql.replace(/--.*$/gm, "").replace(/\breturns\b[^;]*?\bas \$\$.*?\$\$/gis, "");
  const newTables = [...statements.matchAll(/\bcreate table (?:if not exists )?(\w+)/gi)].map(([, table]) => table);
  const patterns = [
    /\bcreate\s+(?:unique\s+)?index\b(?:(?!\bon\b)[^;])*\bon\s+(?<table>\w+)/gi,
    /\balter\s+table\s+(?<table>\w+)(?=[^;]*\badd\s+(?:constraint\s+\w+\s+)?(?:primary\s+key|unique)\s*\()/gi,
    /(?:^|;|\bthen\b|\bbegin\b|\bloop\b|\))\s*(?:update|delete\s+from|merge\s+into)\s+(?:only\s+)?(?<table>\w+)/gi,
    /\binsert\s+into\s+\w+(?=[^;]*\bselect\b)[^;]*?\bfrom\s+(?<table>\w+)/gi,
  ];
  return patterns.flatMap((pattern) =>
    [...statements.matchAll(pattern)]
      .filter(({ groups }) => !newTables.includes(groups?.table) && !smallTables.has(groups?.table ?? ""))
      .map(([statement]) => statement.trim()),
  );
}

function isOfVersion10(path: string): boolean {
  const [service = "", , file = ""] = path.split("/");
  return Number.parseInt(file, 10) <= (lastMigrationsOfVersion10[service] ?? 0);
}

async function listMigrations(): Promise<string[]> {
  const entries = await readdir(services, { recursive: true });
  return entries.filter((path) => /^[\w-]+\/migrations\/\d+_\w+\.sql$/.test(path)).sort();
}

describe("migrations", async () => {
  it.each(await listMigrations())("%s is compatible with the previous version", async (path) => {
    expect(isAllowed(await readFile(join(services, path), "utf8"))).toBe(true);
  });

  it.each(await listMigrations())("%s grants the privileges on a renamed table also on the view", async (path) => {
    const statements = withoutComments(await readFile(join(services, path), "utf8"));
    for (const [, formerName, name] of statements.matchAll(tableRenames))
      expect(statements).toContain(`copy_grants('${name}', '${formerName}')`);
  });

  const newMigrations = (await listMigrations()).filter((path) => !isOfVersion10(path));
  it.each(newMigrations)("%s keeps no large table locked for long, or says why", async (path) => {
    const statements = findLongStatements(await readFile(join(services, path), "utf8"));
    if (acceptedLongMigrations[path] === undefined) expect(statements).toEqual([]);
    else expect(statements).not.toEqual([]);
  });

  it.each(newMigrations)("%s can be repeated if it runs outside a transaction", async (path) => {
    const sql = await readFile(join(services, path), "utf8");
    if (runsOutsideTransaction(sql)) expect(parseRepeatableStatements(sql)).not.toEqual([]);
  });

  it.each([
    "create index tills_by_size on tills (size);",
    "create unique index if not exists tills_by_size on tills (size);",
    "create index concurrently tills_by_size on tills (size);",
    "create table sizes (id int);\ncreate index on sizes (id);\ncreate index on tills (size);",
    "alter table tills drop constraint tills_pkey, add primary key (location_id, id);",
    "alter table tills add constraint tills_sizes unique (size);",
    "update tills set size = 0;",
    "update tills set size = 0 where size is null;",
    "update tills set size = 0 where id in (select id from tills limit 10000);",
    "delete from tills where size = 0;",
    "insert into sizes select id, size from tills;",
    "do $$ begin update tills set size = 0; end $$;",
    "with done as (select 1) update tills set size = 0;",
  ])("must not contain %s in a transaction", (sql) => {
    expect(findLongStatements(`-- A reason.\n${sql}`)).toHaveLength(1);
  });

  it.each([
    "-- outside a transaction\ncreate index concurrently if not exists tills_by_size on tills (size);",
    "-- outside a transaction\nupdate tills set size = 0 where id in (select id from tills where size is null limit 100);",
    "create table sizes (id int);\ncreate index on sizes (id);\nupdate sizes set id = 1;",
    "update webhooks set size = 0;",
    "alter table tills add constraint tills_sizes unique using index tills_by_size;",
    "insert into sizes values (1);",
    "create function f() returns trigger language plpgsql as $$ begin update tills set size = 0; return new; end $$;",
    "create trigger copy before update on tills for each row execute function f();",
    "create table lines (till_id uuid references tills on update cascade on delete cascade);",
  ])("may contain %s", (sql) => {
    expect(findLongStatements(sql)).toEqual([]);
  });

  it.each([
    "alter table tills drop column size;",
    "alter table tills rename column size to bytes;",
    "alter table tills alter column size set not null;",
    "alter table tills alter column size type bigint;",
    "alter table tills add column size int not null;",
    "alter table tills rename to receipts;",
    "alter table tills rename to receipts; create view bills as select * from receipts;",
    "alter table tills rename to receipts; alter table sizes rename column a to b; create view tills as select 1;",
  ])("must not contain %s", (sql) => {
    expect(isAllowed(sql)).toBe(false);
    expect(isAllowed(`-- contracts: unused since 1.4\n${sql}`)).toBe(true);
  });

  it.each([
    "alter table tills add column size int;",
    "alter table tills add column size int not null default 0;",
    "create table sizes (till_id uuid not null, size int not null);",
    "alter index tills_by_size rename to tills_by_bytes;",
    "alter table tills rename to receipts; alter table receipts rename column a to b; create view tills as select 1;",
  ])("may contain %s", (sql) => {
    expect(isAllowed(sql)).toBe(true);
  });
});
