/** `npm run alerts`: generates the PrometheusRule of deploy/kubernetes from rules.json, the source of the alert rules. */
import { readFile, writeFile } from "node:fs/promises";

const { groups } = JSON.parse(await readFile(new URL("rules.json", import.meta.url), "utf8"));
const rule = {
  apiVersion: "monitoring.coreos.com/v1",
  kind: "PrometheusRule",
  metadata: { name: "pragma", labels: { "app.kubernetes.io/part-of": "pragma" } },
  spec: { groups },
};
const target = new URL("../kubernetes/components/monitoring/prometheus-rule.json", import.meta.url);
await writeFile(target, `${JSON.stringify(rule, null, 2)}\n`);
