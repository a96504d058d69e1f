import { randomUUID } from "node:crypto";
import type { ResolvedApiKey } from "@pragma/contracts/principal";
import type { ServiceName } from "@pragma/contracts/service-names";
import type { ServiceAppFetch } from "@pragma/runtime/http/request-identity";
import { createLogger } from "@pragma/runtime/observability/logger";
import { createPrometheusMetrics } from "@pragma/runtime/observability/metrics";
import { generateApiKey, hashApiKey } from "@pragma/runtime/security/api-key";
import { createServiceRegistry } from "@pragma/runtime/service-calls/service-registry";
import type { IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { startGateway } from "../main.ts";

/** A fake of the accounts service. It returns the API keys that the test added. */
export class FakeApiKeyLookupService {
  readonly keys = new Map<string, ResolvedApiKey>();
  /** The key hashes of all lookups so far. */
  readonly lookups: string[] = [];
  /** Called before each response. If it rejects, the request fails, which simulates an outage of accounts. */
  beforeResponse: (hash: string) => Promise<void> = async () => {};

  readonly respond: ServiceAppFetch = async (request) => {
    const hash = new URL(request.url).pathname.split("/").at(-1) ?? "";
    this.lookups.push(hash);
    const resolvedKey = this.keys.get(hash);
    await this.beforeResponse(hash);
    return resolvedKey ? Response.json(resolvedKey) : Response.json({}, { status: 404 });
  };

  /** Adds an API key with the given properties. All other properties have default values. */
  addKey(
    properties: Partial<ResolvedApiKey> = {},
    key = generateApiKey().key,
  ): { key: string; hash: string; resolvedKey: ResolvedApiKey } {
    const resolvedKey: ResolvedApiKey = {
      keyId: randomUUID(),
      consumer: "Acme",
      scopes: ["reports:read", "tills:write"],
      location: { id: randomUUID(), application: "POPINA", legacyId: null, timeZone: "Europe/Paris" },
      rateLimit: null,
      revokedAt: null,
      expiresAt: null,
      ...properties,
    };
    const hash = hashApiKey(key);
    this.keys.set(hash, resolvedKey);
    return { key, hash, resolvedKey };
  }
}

/** A gateway that listens on a port and uses a fake accounts service. */
export interface TestGateway {
  url: string;
  port: number;
  accounts: FakeApiKeyLookupService;
  /** The parsed log lines that the gateway has written so far. */
  logLines: Record<string, unknown>[];
  request(path: string, init?: RequestInit & { key?: string; duplex?: "half" }): Promise<Response>;
  stop(): Promise<void>;
}

interface TestGatewayOptions {
  /** The services that run in the gateway's process. */
  inProcessServices?: Partial<Record<ServiceName, ServiceAppFetch>>;
  accounts?: FakeApiKeyLookupService;
  /** Additional environment variables, such as the URLs of services. */
  variables?: Record<string, string>;
}

export async function startTestGateway(
  { variables }: IsolatedTestEnvironment,
  {
    inProcessServices = {},
    accounts = new FakeApiKeyLookupService(),
    variables: extraVariables = {},
  }: TestGatewayOptions = {},
): Promise<TestGateway> {
  const environment = { ...variables, PORT: "0", UPSTREAM_CONNECT_WAIT_SECONDS: "0", ...extraVariables };
  const registry = createServiceRegistry(environment);
  registry.registerLocalService("accounts", accounts.respond);
  for (const [service, fetch] of Object.entries(inProcessServices))
    registry.registerLocalService(service as ServiceName, fetch);
  const logLines: Record<string, unknown>[] = [];
  const log = createLogger({
    name: "gateway",
    level: "info",
    destination: {
      write: (lines) =>
        void logLines.push(
          ...lines
            .trimEnd()
            .split("\n")
            .map((line) => JSON.parse(line)),
        ),
    },
  });
  const gateway = await startGateway({ environment, registry, log, metrics: createPrometheusMetrics() });
  const url = `http://127.0.0.1:${gateway.port}`;
  return {
    url,
    port: gateway.port,
    accounts,
    logLines,
    request: (path, { key, ...init } = {}) =>
      fetch(url + path, {
        ...init,
        headers: { ...(key !== undefined && { authorization: `Bearer ${key}` }), ...(init.headers as object) },
      }),
    stop: () => gateway.stop(),
  };
}
