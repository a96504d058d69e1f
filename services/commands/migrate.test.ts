import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";

it("names the database and the variable when the tables cannot be migrated", async () => {
  const database = new URL(process.env.DATABASE_URL ?? expect.unreachable("DATABASE_URL is not set"));
  database.pathname = "/missing";
  const program = ["--conditions=source", "--import", "tsx", "services/commands/migrate.ts"];
  const env = { ...process.env, SERVICE: "jobs", DATABASE_URL: "", JOBS_OWNER_DATABASE_URL: database.href };
  const failure = await promisify(execFile)(process.execPath, program, { env }).catch((error) => error);
  expect(failure.code).toBe(1);
  expect(failure.stderr).toMatch(
    /^The schema pragma_jobs cannot be migrated in the database .*\/missing with the URL in JOBS_OWNER_DATABASE_URL: database "missing" does not exist\n$/,
  );
});
