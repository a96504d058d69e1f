import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDemoExampleLocation } from "./documentation/demo-example-location.ts";
import { createExampleLocation, type DocumentationExampleLocation } from "./documentation/documentation-fixture.ts";
import { documentedApiUrl } from "./documentation/example-recorder.ts";
import { createPushGuideLocation, type PushGuideLocation } from "./documentation/push-guide-location.ts";
import { recordAccountingExamples } from "./documentation/record-accounting.ts";
import { recordCatalogExamples } from "./documentation/record-catalog.ts";
import { recordJobExamples } from "./documentation/record-jobs.ts";
import { recordLegacyTillExamples } from "./documentation/record-legacy-tills.ts";
import { recordLiveOrderExamples } from "./documentation/record-live-order.ts";
import { recordOperatorExamples } from "./documentation/record-operators.ts";
import { recordHomePageWeek, recordOwnerQuestionExamples } from "./documentation/record-owner-questions.ts";
import { recordTillPushExamples } from "./documentation/record-push.ts";
import { recordReadingGuideExamples } from "./documentation/record-reading-guides.ts";
import {
  recordEdgeCaseTillExamples,
  recordErrorAndApiKeyExamples,
  recordRateLimitExample,
  recordReadRequestExamples,
  recordRepeatedRequestExamples,
} from "./documentation/record-requests.ts";
import { recordUsageExamples } from "./documentation/record-usage.ts";
import { recordWebhookExamples } from "./documentation/record-webhooks.ts";
import {
  buildFakeLegacyBackofficeVariables,
  type FakeLegacyBackoffice,
  startFakeLegacyBackoffice,
} from "./harness/fake-legacy-backoffice.ts";
import { type PragmaUnderTest, startPragmaUnderTest } from "./harness/pragma-under-test.ts";

/*
 * The requests and responses in the documentation come from the files in `docs-portal/examples`. These tests send the
 * requests again and compare the responses with the files. `npm run examples` updates the files.
 */

const portalFolder = join(
  findEnclosingPackageFolder(import.meta.resolve("@pragma/services/definitions")),
  "..",
  "docs-portal",
);
const examplesFolder = join(portalFolder, "examples");

let environment: IsolatedTestEnvironment;
let backoffice: FakeLegacyBackoffice;
let product: PragmaUnderTest;
let documentationFixture: DocumentationExampleLocation;
let pushGuideLocation: PushGuideLocation;
beforeAll(async () => {
  backoffice = await startFakeLegacyBackoffice();
  environment = await createMigratedTestEnvironment({
    PUBLIC_URL: documentedApiUrl,
    USAGE_INTERVAL_SECONDS: "1",
    ...buildFakeLegacyBackofficeVariables(backoffice),
  });
  product = await startPragmaUnderTest(environment.variables);
  documentationFixture = await createExampleLocation(product);
  pushGuideLocation = await createPushGuideLocation(product);
}, 300_000);
afterAll(async () => {
  await product?.stop();
  await backoffice?.stop();
  await environment?.remove();
});

describe("the examples of the documentation", () => {
  // The test is not retried, because the data that the first run creates would change the responses of the second run.
  it("are the responses of the API", { timeout: 90_000, retry: 0 }, async () => {
    await recordReadRequestExamples(documentationFixture);
    await recordErrorAndApiKeyExamples(documentationFixture);
    await recordRateLimitExample(documentationFixture);
    await recordEdgeCaseTillExamples(documentationFixture);
    await recordRepeatedRequestExamples(documentationFixture);
    await recordLiveOrderExamples(documentationFixture, product.url);
    await recordWebhookExamples(documentationFixture, environment);
    await recordReadingGuideExamples(documentationFixture, product.url);
    await recordAccountingExamples(documentationFixture, product.url);
    await recordUsageExamples(documentationFixture);
    await recordOperatorExamples(documentationFixture);
    await expectUnchangedExamples(documentationFixture);
  });

  it("of the guides for points of sale are the responses of the API", { timeout: 90_000, retry: 0 }, async () => {
    await recordTillPushExamples(pushGuideLocation);
    await recordCatalogExamples(pushGuideLocation);
    await recordLegacyTillExamples(pushGuideLocation, backoffice);
    await recordJobExamples(pushGuideLocation);
    await expectUnchangedExamples(pushGuideLocation);
  });

  it("of the guide 'Ask your data', and the week on the home page, are the responses of the API", {
    timeout: 120_000,
    retry: 0,
  }, async () => {
    const demoExampleLocation = await createDemoExampleLocation(product);
    await recordOwnerQuestionExamples(demoExampleLocation);
    await expectUnchangedExamples(demoExampleLocation);
    const recordedWeek = await recordHomePageWeek(demoExampleLocation, portalFolder);
    await expect(recordedWeek).toMatchFileSnapshot(join(examplesFolder, "demo-week.json"));
  });
});

async function expectUnchangedExamples({ recorder }: Pick<PushGuideLocation, "recorder">): Promise<void> {
  for (const [name, example] of recorder.recordedExamples)
    await expect(`${JSON.stringify(example, null, 2)}\n`).toMatchFileSnapshot(join(examplesFolder, `${name}.json`));
}

describe("the day on the home page", () => {
  it("equals the report that the API computes from its till, to the cent", async () => {
    const { computeHomePageReportAndSales } = await import(pathToFileURL(join(portalFolder, "home-page-day.mjs")).href);
    const { report, sales } = computeHomePageReportAndSales();
    const { locationId, recorder } = documentationFixture;
    const { body: expected } = await recorder.sendRequest({ path: `/v2/reports/${report.id}` });
    expect({ ...report, locationId }).toEqual(expected);

    const { body: orders } = await recorder.sendRequest({ path: `/v1/orders/?reportId=${report.id}&size=100` });
    const total = sales.reduce((sum: number, sale: { total: number }) => sum + sale.total, 0);
    expect(orders.data).toEqual(expect.arrayContaining(sales.map((sale: object) => expect.objectContaining(sale))));
    expect(total).toBe(expected.totalSales);
  });
});
