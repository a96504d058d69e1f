import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { generateTill } from "@pragma/simulator/generate-till";
import { startTestWebhookReceiver } from "@pragma/webhooks/testing/webhook-receiver";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PragmaUnderTest, startPragmaUnderTest } from "./harness/pragma-under-test.ts";
import { createTestLocation } from "./harness/test-location.ts";
import {
  fetchLabelsByPrometheusMetric,
  type LabelsByMetricName,
  listPromqlLabels,
  listPromqlMetrics,
} from "./monitoring/prometheus-metrics.ts";
import { labelsByServerMetric } from "./monitoring/server-metrics.ts";

const grafanaFolder = join(findEnclosingPackageFolder(import.meta.url), "..", "deploy", "grafana");

interface Rules {
  groups: { name: string; rules: { alert?: string; record?: string; expr: string; annotations?: object }[] }[];
}
interface Dashboard {
  panels: { title: string; targets?: { expr: string }[] }[];
}

const rules: Rules = JSON.parse(await readFile(join(grafanaFolder, "rules.json"), "utf8"));
const dashboard: Dashboard = JSON.parse(await readFile(join(grafanaFolder, "dashboard.json"), "utf8"));
const alertExpressions = rules.groups.flatMap((group) => group.rules);
const recordedMetricNames = new Set(alertExpressions.flatMap(({ record }) => record ?? []));
const expressions = [
  ...alertExpressions
    .filter(({ alert }) => alert !== "Watchdog") // Fires always, without metrics.
    .map(({ alert, record, expr }) => [alert ?? record ?? "", expr] as const),
  ...dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)),
];

let environment: IsolatedTestEnvironment;
let product: PragmaUnderTest;
let exportedMetrics: LabelsByMetricName;

// Sends requests that make the installation export all metrics of the dashboard and the alert rules. Then reads them.
beforeAll(async () => {
  environment = await createMigratedTestEnvironment({ OPS_TOKEN: randomUUID() });
  product = await startPragmaUnderTest(environment.variables);
  const receiver = await startTestWebhookReceiver();
  const endpoint = receiver.addEndpoint();
  const testLocation = await createTestLocation(product, {
    scopes: ["tills:write", "webhooks:write", "jobs:write", "accounting:write"],
  });
  const { data: recipient } = await testLocation.api.POST("/v1/recipients", { body: { name: "Measured" } });
  await testLocation.api.POST("/v1/webhooks", {
    body: { recipientId: recipient.id, endpointUrl: endpoint.url, events: ["report.finalized"] },
  });
  await testLocation.request("POST", "/v1/jobs/", { body: { message: "measured", duration: 1 } });
  const till = generateTill({ seed: 1, tillId: randomUUID(), orders: 2, day: "2026-04-01" });
  await testLocation.request("POST", "/v2/tills/", { body: till });
  await eventually("the webhook", () => endpoint.receivedWebhooks.length > 0);
  const config = await testLocation.request("POST", "/v1/accounting/configs", { body: {} });
  const { id: accountingConfigId } = (await config.json()) as { id: string };
  await testLocation.request("POST", "/v1/accounting/exports", {
    body: [{ tillId: till.id, accountingConfigId, accountingProvider: "FULLL" }],
  });
  // The last ones are read from PostgreSQL, and are missing from a response if PostgreSQL takes too long.
  const lastMetrics = [
    "webhook_attempt_duration_seconds_count",
    "accounting_exports_unfinished",
    "tills_without_result",
  ];
  exportedMetrics = await eventually("the metrics of the delivery, the export and the tills", async () => {
    const exported = await fetchLabelsByPrometheusMetric(`${product.process("all").opsUrl}/metrics`);
    return lastMetrics.every((name) => exported.has(name)) && exported;
  });
  await receiver.close();
}, 300_000);
afterAll(async () => {
  await product?.stop();
  await environment?.remove();
});

describe("the dashboard and the alert rules", () => {
  it.each(expressions)("%s uses only metrics and labels that the services export", (_, expression) => {
    const metrics = listPromqlMetrics(expression);
    expect(metrics.length).toBeGreaterThan(0);
    for (const metric of metrics) {
      if (recordedMetricNames.has(metric) || metric in labelsByServerMetric) continue;
      expect([...exportedMetrics.keys()]).toContain(metric);
      for (const label of listPromqlLabels(expression, metric))
        expect([...(exportedMetrics.get(metric) ?? [])]).toContain(label);
    }
  });

  it("use only known metrics of other programs, and only their known labels", () => {
    const matchers = alertExpressions.flatMap(({ expr }) => [...expr.matchAll(/(\w+)\{([^}]*)\}/g)]);
    for (const [, metric = "", list = ""] of matchers) {
      const labels = labelsByServerMetric[metric];
      for (const [, label] of list.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g))
        if (labels) expect([...labels, "job"], metric).toContain(label);
    }
    const used = new Set(alertExpressions.flatMap(({ expr }) => listPromqlMetrics(expr)));
    expect([...used]).toEqual(expect.arrayContaining(Object.keys(labelsByServerMetric)));
  });

  it("every alert has a summary and an action", () => {
    const alerts = alertExpressions.filter(({ alert }) => alert !== undefined);
    expect(alerts.length).toBeGreaterThan(10);
    for (const { annotations } of alerts) {
      expect(annotations).toMatchObject({ summary: expect.any(String), action: expect.any(String) });
    }
  });
});
