import { randomUUID } from "node:crypto";
import type { KeyFacts } from "@pragma/contracts/principal";
import type { ServiceName } from "@pragma/contracts/service-names";
import { createApiKey, hashKey } from "@pragma/runtime/api-key";
import type { ServiceFetch } from "@pragma/runtime/caller";
import { createLogger } from "@pragma/runtime/logger";
import { createMetrics } from "@pragma/runtime/metrics";
import { createServiceRegistry } from "@pragma/runtime/service-registry";
import type { TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { startGateway } from "../main.ts";

/** The keys that accounts knows, and whether it answers. Stands for the service of that name. */
export class TestAccounts {
  readonly keys = new Map<string, KeyFacts>();
  /** How many look-ups came, by hash. */
  readonly lookups: string[] = [];
  /** What happens before an answer; a rejection is accounts being away. */
  before: (hash: string) => Promise<void> = async () => {};

  readonly answer: ServiceFetch = async (request) => {
    const hash = new URL(request.url).pathname.split("/").at(-1) ?? "";
    this.lookups.push(hash);
    const facts = this.keys.get(hash);
    await this.before(hash);
    return facts ? Response.json(facts) : Response.json({}, { status: 404 });
  };

  /** Makes a key with these facts. */
  addKey(facts: Partial<KeyFacts> = {}, key = createApiKey().key): { key: string; hash: string; facts: KeyFacts } {
    const all: KeyFacts = {
      keyId: randomUUID(),
      consumer: "Acme",
      scopes: ["reports:read", "tills:write"],
      location: { id: randomUUID(), application: "POPINA", legacyId: null, timeZone: "Europe/Paris" },
      rateLimit: null,
      revokedAt: null,
      ...facts,
    };
    const hash = hashKey(key);
    this.keys.set(hash, all);
    return { key, hash, facts: all };
  }
}

/** A gateway that is listening, before an accounts of the test's own. */
export interface TestGateway {
  url: string;
  port: number;
  accounts: TestAccounts;
  /** What it has logged so far. */
  logged: Record<string, unknown>[];
  ask(path: string, init?: RequestInit & { key?: string; duplex?: "half" }): Promise<Response>;
  stop(): Promise<void>;
}

interface TestGatewayOptions {
  /** Services in this process. */
  direct?: Partial<Record<ServiceName, ServiceFetch>>;
  accounts?: TestAccounts;
  /** More of the configuration, such as the URLs of services. */
  variables?: Record<string, string>;
}

export async function startTestGateway(
  { variables }: TestEnvironment,
  { direct = {}, accounts = new TestAccounts(), variables: more = {} }: TestGatewayOptions = {},
): Promise<TestGateway> {
  const environment = { ...variables, PORT: "0", ...more };
  const registry = createServiceRegistry(environment);
  registry.add("accounts", accounts.answer);
  for (const [service, fetch] of Object.entries(direct)) registry.add(service as ServiceName, fetch);
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
    logged,
    ask: (path, { key, ...init } = {}) =>
      fetch(url + path, {
        ...init,
        headers: { ...(key !== undefined && { authorization: `Bearer ${key}` }), ...(init.headers as object) },
      }),
    stop: () => gateway.stop(),
  };
}
