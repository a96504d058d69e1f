import { expect, it } from "vitest";
import { readServiceDatabaseUrls, selectServiceDatabase } from "./service-databases.ts";

const shared = "postgres://owner:secret@db/pragma";

it("gives a service the URL of its own database, and the shared URL to the others", () => {
  const environment = { DATABASE_URL: shared, TILL_INGEST_DATABASE_URL: "postgres://tills@other/tills" };
  expect(selectServiceDatabase(environment, "till-ingest").DATABASE_URL).toBe("postgres://tills@other/tills");
  expect(selectServiceDatabase(environment, "jobs").DATABASE_URL).toBe(shared);
  expect(selectServiceDatabase({ ...environment, TILL_INGEST_DATABASE_URL: "" }, "till-ingest").DATABASE_URL).toBe(
    shared,
  );
});

const ownerOf = (environment: Record<string, string>) =>
  readServiceDatabaseUrls(environment, ["accounts"]).accounts.owner;

it("prefers the owner in DATABASE_URL while the service uses the same database", () => {
  expect(ownerOf({ DATABASE_URL: shared })).toBe(shared);
  expect(ownerOf({ DATABASE_URL: shared, ACCOUNTS_DATABASE_URL: "postgres://limited@db:5432/pragma" })).toBe(shared);
});

it("uses the role in the service's URL as the owner if the service has its own database", () => {
  for (const url of ["postgres://own@db/accounts", "postgres://own@db:5433/pragma", "postgres://own@other/pragma"]) {
    expect(ownerOf({ DATABASE_URL: shared, ACCOUNTS_DATABASE_URL: url })).toBe(url);
    expect(ownerOf({ ACCOUNTS_DATABASE_URL: url })).toBe(url);
  }
});

it("prefers the owner's own variable", () => {
  const owner = "postgres://boss@other/accounts";
  const environment = { DATABASE_URL: shared, ACCOUNTS_DATABASE_URL: "postgres://limited@other/accounts" };
  expect(ownerOf({ ...environment, ACCOUNTS_OWNER_DATABASE_URL: owner })).toBe(owner);
});

it("reports every service without a database, and every malformed URL", () => {
  const services = ["accounts", "jobs", "catalog"] as const;
  expect(() => readServiceDatabaseUrls({ JOBS_DATABASE_URL: shared }, services)).toThrow(
    /2 issue\(s\):\n.*ACCOUNTS_DATABASE_URL.*\n.*CATALOG_DATABASE_URL/,
  );
  expect(() => readServiceDatabaseUrls({ DATABASE_URL: shared, JOBS_DATABASE_URL: "mysql://db" }, services)).toThrow(
    /JOBS_DATABASE_URL: must be a postgres:\/\/ URL/,
  );
});
