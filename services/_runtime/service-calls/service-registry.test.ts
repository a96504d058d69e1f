import { type AddressInfo, createServer } from "node:net";
import { expect, it } from "vitest";
import { sleep } from "../concurrency/sleep.ts";
import { startHttpServer } from "../http/http-server.ts";
import { createServiceRegistry } from "./service-registry.ts";

it("waits for a service that does not accept connections yet, if the caller wants this", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  const registry = createServiceRegistry({
    ACCOUNTS_URL: `http://localhost:${port}`,
    GATEWAY_TO_ACCOUNTS_KEYS: `k:${"secret".repeat(8)}`,
  });
  const request = { from: "gateway", path: "/internal/keys/1", timeoutMs: 2_000 } as const;
  await expect(registry.request("accounts", request)).rejects.toMatchObject({ code: "service_unavailable" });
  const pending = Promise.all(
    Array.from({ length: 5 }, () => registry.request("accounts", { ...request, shouldWaitForConnection: true })),
  );
  await sleep(600);
  let requests = 0;
  const accounts = await startHttpServer(
    () => {
      requests += 1;
      return Response.json({});
    },
    { port },
  );
  expect((await pending).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  expect(requests).toBe(5);
  await accounts.stop();
});
