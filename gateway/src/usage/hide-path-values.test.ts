import { describe, expect, it } from "vitest";
import { readServedApiDocuments } from "../documents/api-documents.ts";
import { hidePathValues, listPathWords } from "./hide-path-values.ts";

const words = listPathWords((await readServedApiDocuments()).full.body.toString());

describe("hidePathValues", () => {
  it.each([
    "/v2/tills",
    "/v2/tills/",
    "/v1/orders/1ec9cf7f-f9e7-4488-8a7f-fc282b7050b9",
    "/v1/orders/s1EC9CF7F-f9e7-4488-8a7f-fc282b7050b9",
    "/v1/days/2026-05-29",
    "/v1/webhooks/deliveries/1ec9cf7f-f9e7-4488-8a7f-fc282b7050b9/replay",
    "/v1/accounting/exports/1ec9cf7f-f9e7-4488-8a7f-fc282b7050b9/files/2",
    "/v1/order",
    "/openapi.full.json",
    "/v3/reports",
  ])("keeps %s", (path) => {
    expect(hidePathValues(path, words)).toBe(path);
  });

  it.each([
    ["/v1/orders/jean.dupont@example.com", "/v1/orders/{hidden}"],
    ["/v1/orders/dupont", "/v1/orders/{hidden}"],
    ["/v1/orders/0612345678", "/v1/orders/{hidden}"],
    ["/v1/auth/keys/pragma_4fGh2KqAbCdEfGh", "/v1/auth/keys/{hidden}"],
    ["/pragma_4fGh2KqAbCdEfGh", "/{hidden}"],
    ["/v1/Jean%20Dupont/x", "/v1/{hidden}/{hidden}"],
    [`/v1/${"a".repeat(33)}`, "/v1/{hidden}"],
  ])("hides values in %s", (path, shown) => {
    expect(hidePathValues(path, words)).toBe(shown);
  });

  it("limits the number of parts and the length", () => {
    expect(hidePathValues("/a".repeat(5_000), words).length).toBeLessThanOrEqual(256);
  });
});
