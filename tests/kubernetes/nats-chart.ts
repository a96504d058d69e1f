import { z } from "zod";
import type { KubernetesManifest } from "./manifest.ts";

type JsonObject = Record<string, unknown>;

/** An object of Kubernetes, which the schema of a `StatefulSet` validates. */
const kubernetesObject = z.record(z.string(), z.unknown());
const operation = z.discriminatedUnion("op", [
  z.strictObject({ op: z.literal("add"), path: z.string(), value: z.unknown() }),
  z.strictObject({ op: z.literal("remove"), path: z.string() }),
]);
const mergeAndPatch = { merge: kubernetesObject.default({}), patch: z.array(operation).default([]) };
const image = z.strictObject({ tag: z.string() });

/**
 * The values of the official chart of NATS that this chart sets. Unknown values are errors, because Helm silently ignores a
 * misspelt value. The tests cannot download the official chart.
 */
const valuesSchema = z.strictObject({
  enabled: z.literal(true),
  global: kubernetesObject.optional(),
  fullnameOverride: z.string(),
  config: z.strictObject({
    cluster: z.strictObject({ enabled: z.literal(true), replicas: z.int(), ...mergeAndPatch }),
    jetstream: z.strictObject({
      enabled: z.literal(true),
      memoryStore: z.strictObject({ enabled: z.literal(true), maxSize: z.string() }),
      fileStore: z.strictObject({ maxSize: z.string(), pvc: z.strictObject({ size: z.string() }) }),
      ...mergeAndPatch,
    }),
    ...mergeAndPatch,
  }),
  container: z.strictObject({ image, env: z.record(z.string(), kubernetesObject), ...mergeAndPatch }),
  reloader: z.strictObject({ enabled: z.literal(true), ...mergeAndPatch }),
  promExporter: z.strictObject({ enabled: z.literal(true), image, ...mergeAndPatch }),
  podTemplate: z.strictObject({ ...mergeAndPatch }),
  natsBox: z.strictObject({ enabled: z.literal(false) }),
});

/**
 * Returns the objects that version 1.2 of the official chart creates from its values: the stateful set with the fields that
 * the tests use, and the config map with the configuration of nats-server.
 *
 * @throws `ZodError` if a value is unknown or has the wrong type.
 */
export function createObjectsOfNatsChart(input: unknown, release: string, namespace: string): KubernetesManifest[] {
  const values = valuesSchema.parse(input);
  const { fullnameOverride: name, config, container, reloader, promExporter, podTemplate } = values;
  const labels = { "app.kubernetes.io/name": "nats", "app.kubernetes.io/instance": release };
  const claim = `${name}-js`;
  const getHealth = (query: string) => ({ httpGet: { path: `/healthz${query}`, port: "monitor" } });
  const natsContainer = mergeThenPatch(container, {
    name: "nats",
    image: `nats:${container.image.tag}`,
    ports: [
      { name: "nats", containerPort: 4222 },
      { name: "cluster", containerPort: 6222 },
      { name: "monitor", containerPort: 8222 },
    ],
    args: ["--config", "/etc/nats-config/nats.conf"],
    env: [
      { name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
      ...Object.entries(container.env).map(([variable, value]) => ({ name: variable, ...value })),
    ],
    lifecycle: { preStop: { exec: { command: ["nats-server", "-sl=ldm=/var/run/nats/nats.pid"] } } },
    startupProbe: getHealth(""),
    readinessProbe: getHealth("?js-server-only=true"),
    livenessProbe: getHealth("?js-enabled-only=true"),
    volumeMounts: [
      { name: "config", mountPath: "/etc/nats-config" },
      { name: "pid", mountPath: "/var/run/nats" },
      { name: claim, mountPath: "/data/jetstream" },
    ],
  });
  const reloaderContainer = mergeThenPatch(reloader, {
    name: "reloader",
    image: "natsio/nats-server-config-reloader",
    args: ["-pid", "/var/run/nats/nats.pid", "-config", "/etc/nats-config/nats.conf"],
    volumeMounts: (natsContainer.volumeMounts as { name: string; mountPath: string }[]).filter(
      ({ name: volume, mountPath }) => volume === "pid" || mountPath.startsWith("/etc/"),
    ),
  });
  const exporter = mergeThenPatch(promExporter, {
    name: "prom-exporter",
    image: `natsio/prometheus-nats-exporter:${promExporter.image.tag}`,
  });
  const template = mergeThenPatch(podTemplate, {
    metadata: { labels: { ...labels, "app.kubernetes.io/component": "nats" } },
    spec: {
      shareProcessNamespace: true,
      containers: [natsContainer, reloaderContainer, exporter],
      volumes: [
        { name: "config", configMap: { name: `${name}-config` } },
        { name: "pid", emptyDir: {} },
      ],
    },
  });
  const resources = { requests: { storage: config.jetstream.fileStore.pvc.size } };
  return [
    {
      ...{ apiVersion: "apps/v1", kind: "StatefulSet", metadata: { name, namespace, labels } },
      spec: {
        replicas: config.cluster.replicas,
        serviceName: `${name}-headless`,
        podManagementPolicy: "Parallel",
        selector: { matchLabels: labels },
        template,
        volumeClaimTemplates: [{ metadata: { name: claim }, spec: { accessModes: ["ReadWriteOnce"], resources } }],
      },
    },
    {
      ...{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: `${name}-config`, namespace, labels } },
      data: { "nats.conf": formatConfiguration(createConfiguration(name, config)) },
    },
  ];
}

