import {
  CatalogCategory,
  type CatalogListName,
  CatalogModifier,
  CatalogPayment,
  CatalogProduct,
  CatalogTax,
  ReplacedCatalog,
} from "@pragma/contracts/catalog";
import { type Problem, problemSchema } from "@pragma/contracts/errors";
import type { EventData } from "@pragma/contracts/events";
import type { Principal } from "@pragma/contracts/principal";
import { createServiceRegistry } from "@pragma/runtime/service-calls/service-registry";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createFakeAccountsService, type FakeAccountsService } from "@pragma/runtime/testing/fake-accounts-service";
import { readPublishedEvents } from "@pragma/runtime/testing/published-events";
import { createTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { createTestPrincipal, startTestService, type TestService } from "@pragma/runtime/testing/test-service";
import { expect } from "vitest";
import { z } from "zod";
import catalog from "../service.ts";

type TestRequestArgs = Parameters<TestService["request"]>;

/** The path and the item schema of each list. */
export const catalogListRoutes = {
  products: { path: "/v1/catalog/", schema: z.strictObject(CatalogProduct.shape) },
  payments: { path: "/v1/catalog/payments/", schema: z.strictObject(CatalogPayment.shape) },
  taxes: { path: "/v1/catalog/taxes/", schema: z.strictObject(CatalogTax.shape) },
  modifiers: { path: "/v1/catalog/modifiers/", schema: z.strictObject(CatalogModifier.shape) },
  categories: { path: "/v1/catalog/categories/", schema: z.strictObject(CatalogCategory.shape) },
} as const satisfies Record<CatalogListName, unknown>;

/** The catalog service of one test file, with a fake accounts service, to which tests add locations. */
export interface TestCatalogService extends TestService {
  accounts: FakeAccountsService;
  /** Replaces a catalog, expects success, and returns the response body. */
  replaceCatalog(principal: Principal, body: unknown, headers?: Record<string, string>): Promise<ReplacedCatalog>;
  /** Returns a list after checking its items against their schema. */
  readList(principal: Principal, list: CatalogListName): Promise<unknown[]>;
  /** Sends a request and returns the problem details of its response. */
  requestProblem(...request: TestRequestArgs): Promise<Problem>;
  /** Waits until the outbox is sent, and returns every `catalog.updated` event of a location. */
  catalogUpdatedEvents(locationId: string): Promise<EventData<"catalog.updated">[]>;
  remove(): Promise<void>;
}

/** Returns a principal of a new location that may read and replace its catalog. */
export function createCatalogPrincipal(overrides: Partial<Principal> = {}) {
  const principal = createTestPrincipal({ scopes: ["catalog:read", "catalog:write"], ...overrides });
  return { principal, locationId: principal.location?.id ?? "" };
}

export async function startTestCatalogService(variables: Record<string, string> = {}): Promise<TestCatalogService> {
  const environment = await createTestEnvironment(variables);
  const registry = createServiceRegistry(environment.variables);
  const accounts = createFakeAccountsService();
  registry.registerLocalService("accounts", accounts.fetch);
  const service = await startTestService(catalog, environment, registry);
  return {
    ...service,
    accounts,
    async replaceCatalog(principal, body, headers = {}) {
      const response = await service.request("PUT", "/v1/catalog/", { principal, body, headers });
      const text = await response.text();
      expect(response.status, text).toBe(200);
      const replaced = ReplacedCatalog.parse(JSON.parse(text));
      expect(response.headers.get("etag")).toBe(`"${replaced.etag}"`);
      return replaced;
    },
    async readList(principal, list) {
      const response = await service.request("GET", catalogListRoutes[list].path, { principal });
      const text = await response.text();
      expect(response.status, text).toBe(200);
      return z.array<z.ZodType>(catalogListRoutes[list].schema).parse(JSON.parse(text));
    },
    async requestProblem(...request) {
      const response = await service.request(...request);
      const text = await response.text();
      expect(response.headers.get("content-type"), text).toBe("application/problem+json");
      const problem = problemSchema.parse(JSON.parse(text));
      expect(problem.status).toBe(response.status);
      return problem;
    },
    async catalogUpdatedEvents(locationId) {
      await eventually("the outbox to be empty", async () => {
        const unsentRows = await service.db.sql`select 1 from outbox`;
        return unsentRows.length === 0;
      });
      return readPublishedEvents(environment, "catalog.updated", locationId);
    },
    async remove() {
      await service.stop();
      await environment.remove();
    },
  };
}
