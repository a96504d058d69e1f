import { type HttpServer, startHttpServer } from "@pragma/runtime/http/http-server";
import type { ServiceAppFetch } from "@pragma/runtime/http/request-identity";
import { generateApiKey } from "@pragma/runtime/security/api-key";
import { createInternalRequestVerifier } from "@pragma/runtime/service-calls/internal-request-signing";
import { createIsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { FakeApiKeyLookupService, startTestGateway, type TestGateway } from "./test-gateway.ts";

/** How a gateway reaches a test's service: by a direct call in its own process, or over HTTP. */
export type GatewayMode = "in-process" | "remote";

/** Two gateways with the same test service, one in process and one remote. Both must respond in the same way. */
export interface GatewaysInBothModes extends Record<GatewayMode, TestGateway> {
  accounts: FakeApiKeyLookupService;
  stop(): Promise<void>;
}

/** An API key that both gateways accept. Its rate limit is so high that no test reaches it. */
export const testApiKey = generateApiKey().key;

export async function startGatewaysInBothModes(
  serviceFetch: ServiceAppFetch,
  variables: Record<string, string> = {},
): Promise<GatewaysInBothModes> {
  const environment = await createIsolatedTestEnvironment();
  const accounts = new FakeApiKeyLookupService();
  accounts.addKey({ rateLimit: { perSecond: 10_000, burst: 10_000 } }, testApiKey);
  const verifiers = {
    reporting: createInternalRequestVerifier(environment.variables, "reporting"),
    "order-live": createInternalRequestVerifier(environment.variables, "order-live"),
  };
  const service: HttpServer = await startHttpServer(
    (request, bindings) => {
      const name = new URL(request.url).pathname.startsWith("/v1/orders-live") ? "order-live" : "reporting";
      return serviceFetch(request, { ...bindings, requestIdentity: verifiers[name](bindings.incoming) });
    },
    { port: 0 },
  );
  const inProcess = await startTestGateway(environment, {
    accounts,
    inProcessServices: { reporting: serviceFetch, "order-live": serviceFetch },
    variables,
  });
  const remote = await startTestGateway(environment, {
    accounts,
    variables: {
      ...variables,
      REPORTING_URL: `http://127.0.0.1:${service.port}`,
      ORDER_LIVE_URL: `http://127.0.0.1:${service.port}`,
    },
  });
  return {
    "in-process": inProcess,
    remote,
    accounts,
    async stop() {
      await Promise.all([inProcess.stop(), remote.stop()]);
      await service.stop();
      await environment.remove();
    },
  };
}
