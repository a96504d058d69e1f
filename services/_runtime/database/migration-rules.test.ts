import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findEnclosingPackageFolder } from "../process/package-folder.ts";

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

/** Tables with at most a few rows for each location or API key. An index of them is created within a second. */
const smallTables = new Set([
  ...["locations", "consumers", "api_keys", "accounting_configs", "catalogs"],
  ...["recipients", "signing_secrets", "webhooks", "delivery_recoveries"],
]);

/** Migrations that keep a large table locked for longer than one quick change, or copy its rows, and why they do. */
const acceptedLongMigrations: Readonly<Record<string, string>> = {};

/**
 * Returns the statements that keep a large table locked for long: creation of an index, also for a key, and changes of
 * rows. Tables that the same migration creates are empty.
 */
function findLongStatements(sql: string): string[] {
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

  it.each(await listMigrations())("%s keeps no large table locked for long, or says why", async (path) => {
    const statements = findLongStatements(await readFile(join(services, path), "utf8"));
    if (acceptedLongMigrations[path] === undefined) expect(statements).toEqual([]);
    else expect(statements).not.toEqual([]);
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
    expect(isAllowed(`-- contracts: unused since 2.4\n${sql}`)).toBe(true);
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
