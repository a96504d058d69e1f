import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** The URL of a server in the main process, which returns the URL and the admin key of the shared installation. */
    sharedProductUrl: string;
  }
}

/**
 * Sets up a vitest project whose test files share an installation. The installation starts when the first test file
 * requests it. Returns the teardown function.
 */
export default async function shareProduct(project: TestProject): Promise<() => Promise<void>> {
  let starting: ReturnType<typeof startSharedProduct> | undefined;
  const server = createServer((_, response) => {
    starting ??= startSharedProduct();
    starting.then(
      ({ product: { url, adminKey } }) => response.end(JSON.stringify({ url, adminKey })),
      (error) => response.writeHead(500).end(inspect(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  project.provide("sharedProductUrl", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return async () => {
    server.close();
    server.closeAllConnections();
    await (await starting?.catch(() => undefined))?.stop();
  };
}

async function startSharedProduct() {
  // The modules are loaded on demand, because most runs of only a few test files do not need the installation.
  const { createMigratedTestEnvironment } = await import("@pragma/runtime/testing/test-environment");
  const { buildFakeLegacyBackofficeVariables, startFakeLegacyBackoffice } = await import("./fake-legacy-backoffice.ts");
  const { testSandboxEnvironmentVariables } = await import("../contract/tags/sandboxes.ts");
  const { startPragmaUnderTest } = await import("./pragma-under-test.ts");
  const backoffice = await startFakeLegacyBackoffice();
  const environment = await createMigratedTestEnvironment({
    ...{ RATE_LIMIT_PER_SECOND: "1000000", RATE_LIMIT_BURST: "10000000", AUTH_FAILURES_BURST: "10000000" },
    ...{ MAX_RECIPIENTS_PER_LOCATION: "100000", MAX_WEBHOOKS_PER_LOCATION: "100000" },
    ...{ JOBS_MAX_UNFINISHED_PER_KEY: "100000", JOBS_MAX_UNFINISHED_PER_LOCATION: "100000" },
    ...{
      JOBS_MAX_REPEATING_PER_LOCATION: "100000",
      JOBS_MAX_PER_DAY: "1000000",
      JOBS_MAX_BYTES_PER_DAY: "10000000000",
    },
    ...buildFakeLegacyBackofficeVariables(backoffice),
    ...testSandboxEnvironmentVariables,
  });
  const product = await startPragmaUnderTest(environment.variables);
  return {
    product,
    async stop() {
      await product.stop();
      await backoffice.stop();
      await environment.remove();
    },
  };
}
