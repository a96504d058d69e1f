import { describe, expect, it } from "vitest";
import { configureSubscriptions, defineEventSubscription } from "./subscription.ts";

const subscriptions = [
  defineEventSubscription("till.pushed", async () => {}, { concurrency: 4, hasRevisions: true }),
  defineEventSubscription("report.finalized", async () => {}),
];
const configuredConcurrencies = (service: string, environment: Record<string, string>) =>
  configureSubscriptions(subscriptions, service, environment).map(({ concurrency }) => concurrency);

describe("the concurrency of a subscription", () => {
  it("is set by a variable of its service and event", () => {
    expect(configuredConcurrencies("till-ingest", {})).toEqual([4, 8]);
    const environment = { TILL_INGEST_TILL_PUSHED_CONCURRENCY: "12", WEBHOOKS_REPORT_FINALIZED_CONCURRENCY: "20" };
    expect(configuredConcurrencies("till-ingest", environment)).toEqual([12, 8]);
    expect(configuredConcurrencies("webhooks", environment)).toEqual([4, 20]);
  });

  it("must be a whole number of at least 1", () => {
    expect(() => configuredConcurrencies("reporting", { REPORTING_TILL_PUSHED_CONCURRENCY: "0" })).toThrow(
      "REPORTING_TILL_PUSHED_CONCURRENCY",
    );
  });
});