function createConfiguration(name: string, config: z.infer<typeof valuesSchema>["config"]): JsonObject {
  const { cluster, jetstream } = config;
  const nodes = Array.from({ length: cluster.replicas }, (_, index) => index);
  return mergeThenPatch(config, {
    server_name: "<< $POD_NAME >>",
    lame_duck_grace_period: "10s",
    lame_duck_duration: "30s",
    pid_file: "/var/run/nats/nats.pid",
    port: 4222,
    http_port: 8222,
    cluster: mergeThenPatch(cluster, {
      name,
      port: 6222,
      no_advertise: true,
      routes: nodes.map((node) => `nats://${name}-${node}.${name}-headless:6222`),
    }),
    jetstream: mergeThenPatch(jetstream, {
      max_memory_store: `<< ${jetstream.memoryStore.maxSize} >>`,
      max_file_store: `<< ${jetstream.fileStore.maxSize} >>`,
      store_dir: "/data",
    }),
  });
}

/** Formats a configuration as the official chart does: `<< ... >>` is not quoted, and keys in `$include` are directives. */
function formatConfiguration(config: JsonObject): string {
  const sortKeys = (_: string, value: unknown) =>
    value instanceof Object && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
      : value;
  return JSON.stringify(config, sortKeys, 2)
    .replaceAll(/".*\$include": "(.*)",?/g, "include $1;")
    .replaceAll(/"<<\s+(.*)\s+>>"/g, "$1");
}

function mergeThenPatch(
  { merge, patch }: { merge: JsonObject; patch: z.infer<typeof operation>[] },
  base: JsonObject,
): JsonObject {
  const result = structuredClone(mergeObjects(base, merge));
  for (const { op, path, ...change } of patch) {
    const keys = path.slice(1).split("/");
    const last = keys.pop() ?? "";
    const parent = keys.reduce<unknown>((object, key) => (object as JsonObject)[key], result);
    if (!(parent instanceof Object) || (op === "remove" && !(last in parent)))
      throw new Error(`There is nothing at ${path} that can be patched.`);
    const value = "value" in change ? change.value : undefined;
    if (op === "remove") delete (parent as JsonObject)[last];
    else if (last === "-") (parent as unknown[]).push(value);
    else (parent as JsonObject)[last] = value;
  }
  return result;
}

/** Merges objects deeply. Lists are replaced. */
function mergeObjects(base: JsonObject, changes: JsonObject): JsonObject {
  const merged = { ...base };
  for (const [key, value] of Object.entries(changes)) {
    const previous = merged[key];
    const areObjects = [previous, value].every((each) => each instanceof Object && !Array.isArray(each));
    merged[key] = areObjects ? mergeObjects(previous as JsonObject, value as JsonObject) : value;
  }
  return merged;
}
