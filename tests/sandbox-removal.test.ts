import { buildServiceSchemaName } from "@pragma/runtime/service/start-service";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { runSandboxesCommand } from "@pragma/services/commands/location-commands";
import postgres from "postgres";
import { afterAll, beforeAll, expect, it } from "vitest";
import { findFreePort } from "../deploy/local/free-port.js";
import { runTestLocationCommand } from "./harness/location-command.ts";
import { type PragmaUnderTest, startPragmaUnderTest } from "./harness/pragma-under-test.ts";
import { createTestLocation } from "./harness/test-location.ts";

let environment: IsolatedTestEnvironment;
let product: PragmaUnderTest;
let sql: postgres.Sql;
beforeAll(async () => {
  environment = await createMigratedTestEnvironment({
    ...{ SANDBOXES: "on", SANDBOX_REMOVAL: "command", SANDBOX_INBOX_PORT: String(await findFreePort()) },
  });
  product = await startPragmaUnderTest(environment.variables);
  sql = postgres(environment.variables.DATABASE_URL ?? "", { max: 1 });
}, 300_000);
afterAll(async () => {
  await product?.stop();
  await sql?.end();
  await environment?.remove();
});

const schema = () => buildServiceSchemaName(environment.namespace, "sandboxes");
const removeSandboxes = () => runSandboxesCommand(["remove"], { environment: environment.variables, log() {} });

it("with SANDBOX_REMOVAL=command, the service revokes the keys, and the command removes only ended sandboxes", async () => {
  const other = await createTestLocation(product);
  const created = await fetch(`${product.url}/v1/sandboxes`, { method: "POST" });
  const { apiKey, location } = (await created.json()) as { apiKey: string; location: { id: string } };
  const request = (method: string, path: string) =>
    fetch(`${product.url}${path}`, { method, headers: { authorization: `Bearer ${apiKey}` } });
  expect(await removeSandboxes()).toEqual({ removed: [] });
  expect((await request("DELETE", "/v1/sandboxes/current")).status).toBe(204);
  await eventually("the key to be revoked", async () => (await request("GET", "/v2/reports")).status === 401, {
    timeoutSeconds: 180,
  });
  const findState = async () => (await sql`select state from ${sql(schema())}.sandboxes`)[0]?.state;
  await eventually("the sandbox to end", async () => (await findState()) === "removing", { timeoutSeconds: 120 });

  // A row that names another location is reported, and that location is left.
  await sql`
    insert into ${sql(schema())}.sandboxes
      (id, state, expires_at, client_network_hash, location_id, inbox_token, encrypted_inbox_secret, due_at)
    values (gen_random_uuid(), 'removing', now(), '', ${other.locationId}, 'x', '', now() + interval '1 day')`;
  await expect(removeSandboxes()).rejects.toThrow(
    `1 sandboxes were removed, and these could not be:\n${other.locationId}: The location is not a sandbox.`,
  );
  expect((await other.request("GET", "/v2/reports")).status).toBe(200);
  const states = await sql`select location_id, state from ${sql(schema())}.sandboxes order by state`;
  expect(states.map(({ state }) => state)).toEqual(["removed", "removing"]);
  const kept = /^accounts\.outbox$|\.sent_events$|\.daily_usage$/;
  await eventually(
    "late events to be dropped",
    async () => {
      const counts = Object.keys(await runTestLocationCommand(["count", location.id], environment.variables));
      return counts.every((name) => kept.test(name));
    },
    { timeoutSeconds: 120 },
  );
}, 300_000);
