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
