import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findPackageFolder } from "../process/package-folder.ts";

const services = join(findPackageFolder(import.meta.url), "..");

/** Patterns of SQL statements that would break instances of the previous version. */
const contractingStatements = [
  /\bdrop\s+(?:table|column|schema|view)\b/i,
  /\brename\s+(?:to|column)\b/i,
  /\balter\s+column\s+\w+\s+(?:set\s+not\s+null|(?:set\s+data\s+)?type)\b/i,
  /\badd\s+(?:column\s+)?\w+\s+[\w()]+(?:(?!default)[^,;])*\bnot\s+null\b(?:(?!default)[^,;])*[,;]/i,
];
const contractionComment = /^-- contracts: unused since \d+\.\d+/m;

const withoutComments = (sql: string) => sql.replace(/--.*$/gm, "");

function isAllowed(sql: string): boolean {
  return contractionComment.test(sql) || !contractingStatements.some((pattern) => pattern.test(withoutComments(sql)));
}

async function listMigrations(): Promise<string[]> {
  const entries = await readdir(services, { recursive: true });
  return entries.filter((path) => /^[\w-]+\/migrations\/\d+_\w+\.sql$/.test(path)).sort();
}

describe("migrations", async () => {
  it.each(await listMigrations())("%s is compatible with the previous version", async (path) => {
    expect(isAllowed(await readFile(join(services, path), "utf8"))).toBe(true);
  });

  it.each([
    "alter table tills drop column size;",
    "alter table tills rename column size to bytes;",
    "alter table tills alter column size set not null;",
    "alter table tills alter column size type bigint;",
    "alter table tills add column size int not null;",
  ])("must not contain %s", (sql) => {
    expect(isAllowed(sql)).toBe(false);
    expect(isAllowed(`-- contracts: unused since 1.4\n${sql}`)).toBe(true);
  });

  it.each([
    "alter table tills add column size int;",
    "alter table tills add column size int not null default 0;",
    "create table sizes (till_id uuid not null, size int not null);",
  ])("may contain %s", (sql) => {
    expect(isAllowed(sql)).toBe(true);
  });
});
