import { describe, expect, test } from "vitest";
import type { z } from "zod";
import { Catalog, CatalogProduct, ReplaceCatalogResponse } from "./catalog.ts";
import { OrderV2 } from "./order-data.ts";
import { OrderV1 } from "./order-v1.ts";
import { ReportV0 } from "./report-v0.ts";
import { ReportListItem, ReportV2 } from "./report-v2.ts";
import { TillV1 } from "./till-v1.ts";
import { TillV2 } from "./till-v2.ts";

/** Returns the schema and all schemas nested in it, without duplicates. */
function collectSchemas(schema: z.ZodType, schemas = new Set<z.ZodType>()): Set<z.ZodType> {
  if (schemas.has(schema)) return schemas;
  schemas.add(schema);
  const definition = schema.def as unknown as Record<string, unknown>;
  const shape = (definition.shape ?? {}) as Record<string, z.ZodType>;
  const inner = [definition.innerType, definition.element, ...Object.values(shape)] as (z.ZodType | undefined)[];
  for (const part of inner) if (part) collectSchemas(part, schemas);
  return schemas;
}

describe("the documented example of", () => {
  const components = new Map<string, z.ZodType>();
  for (const root of [
    TillV1,
    TillV2,
    ReportV0,
    ReportV2,
    ReportListItem,
    OrderV1,
    OrderV2,
    Catalog,
    CatalogProduct,
    ReplaceCatalogResponse,
  ]) {
    for (const schema of collectSchemas(root)) {
      const id = schema.meta()?.id;
      if (id) components.set(id, schema);
    }
  }

  test.each([...components])("%s is valid", (_, schema) => {
    const example = schema.meta()?.example;
    expect(example).toBeDefined();
    expect(schema.safeParse(example).error?.issues ?? []).toEqual([]);
  });

  test.each(["TillV2", "OrderV2", "ProductRow", "TicketV1", "Locale"])("%s is included in these tests", (id) => {
    expect(components.has(id)).toBe(true);
  });
});
