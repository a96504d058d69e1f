import { readFile } from "node:fs/promises";
import { serviceNames } from "@pragma/contracts/service-names";
import { gatewayConfigSchema } from "@pragma/gateway/config";
import { commonServiceConfigSchema } from "@pragma/runtime/config/runtime-config";
import { databaseUrlsSchema } from "@pragma/runtime/config/service-databases";
import { processConfigSchema } from "@pragma/runtime/process/run-process";
import { connectWaitSecondsSchema } from "@pragma/runtime/service-calls/service-registry";
import { loadServiceDefinition, serviceLoadersAndDefaultPorts } from "@pragma/services/definitions";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { z } from "zod";
import type { KubernetesManifest } from "./kubernetes/manifest.ts";
import {
  installationNames,
  lintRelease,
  listContainers,
  listPods,
  type Pod,
  renderInstallation,
  renderRelease,
  requireValidKubernetesManifest,
} from "./kubernetes/manifests.ts";
import { isSelectedByLabels, type LabelSelector } from "./kubernetes/network-policies.ts";

const expectedRoles = [...serviceNames, "gateway"] as const;
const siteNames = ["portal", "console"];
const readText = (path: string) => readFile(new URL(`../deploy/${path}`, import.meta.url), "utf8");
const selectKind = (manifests: KubernetesManifest[], kind: string) => manifests.filter((each) => each.kind === kind);

describe("helm lint", () => {
  it.each([["production", "1000-locations"], ["services"], ["servers"], ["managed-servers"]])(
    "has no errors and no warnings for the example %s",
    (...examples) => lintRelease({ namespace: "pragma", examples }),
  );

  it("reports errors", async () => {
    const release = { namespace: "pragma", examples: [], values: ["keda.enabled=sometimes"] };
    await expect(lintRelease(release)).rejects.toThrow(/keda.enabled/);
  });
});

