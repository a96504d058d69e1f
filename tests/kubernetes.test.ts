import { readFile } from "node:fs/promises";
import { serviceNames } from "@pragma/contracts/service-names";
import { describe, expect, it } from "vitest";
import {
  buildKustomizedManifests,
  type KubernetesManifest,
  kustomizeCommand,
  listContainers,
  listPods,
  type Pod,
  readKubernetesManifests,
  requireValidKubernetesManifest,
} from "./kubernetes/manifests.ts";
import { isSelectedByLabels, type LabelSelector } from "./kubernetes/network-policies.ts";

const expectedRoles = [...serviceNames, "gateway"] as const;
const components = ["backup", "http-route", "ingress", "monitoring"].map((name) => `components/${name}`);
const servers = ["nats", "redis", "postgres"];
const folders = ["base", "network", ...servers, "redis-replicated", ...components, "operations", "overlays/production"];
const overlays = [
  "overlays/production",
  "overlays/managed-servers",
  "overlays/several-namespaces/services",
  "overlays/several-namespaces/data",
];

it.each(folders)("the manifests of %s match the Kubernetes schemas", async (folder) => {
  const manifests = await readKubernetesManifests(folder);
  expect(manifests.length).toBeGreaterThan(0);
  for (const manifest of manifests) requireValidKubernetesManifest(manifest);
});

it("an invalid manifest is rejected", async () => {
  const [deployment] = (await readKubernetesManifests("base")).filter(({ kind }) => kind === "Deployment");
  const wrong = { ...deployment, spec: { ...deployment?.spec, replicas: "two" } } as KubernetesManifest;
  expect(() => requireValidKubernetesManifest(wrong)).toThrow(/replicas/);
});

it.each([
  ["RedisReplication", "redisConfig", { additionalRedisConf: "redis-replication-config" }],
  ["RedisReplication", "podSecurityContext", { runAsUser: "redis" }],
  ["RedisSentinel", "redisSentinelConfig", { quorum: 2 }],
])("an invalid %s with other settings of %s is rejected", async (kind, field, value) => {
  const [object] = (await readKubernetesManifests("redis-replicated")).filter((each) => each.kind === kind);
  const wrong = { ...object, spec: { ...object?.spec, [field]: value } } as KubernetesManifest;
  expect(() => requireValidKubernetesManifest(wrong)).toThrow();
});

it("the manifests contain no secrets, and refer to them by name", async () => {
  const all = (await Promise.all(folders.map(readKubernetesManifests))).flat();
  expect(all.filter(({ kind }) => kind === "Secret")).toEqual([]);
  const plain = listContainers(all).flatMap(({ env = [] }) => env.filter(({ value }) => value !== undefined));
  const expected = ["REDIS_ADDR", "REDIS_EXPORTER_CONFIG_COMMAND", "REDIS_MAXMEMORY", "REDIS_USER", "SERVICE"];
  expect([...new Set(plain.map(({ name }) => name))].sort()).toEqual(expected);
});

it("the alert rules are those of deploy/grafana", async () => {
  const rules = JSON.parse(await readFile(new URL("../deploy/grafana/rules.json", import.meta.url), "utf8"));
  const [rule] = (await readKubernetesManifests("components/monitoring")).filter(
    ({ kind }) => kind === "PrometheusRule",
  );
  expect(rule?.spec, "run npm run alerts").toEqual(rules);
});

it("Prometheus scrapes each port with metrics, with the job that the alert rules name", async () => {
  const monitors = (await readKubernetesManifests("components/monitoring")).filter(({ kind }) => kind === "PodMonitor");
  const findMonitor = (labels: Record<string, string>) =>
    monitors.find(({ spec }) => isSelectedByLabels(spec?.selector as LabelSelector, labels))?.spec;
  const pods = (await Promise.all(["base", ...servers].map(readKubernetesManifests))).flat();
  const metricPorts = new Map<string, string>();
  for (const { spec } of pods) {
    const template = spec?.template as { metadata?: { labels: Record<string, string> }; spec: Pod } | undefined;
    const ports = (template?.spec?.containers ?? []).flatMap((container) => container.ports ?? []);
    const port = ports.find(({ name }) => name === "ops" || name === "metrics");
    if (port && template?.metadata)
      metricPorts.set(template.metadata.labels["app.kubernetes.io/name"] ?? "", port.name);
  }
  expect([...metricPorts.keys()].sort()).toEqual([...expectedRoles, "nats", "redis"].sort());
  for (const [name, port] of metricPorts) {
    const labels = { "app.kubernetes.io/name": name, "app.kubernetes.io/part-of": "pragma" };
    const endpoints = findMonitor(labels)?.podMetricsEndpoints as { port: string; relabelings: object[] }[] | undefined;
    expect(endpoints?.[0]?.port, name).toBe(port);
    expect(JSON.stringify(endpoints?.[0]?.relabelings), name).toMatch(/"replacement":"pragma-(?:\$1|nats|redis)"/);
  }
  const instance = findMonitor({ "cnpg.io/cluster": "postgres", "cnpg.io/podRole": "instance" });
  expect(JSON.stringify(instance?.podMetricsEndpoints)).toContain('"pragma-postgres"');
});

