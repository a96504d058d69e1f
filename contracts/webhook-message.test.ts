import { expect, test } from "vitest";
import { type WebhookEventName, webhookEventNames } from "./webhook.ts";
import { type WebhookOrder, webhookBodySchemas } from "./webhook-message.ts";

test("every webhook event has a body schema", () => {
  expect(Object.keys(webhookBodySchemas).sort()).toEqual([...webhookEventNames].sort());
});

const webhookExampleOf = (event: WebhookEventName) =>
  webhookBodySchemas[event].meta()?.example as { meta: { event: string }; data: object };

test.each(webhookEventNames)("the example of %s matches its schema exactly", (event) => {
  expect(webhookBodySchemas[event].parse(webhookExampleOf(event))).toEqual(webhookExampleOf(event));
  expect(webhookExampleOf(event).meta.event).toBe(event);
});

test.each(webhookEventNames.filter((event) => event.startsWith("order.")))(
  "the example of %s has the fields for counting stock",
  (event) => {
    const { isCanceled, productRowList, menuRowList } = webhookExampleOf(event).data as WebhookOrder;
    const rows = [...productRowList, ...menuRowList.flatMap((menu) => menu.productRowList)];
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows) {
      expect(row.productCatalogId).toBe(row.productId);
      expect(row.stockImpactIndicator).toBe(row.parentProductRowId === null);
      expect(row).toMatchObject({ isLoss: expect.any(Boolean), quantity: expect.any(Number) });
      expect(row).toHaveProperty("weight");
    }
    expect(isCanceled).toBe(event === "order.canceled");
  },
);
