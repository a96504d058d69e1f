import { join } from "node:path";
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

const examples = join(
  packageFolder(import.meta.resolve("@pragma/services/definitions")),
  "..",
  "docs-portal",
  "examples",
);

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
  it("are what the product answers", async () => {
    await playReading(stage);
    await playRefusals(stage);
    await playEdgeCases(stage);
    await playAgain(stage);
    await playLiveOrder(stage, product.url);
    await playWebhooks(stage);
    for (const [name, example] of stage.recorder.told())
      await expect(`${JSON.stringify(example, null, 2)}\n`).toMatchFileSnapshot(join(examples, `${name}.json`));
  }, 90_000);
});
