import {
  CatalogCategory,
  type CatalogItemListName,
  CatalogModifierGroup,
  CatalogPaymentMethod,
  CatalogProduct,
  CatalogTax,
  ReplaceCatalogResponse,
} from "@pragma/contracts/catalog";
import type { BusEventData } from "@pragma/contracts/events";
import type { Principal } from "@pragma/contracts/principal";
import { listPublishedTestEvents } from "@pragma/runtime/testing/published-events";
import {
  startTestServiceWithFakeAccounts,
  type TestServiceWithFakeAccounts,
} from "@pragma/runtime/testing/service-with-fake-accounts";
import { buildTestPrincipal } from "@pragma/runtime/testing/test-service";
import { expect } from "vitest";
import { z } from "zod";
import catalog from "../service.ts";

/** The path and the item schema of each list. */
export const testCatalogListPathsAndSchemas = {
  products: { path: "/v1/catalog/", schema: z.strictObject(CatalogProduct.shape) },
  payments: { path: "/v1/catalog/payments/", schema: z.strictObject(CatalogPaymentMethod.shape) },
  taxes: { path: "/v1/catalog/taxes/", schema: z.strictObject(CatalogTax.shape) },
  modifiers: { path: "/v1/catalog/modifiers/", schema: z.strictObject(CatalogModifierGroup.shape) },
  categories: { path: "/v1/catalog/categories/", schema: z.strictObject(CatalogCategory.shape) },
} as const satisfies Record<CatalogItemListName, unknown>;

/** The catalog service of one test file. */
export interface TestCatalogService extends TestServiceWithFakeAccounts {
  /** Replaces a catalog, expects success, and returns the response body. */
  replaceCatalog(
    principal: Principal,
    body: unknown,
    headers?: Record<string, string>,
  ): Promise<ReplaceCatalogResponse>;
  /** Returns a list after checking its items against their schema. */
  readList(principal: Principal, list: CatalogItemListName): Promise<unknown[]>;
  /** Waits until the outbox is empty, and returns the data of every `catalog.updated` event of a location. */
  readCatalogUpdatedEvents(locationId: string): Promise<BusEventData<"catalog.updated">[]>;
}

/** Returns the id of a new location, and a principal that may read and replace the catalog of the location. */
export function buildTestCatalogPrincipalAndLocation(overrides: Partial<Principal> = {}) {
  const principal = buildTestPrincipal({ scopes: ["catalog:read", "catalog:write"], ...overrides });
  return { principal, locationId: principal.location?.id ?? "" };
}

export async function startTestCatalogService(variables: Record<string, string> = {}): Promise<TestCatalogService> {
  const service = await startTestServiceWithFakeAccounts(catalog, variables);
  return {
    ...service,
    async replaceCatalog(principal, body, headers = {}) {
      const response = await service.request("PUT", "/v1/catalog/", { principal, body, headers });
      const text = await response.text();
      expect(response.status, text).toBe(200);
      const replaced = ReplaceCatalogResponse.parse(JSON.parse(text));
      expect(response.headers.get("etag")).toBe(`"${replaced.etag}"`);
      return replaced;
    },
    readList: (principal, list) =>
      service.getJson(
        testCatalogListPathsAndSchemas[list].path,
        z.array<z.ZodType>(testCatalogListPathsAndSchemas[list].schema),
        principal,
      ),
    async readCatalogUpdatedEvents(locationId) {
      await service.waitForEmptyOutbox();
      return listPublishedTestEvents(service.environment, "catalog.updated", locationId);
    },
  };
}
