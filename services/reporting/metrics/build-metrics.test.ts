import { setImmediate } from "node:timers/promises";
import { MetricsQuery } from "@pragma/contracts/metrics-query";
import { describe, expect, it } from "vitest";
import { buildMetrics, type MetricFigures } from "./build-metrics.ts";

const rowCount = 5_000;
const query = MetricsQuery.parse({
  ...{ measures: "sales", dimensions: "product", since: "2026-05-01", until: "2026-05-01" },
});
const figures: MetricFigures = {
  periods: [{ first: 20_574, last: 20_574 }],
  currencies: ["EUR"],
  groups: Array.from({ length: rowCount }, (_, index) => ({
    ...{ periodIndex: 0, currencyIndex: 0, keys: [[`${index}`, `Product ${index}`]], sums: { sales: index } },
  })),
  orderGroups: undefined,
  missingReportCount: 0,
};

describe("an answer with thousands of rows", () => {
  it("is built while other requests are handled", async () => {
    let turns = 0;
    let isDone = false;
    const otherRequests = (async () => {
      for (; !isDone; turns += 1) await setImmediate();
    })();
    const { totals } = await buildMetrics(query, figures, new AbortController().signal);
    isDone = true;
    await otherRequests;
    expect(totals[0]?.values.sales).toBe((rowCount * (rowCount - 1)) / 2);
    expect(turns).toBeGreaterThanOrEqual(10);
  });

  it("is not built to the end for a client that has disconnected", async () => {
    const abortController = new AbortController();
    const answer = buildMetrics(query, figures, abortController.signal);
    abortController.abort(new Error("disconnected"));
    await expect(answer).rejects.toThrow("disconnected");
  });
});