it("events that are processed or retried count for the number of pods, too", async () => {
  const scaled = (await readKubernetesManifests("base")).filter(({ kind }) => kind === "ScaledObject");
  const queries = JSON.stringify(scaled.map(({ spec }) => spec)).match(/event_consumer_lag\{[^}]*\}/g) ?? [];
  expect(queries).toHaveLength(2);
  for (const query of queries) expect(query).toContain('state=~\\"waiting|in hand\\"');
});

it("the migrate job removes itself, so that the next version can create it again", async () => {
  const [job] = (await readKubernetesManifests("base")).filter(({ kind }) => kind === "Job");
  expect(job?.spec).toMatchObject({ ttlSecondsAfterFinished: 3600 });
});

it("the gateway and each service have a deployment, a service, a disruption budget and a network policy", async () => {
  const base = await readKubernetesManifests("base");
  const namesOfKind = (kind: string) => base.filter((each) => each.kind === kind).map(({ metadata }) => metadata.name);
  for (const kind of ["Deployment", "Service", "PodDisruptionBudget", "NetworkPolicy"])
    expect(namesOfKind(kind)).toEqual(expect.arrayContaining([...expectedRoles]));
  expect([...namesOfKind("HorizontalPodAutoscaler"), ...namesOfKind("ScaledObject")].sort()).toEqual(
    [...expectedRoles].sort(),
  );
});

it("the pod for operators' commands uses only config maps and secrets of the base", async () => {
  const base = await readKubernetesManifests("base");
  const containers = listContainers(await readKubernetesManifests("operations"));
  expect(containers).toHaveLength(1);
  const used = listContainers(base).flatMap(({ envFrom = [] }) => envFrom);
  for (const source of containers.flatMap(({ envFrom = [] }) => envFrom)) expect(used).toContainEqual(source);
  const usedSecrets = listContainers(base).flatMap(({ env = [] }) => env.map(({ valueFrom }) => valueFrom));
  for (const { valueFrom } of containers.flatMap(({ env = [] }) => env)) expect(usedSecrets).toContainEqual(valueFrom);
});

// These tests run only if kustomize or kubectl is installed, because only these can apply patches to the manifests.
describe.runIf(kustomizeCommand !== undefined)("a kustomize build", () => {
  it.each(["base", "redis-replicated", ...overlays])("of %s matches the Kubernetes schemas", (kustomization) => {
    for (const manifest of buildKustomizedManifests(kustomization)) requireValidKubernetesManifest(manifest);
  });

  it("runs all containers without privileges and with limits", () => {
    const manifests = buildKustomizedManifests("overlays/production");
    for (const pod of listPods(manifests)) {
      expect(pod.automountServiceAccountToken).toBe(false);
      expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } });
    }
    for (const container of listContainers(manifests)) {
      expect(container.securityContext).toMatchObject({
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ["ALL"] },
      });
      expect(container.resources).toMatchObject({
        requests: { cpu: expect.any(String), memory: expect.any(String) },
        limits: { memory: expect.any(String) },
      });
    }
  });

  it("replaces pods without downtime", () => {
    const deployments = buildKustomizedManifests("overlays/production").filter(({ kind }) => kind === "Deployment");
    expect(deployments).toHaveLength(expectedRoles.length + 1);
    for (const deployment of deployments) {
      expect(deployment.spec).toMatchObject({ strategy: { rollingUpdate: { maxUnavailable: 0 } } });
      const [pod] = listPods([deployment]);
      // In seconds: the shutdown delay (10), the time to complete requests in flight (30), and a margin (10).
      expect(pod?.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(10 + 30 + 10);
      expect(pod?.containers[0]).toMatchObject({ readinessProbe: {}, livenessProbe: {} });
    }
  });
});
