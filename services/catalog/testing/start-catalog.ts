import {
  CatalogCategory,
  type CatalogList,
  CatalogModifier,
  CatalogPayment,
  CatalogProduct,
  CatalogTax,
  ReplacedCatalog,
} from "@pragma/contracts/catalog";
import { type Problem, problemSchema } from "@pragma/contracts/errors";
import type { EventData } from "@pragma/contracts/events";
import type { Principal } from "@pragma/contracts/principal";
import { createServiceRegistry } from "@pragma/runtime/service-registry";
import { eventually } from "@pragma/runtime/testing/eventually";
import { type PretendAccounts, pretendAccounts } from "@pragma/runtime/testing/pretend-accounts";
import { sentEvents } from "@pragma/runtime/testing/sent-events";
import { createTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { startTestService, type TestService, testPrincipal } from "@pragma/runtime/testing/test-service";
import { expect } from "vitest";
import { z } from "zod";
import catalog from "../service.ts";

type Asking = Parameters<TestService["ask"]>;

/** Where each list is read, and what it is made of. */
export const lists = {
  products: { path: "/v1/catalog/", schema: z.strictObject(CatalogProduct.shape) },
  payments: { path: "/v1/catalog/payments/", schema: z.strictObject(CatalogPayment.shape) },
  taxes: { path: "/v1/catalog/taxes/", schema: z.strictObject(CatalogTax.shape) },
  modifiers: { path: "/v1/catalog/modifiers/", schema: z.strictObject(CatalogModifier.shape) },
  categories: { path: "/v1/catalog/categories/", schema: z.strictObject(CatalogCategory.shape) },
} as const satisfies Record<CatalogList, unknown>;

/** The catalog service for one test file, beside accounts that know the locations they are told of. */
export interface TestCatalog extends TestService {
  accounts: PretendAccounts;
  /** Replaces a catalogue, which must succeed. */
  put(principal: Principal, body: unknown, headers?: Record<string, string>): Promise<ReplacedCatalog>;
  /** A list, which must be what the documentation says. */
  read(principal: Principal, list: CatalogList): Promise<unknown[]>;
  /** Asks, and gives the problem that is answered. */
  refusal(...request: Asking): Promise<Problem>;
  /** Every `catalog.updated` about a location, once all that was written has been sent. */
  announced(locationId: string): Promise<EventData<"catalog.updated">[]>;
  remove(): Promise<void>;
}

/** A key that may read and replace the catalogue of a location of its own. */
export function shopPrincipal(overrides: Partial<Principal> = {}) {
  const principal = testPrincipal({ scopes: ["catalog:read", "catalog:write"], ...overrides });
  return { principal, locationId: principal.location?.id ?? "" };
}

export async function startCatalog(variables: Record<string, string> = {}): Promise<TestCatalog> {
  const environment = await createTestEnvironment(variables);
  const registry = createServiceRegistry(environment.variables);
  const accounts = pretendAccounts();
  registry.add("accounts", accounts.answer);
  const service = await startTestService(catalog, environment, registry);
  return {
    ...service,
    accounts,
    async put(principal, body, headers = {}) {
      const response = await service.ask("PUT", "/v1/catalog/", { principal, body, headers });
      const text = await response.text();
      expect(response.status, text).toBe(200);
      const replaced = ReplacedCatalog.parse(JSON.parse(text));
      expect(response.headers.get("etag")).toBe(`"${replaced.etag}"`);
      return replaced;
    },
    async read(principal, list) {
      const response = await service.ask("GET", lists[list].path, { principal });
      const text = await response.text();
      expect(response.status, text).toBe(200);
      return z.array<z.ZodType>(lists[list].schema).parse(JSON.parse(text));
    },
    async refusal(...request) {
      const response = await service.ask(...request);
      const text = await response.text();
      expect(response.headers.get("content-type"), text).toBe("application/problem+json");
      const problem = problemSchema.parse(JSON.parse(text));
      expect(problem.status).toBe(response.status);
      return problem;
    },
    async announced(locationId) {
      await eventually("the outbox to be empty", async () => {
        const waiting = await service.db.sql`select 1 from outbox`;
        return waiting.length === 0;
      });
      return sentEvents(environment, "catalog.updated", locationId);
    },
    async remove() {
      await service.stop();
      await environment.remove();
    },
  };
}
