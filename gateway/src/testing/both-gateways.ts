import { createApiKey } from "@pragma/runtime/api-key";
import type { ServiceFetch } from "@pragma/runtime/caller";
import { type HttpServer, listen } from "@pragma/runtime/http-server";
import { createTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { startTestGateway, TestAccounts, type TestGateway } from "./test-gateway.ts";

/** Where the service of a test is: in the gateway's process, or in a server of its own. */
export type Where = "here" | "elsewhere";

/** Two gateways before one reporting service, which must not be told apart. */
export interface BothGateways extends Record<Where, TestGateway> {
  accounts: TestAccounts;
  stop(): Promise<void>;
}

/** A key that both know, with a limit that no test reaches. */
export const testKey = createApiKey().key;

export async function startBothGateways(
  answer: ServiceFetch,
  variables: Record<string, string> = {},
): Promise<BothGateways> {
  const environment = await createTestEnvironment();
  const accounts = new TestAccounts();
  accounts.addKey({ rateLimit: { perSecond: 10_000, burst: 10_000 } }, testKey);
  const service: HttpServer = await listen(answer, { port: 0 });
  const here = await startTestGateway(environment, {
    accounts,
    direct: { reporting: answer, "order-live": answer },
    variables,
  });
  const elsewhere = await startTestGateway(environment, {
    accounts,
    variables: {
      ...variables,
      REPORTING_URL: `http://127.0.0.1:${service.port}`,
      ORDER_LIVE_URL: `http://127.0.0.1:${service.port}`,
    },
  });
  return {
    here,
    elsewhere,
    accounts,
    async stop() {
      await Promise.all([here.stop(), elsewhere.stop()]);
      await service.stop();
      await environment.remove();
    },
  };
}
