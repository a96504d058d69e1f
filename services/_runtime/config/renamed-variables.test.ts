import { once } from "node:events";
import { expect, it } from "vitest";
import { applyRenamedEnvironmentVariables } from "./renamed-variables.ts";

it("reads the value of a former name, and warns once", async () => {
  const warned = once(process, "warning");
  expect(applyRenamedEnvironmentVariables({ INBOX_KEPT_DAYS: "30" })).toMatchObject({ INBOX_RETENTION_DAYS: "30" });
  applyRenamedEnvironmentVariables({ INBOX_KEPT_DAYS: "30" });
  const [warning] = await warned;
  expect(warning).toMatchObject({
    name: "DeprecationWarning",
    message: "The environment variable INBOX_KEPT_DAYS is now named INBOX_RETENTION_DAYS.",
  });
});

it("prefers the current name", () => {
  const environment = { KEY_LIFETIME: "10", KEY_CACHE_TTL_SECONDS: "20" };
  expect(applyRenamedEnvironmentVariables(environment)).toMatchObject({ KEY_CACHE_TTL_SECONDS: "20" });
});
