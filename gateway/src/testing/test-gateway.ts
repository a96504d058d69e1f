import { randomUUID } from "node:crypto";
import type { ResolvedKey } from "@pragma/contracts/principal";
import type { ServiceName } from "@pragma/contracts/service-names";
import type { ServiceFetch } from "@pragma/runtime/http/request-identity";
import { createLogger } from "@pragma/runtime/observability/logger";
import { createMetrics } from "@pragma/runtime/observability/metrics";
import { createApiKey, hashApiKey } from "@pragma/runtime/security/api-key";
import { createServiceRegistry } from "@pragma/runtime/service-calls/service-registry";
import type { TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { startGateway } from "../main.ts";

/** The keys that accounts knows, and whether it answers. Stands for the service of that name. */
export class FakeKeyLookupService {
  readonly keys = new Map<string, ResolvedKey>();
  /** How many look-ups came, by hash. */
  readonly lookups: string[] = [];
  /** What happens before an answer; a rejection is accounts being away. */
  beforeResponse: (hash: string) => Promise<void> = async () => {};

  readonly respond: ServiceFetch = async (request) => {
    const hash = new URL(request.url).pathname.split("/").at(-1) ?? "";
    this.lookups.push(hash);
    const facts = this.keys.get(hash);
    await this.beforeResponse(hash);
    return facts ? Response.json(facts) : Response.json({}, { status: 404 });
  };

  /** Makes a key with these facts. */
  addKey(
    facts: Partial<ResolvedKey> = {},
    key = createApiKey().key,
  ): { key: string; hash: string; facts: ResolvedKey } {
    const all: ResolvedKey = {
      keyId: randomUUID(),
      consumer: "Acme",
      scopes: ["reports:read", "tills:write"],
      location: { id: randomUUID(), application: "POPINA", legacyId: null, timeZone: "Europe/Paris" },
      rateLimit: null,
      revokedAt: null,
      ...facts,
    };
    const hash = hashApiKey(key);
    this.keys.set(hash, all);
    return { key, hash, facts: all };
  }
}

/** A gateway that is listening, before an accounts of the test's own. */
export interface TestGateway {
  url: string;
  port: number;
  accounts: FakeKeyLookupService;
  /** What it has logged so far. */
  logLines: Record<string, unknown>[];
  request(path: string, init?: RequestInit & { key?: string; duplex?: "half" }): Promise<Response>;
  stop(): Promise<void>;
}

interface TestGatewayOptions {
  /** Services in this process. */
  inProcessServices?: Partial<Record<ServiceName, ServiceFetch>>;
  accounts?: FakeKeyLookupService;
  /** More of the configuration, such as the URLs of services. */
  variables?: Record<string, string>;
}

export async function startTestGateway(
  { variables }: TestEnvironment,
  { inProcessServices = {}, accounts = new FakeKeyLookupService(), variables: more = {} }: TestGatewayOptions = {},
): Promise<TestGateway> {
  const environment = { ...variables, PORT: "0", ...more };
  const registry = createServiceRegistry(environment);
  registry.registerLocalService("accounts", accounts.respond);
  for (const [service, fetch] of Object.entries(inProcessServices))
    registry.registerLocalService(service as ServiceName, fetch);
  const logged: Record<string, unknown>[] = [];
  const log = createLogger({
    name: "gateway",
    level: "info",
    destination: {
      write: (lines) =>
        void logged.push(
          ...lines
            .trimEnd()
            .split("\n")
            .map((line) => JSON.parse(line)),
        ),
    },
  });
  const gateway = await startGateway({ environment, registry, log, metrics: createMetrics() });
  const url = `http://127.0.0.1:${gateway.port}`;
  return {
    url,
    port: gateway.port,
    accounts,
    logLines: logged,
    request: (path, { key, ...init } = {}) =>
      fetch(url + path, {
        ...init,
        headers: { ...(key !== undefined && { authorization: `Bearer ${key}` }), ...(init.headers as object) },
      }),
    stop: () => gateway.stop(),
  };
}
