import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { packageFolder } from "@pragma/runtime/package-folder";
import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { playAgain } from "./documentation/play-again.ts";
import { playEdgeCases } from "./documentation/play-edge-cases.ts";
import { playLiveOrder } from "./documentation/play-live-order.ts";
import { playReading } from "./documentation/play-reading.ts";
import { playRefusals } from "./documentation/play-refusals.ts";
import { playWebhooks } from "./documentation/play-webhooks.ts";
import { shownUrl } from "./documentation/recorder.ts";
import { type Stage, setStage } from "./documentation/stage.ts";
import { type Product, startProduct } from "./harness/product.ts";

/*
 * Everything that the documentation shows as asked and answered is in docs-portal/examples, and played here anew.
 * `npm run examples` writes what differs.
 */

const portal = join(packageFolder(import.meta.resolve("@pragma/services/definitions")), "..", "docs-portal");
const examples = join(portal, "examples");

let environment: TestEnvironment;
let product: Product;
let stage: Stage;
beforeAll(async () => {
  environment = await createTestEnvironment({ PUBLIC_URL: shownUrl });
  product = await startProduct(environment.variables);
  stage = await setStage(product);
}, 120_000);
afterAll(async () => {
  await product?.stop();
  await environment?.remove();
});

describe("the examples of the documentation", () => {
  // Never tried again: what one play leaves behind is answered otherwise to the next.
  it("are what the product answers", { timeout: 90_000, retry: 0 }, async () => {
    await playReading(stage);
    await playRefusals(stage);
    await playEdgeCases(stage);
    await playAgain(stage);
    await playLiveOrder(stage, product.url);
    await playWebhooks(stage);
    for (const [name, example] of stage.recorder.told())
      await expect(`${JSON.stringify(example, null, 2)}\n`).toMatchFileSnapshot(join(examples, `${name}.json`));
  });
});

describe("the day that the home page draws", () => {
  it("is, to the cent, what the product answers for its till", async () => {
    const { drawnDay } = await import(pathToFileURL(join(portal, "drawn-day.mjs")).href);
    const { report, sales } = drawnDay();
    const { locationId, recorder } = stage;
    const { body: answered } = await recorder.ask({ path: `/v2/reports/${report.id}` });
    expect({ ...report, locationId }).toEqual(answered);

    const { body: orders } = await recorder.ask({ path: `/v1/orders/?reportId=${report.id}&size=100` });
    const total = sales.reduce((sum: number, sale: { total: number }) => sum + sale.total, 0);
    expect(orders.data).toEqual(expect.arrayContaining(sales.map((sale: object) => expect.objectContaining(sale))));
    expect(total).toBe(answered.totalSales);
  });
});