describe.each(installationNames)("the installation '%s'", (name) => {
  it("matches the schemas of Kubernetes and of the operators", async () => {
    const manifests = await renderInstallation(name);
    for (const manifest of manifests) requireValidKubernetesManifest(manifest);
    const ids = manifests.map(({ kind, metadata }) => `${metadata.namespace} ${kind} ${metadata.name}`);
    expect(ids).toEqual([...new Set(ids)]);
    expect(new Set(manifests.map(({ metadata }) => metadata.namespace))).not.toContain(undefined);
  });

  it("runs all containers without privileges and with limits", async () => {
    const manifests = await renderInstallation(name);
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
});

it.each([
  ["a value that does not exist", "redis.knd=single", /knd/],
  ["text in the place of a number", "services.gateway.replicas.min=two", /services.gateway.replicas.min/],
  ["a service that does not exist", "services.orders=null,services.billing.env.A=b", /services.billing/],
  ["a service without its target of KEDA", "services.jobs.replicas.backlogPerPod.events=1", /jobs/],
  ["event streams that do not fit into NATS", "eventStreams.orderEventsMaxBytes=45000000000", /maxSize \(24G\)/],
  ["a maximum size that does not fit on the disk", "nats.config.jetstream.fileStore.maxSize=26Gi", /pvc.size \(25Gi\)/],
  [
    "too few connections of PostgreSQL",
    "postgres.parameters.max_connections=300",
    /max_connections \(300\) must be at/,
  ],
  ["too few sessions of PgBouncer", "postgres.pooler.parameters.default_pool_size=20", /default_pool_size \(20\) must/],
  ["access without hosts", "access.kind=ingress", /access.apiHost/],
])("Helm rejects %s", async (_, value, message) => {
  const release = { namespace: "pragma", examples: [], values: [value] };
  await expect(renderRelease(release)).rejects.toThrow(message);
});

interface ClusterSpec {
  postgresql: { parameters: Record<string, string> };
}

interface PoolerSpec {
  pgbouncer: { parameters: Record<string, string>; poolMode: string };
}

it.each([
  ["the default values", []],
  ["another pool of one service", ["services.jobs.env.DATABASE_POOL=50", "services.reporting.replicas.max=100"]],
])("PostgreSQL and PgBouncer accept the connections of all pods with %s", async (_, values) => {
  const manifests = await renderRelease({ namespace: "pragma", examples: [], values });
  const [cluster] = selectKind(manifests, "Cluster").map(({ spec }) => spec as unknown as ClusterSpec);
  const [pooler] = selectKind(manifests, "Pooler").map(({ spec }) => spec as unknown as PoolerSpec);
  const bouncer = pooler?.pgbouncer.parameters;
  const settings = selectKind(manifests, "ConfigMap").find(({ metadata }) => metadata.name === "pragma-settings")?.data;
  const scalers = [...selectKind(manifests, "HorizontalPodAutoscaler"), ...selectKind(manifests, "ScaledObject")];
  const sessions = serviceNames.map((name) => {
    const [pod] = selectKind(manifests, "Deployment").filter(({ metadata }) => metadata.name === name);
    const pool = listContainers(pod ? [pod] : [])[0]?.env?.find((each) => each.name === "DATABASE_POOL")?.value;
    const scaler = scalers.find(({ metadata }) => metadata.name === name)?.spec;
    const pods = Number(scaler?.maxReplicas ?? scaler?.maxReplicaCount) + 1;
    // A leader election, and the thread of a bulk export.
    return pods * (Number(pool ?? settings?.DATABASE_POOL) + (name === "reporting" ? 2 : 1));
  });
  const sum = sessions.reduce((one, other) => one + other, 0);
  expect(pooler?.pgbouncer.poolMode).toBe("session");
  expect(Number(bouncer?.default_pool_size)).toBeGreaterThanOrEqual(Math.max(...sessions));
  expect(Number(bouncer?.max_db_connections)).toBeGreaterThanOrEqual(sum);
  expect(Number(bouncer?.max_client_conn)).toBeGreaterThanOrEqual(sum);
  // Besides: unused sessions of PgBouncer, the migrate job, a backup, and operators' commands.
  expect(Number(cluster?.postgresql.parameters.max_connections)).toBeGreaterThanOrEqual(sum + 40);
});

it("an invalid manifest is rejected", async () => {
  const [deployment] = selectKind(await renderInstallation("production"), "Deployment");
  const wrong = { ...deployment, spec: { ...deployment?.spec, replicas: "two" } } as KubernetesManifest;
  expect(() => requireValidKubernetesManifest(wrong)).toThrow(/replicas/);
});

it.each([
  ["RedisReplication", "redisConfig", { additionalRedisConf: "redis-replication-config" }],
  ["RedisReplication", "podSecurityContext", { runAsUser: "redis" }],
  ["RedisSentinel", "redisSentinelConfig", { quorum: 2 }],
])("an invalid %s with other settings of %s is rejected", async (kind, field, value) => {
  const [object] = selectKind(await renderInstallation("several namespaces"), kind);
  const wrong = { ...object, spec: { ...object?.spec, [field]: value } } as KubernetesManifest;
  expect(() => requireValidKubernetesManifest(wrong)).toThrow();
});

it("the chart contains no secrets, and refers to them by name", async () => {
  const all = (await Promise.all(installationNames.map(renderInstallation))).flat();
  expect(selectKind(all, "Secret")).toEqual([]);
  const isSecretName = (name: string) =>
    /(?:DATABASE|DATABASE_READ|DATABASE_TRANSACTION|NATS|REDIS)_URL$|_KEYS?$|_TOKEN$|PASSWORD/.test(name);
  const plain = listContainers(all).flatMap(({ env = [] }) => env.filter(({ value }) => value !== undefined));
  expect(plain.filter(({ name }) => isSecretName(name))).toEqual([]);
});

it("the services have the ports and the values of the product, and settings that a process reads", async () => {
  const values = parse(await readText("kubernetes/pragma/values.yaml"));
  expect(Object.keys(values.services).sort()).toEqual([...expectedRoles].sort());
  const manifests = await renderInstallation("production");
  const readsOf = async (name: (typeof expectedRoles)[number]) => {
    const own = name === "gateway" ? gatewayConfigSchema : (await loadServiceDefinition(name)).config;
    const schemas = [processConfigSchema, own, ...(name === "gateway" ? [] : [commonServiceConfigSchema])];
    return schemas.flatMap((schema) => Object.keys((schema as z.ZodObject).shape));
  };
  const settings = selectKind(manifests, "ConfigMap").find(({ metadata }) => metadata.name === "pragma-settings")?.data;
  const allReads = new Set([
    ...(await Promise.all(expectedRoles.map(readsOf))).flat(),
    ...Object.keys((databaseUrlsSchema as z.ZodObject).shape),
  ]);
  expect(Object.keys(settings ?? {}).filter((name) => !allReads.has(name) && name !== "NODE_ENV")).toEqual([]);
  expect(settings).toMatchObject({
    ORDER_EVENT_STREAM_MAX_BYTES: "45000000000",
    OPS_HOST: "0.0.0.0",
    DOCS_URL: "https://docs.example/docs",
  });
  for (const name of expectedRoles) {
    const [container] = listContainers(
      selectKind(manifests, "Deployment").filter(({ metadata }) => metadata.name === name),
    );
    const port = name === "gateway" ? 4000 : serviceLoadersAndDefaultPorts[name].defaultPort;
    expect(container?.ports?.find((each) => each.name === "http")?.containerPort, name).toBe(port);
    const reads = await readsOf(name);
    const plain = (container?.env ?? []).filter(({ value }) => value !== undefined).map((variable) => variable.name);
    const unread = plain.filter((variable) => !reads.includes(variable) && !/^SERVICE$|^[A-Z_]+_URL$/.test(variable));
    expect(unread, name).toEqual([]);
  }
});

it.each([
  ["", undefined],
  ["console.example", "https://console.example"],
])("with the host %j of the console, the documentation site links to %s", async (host, url) => {
  const manifests = await renderRelease({ namespace: "pragma", examples: [], values: [`access.consoleHost=${host}`] });
  const portal = selectKind(manifests, "Deployment").filter(({ metadata }) => metadata.name === "portal");
  const variables = listContainers(portal)[0]?.env ?? [];
  expect(variables.find(({ name }) => name === "CONSOLE_URL")?.value).toBe(url);
});

it("the alert rules are those of deploy/grafana", async () => {
  const rules = JSON.parse(await readText("grafana/rules.json"));
  const [rule] = selectKind(await renderInstallation("production"), "PrometheusRule");
  expect(rule?.spec).toEqual(rules);
});

it("Prometheus scrapes each port with metrics, with the job that the alert rules name", async () => {
  const manifests = await renderInstallation("production");
  const monitors = selectKind(manifests, "PodMonitor");
  const findMonitor = (labels: Record<string, string>) =>
    monitors.find(({ spec }) => isSelectedByLabels(spec?.selector as LabelSelector, labels))?.spec;
  const metricPorts = new Map<string, string>();
  for (const { spec } of manifests) {
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
  const scaled = selectKind(await renderInstallation("production"), "ScaledObject");
  const queries = JSON.stringify(scaled.map(({ spec }) => spec)).match(/event_consumer_lag\{[^}]*\}/g) ?? [];
  expect(queries).toHaveLength(2);
  for (const query of queries) expect(query).toContain('state=~\\"waiting|in hand\\"');
});

describe("the migrate job", () => {
  const servers = { namespace: "pragma", examples: ["production"] };
  const services = { namespace: "pragma", examples: ["services"] };
  const readJob = async (release: Parameters<typeof renderRelease>[0]) =>
    selectKind(await renderRelease(release), "Job")[0] as KubernetesManifest;

  it("runs before an upgrade, and before an installation whose servers exist", async () => {
    for (const release of [services, { ...services, isUpgrade: true }, { ...servers, isUpgrade: true }]) {
      const { metadata } = await readJob(release);
      expect(metadata.annotations).toMatchObject({
        "helm.sh/hook": "pre-install,pre-upgrade",
        "helm.sh/hook-delete-policy": "before-hook-creation",
      });
    }
  });

  it("runs with the servers that the release creates, when it is installed", async () => {
    expect((await readJob(servers)).metadata.annotations).not.toHaveProperty("helm.sh/hook");
  });

  it("needs no object of the release, because hooks run before these exist", async () => {
    const job = await readJob(services);
    const [pod] = listPods([job]);
    expect(pod).not.toHaveProperty("serviceAccountName");
    expect(JSON.stringify(job)).not.toMatch(/configMap/);
    const settings = selectKind(await renderRelease(services), "ConfigMap").find(
      ({ metadata }) => metadata.name === "pragma-settings",
    );
    const env = pod?.containers[0]?.env ?? [];
    const plain = env.filter(({ value }) => value !== undefined).map(({ name, value }) => [name, value]);
    expect(Object.fromEntries(plain)).toEqual(settings?.data);
  });

  it("removes itself after an hour", async () => {
    expect((await readJob(services)).spec).toMatchObject({ ttlSecondsAfterFinished: 3600 });
  });
});

it("the gateway and each service have a deployment, a service, a disruption budget and a network policy", async () => {
  const withKeda = await renderInstallation("production");
  const namesOfKind = (kind: string) => selectKind(withKeda, kind).map(({ metadata }) => metadata.name);
  for (const kind of ["Deployment", "Service", "PodDisruptionBudget", "NetworkPolicy"])
    expect(namesOfKind(kind)).toEqual(expect.arrayContaining([...expectedRoles]));
  expect(namesOfKind("ScaledObject").sort()).toEqual(["jobs", "reporting", "webhooks"]);
  expect([...namesOfKind("HorizontalPodAutoscaler"), ...namesOfKind("ScaledObject")].sort()).toEqual(
    [...expectedRoles].sort(),
  );
  const withoutKeda = selectKind(await renderInstallation("managed servers"), "HorizontalPodAutoscaler");
  expect(withoutKeda.map(({ metadata }) => metadata.name).sort()).toEqual([...expectedRoles].sort());
});

it("the pod for operators' commands uses only config maps and secrets of the installation", async () => {
  const manifests = await renderInstallation("production");
  const isOps = ({ kind }: KubernetesManifest) => kind === "Pod";
  const containers = listContainers(manifests.filter(isOps));
  expect(containers).toHaveLength(1);
  const others = listContainers(manifests.filter((each) => !isOps(each)));
  const used = others.flatMap(({ envFrom = [] }) => envFrom);
  for (const source of containers.flatMap(({ envFrom = [] }) => envFrom)) expect(used).toContainEqual(source);
  const usedSecrets = others.flatMap(({ env = [] }) => env.map(({ valueFrom }) => valueFrom));
  for (const { valueFrom } of containers.flatMap(({ env = [] }) => env)) expect(usedSecrets).toContainEqual(valueFrom);
});

it("deployments replace pods without downtime", async () => {
  const deployments = selectKind(await renderInstallation("production"), "Deployment");
  expect(deployments).toHaveLength(expectedRoles.length + siteNames.length);
  for (const deployment of deployments) {
    expect(deployment.spec).toMatchObject({ strategy: { rollingUpdate: { maxUnavailable: 0 } } });
    const [pod] = listPods([deployment]);
    // SHUTDOWN_DELAY_SECONDS and SHUTDOWN_TIMEOUT_SECONDS.
    expect(pod?.terminationGracePeriodSeconds).toBeGreaterThan(
      10 + processConfigSchema.parse({}).SHUTDOWN_TIMEOUT_SECONDS,
    );
    if (!siteNames.includes(deployment.metadata.name))
      expect(pod?.terminationGracePeriodSeconds).toBeLessThan(connectWaitSecondsSchema.parse(undefined));
    expect(pod?.containers[0]).toMatchObject({ readinessProbe: {}, livenessProbe: {} });
  }
});
