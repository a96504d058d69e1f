import { spawnSync } from "node:child_process";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as cloudNativePg from "@kubernetes-models/cloudnative-pg/postgresql.cnpg.io/v1";
import * as gatewayApi from "@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1";
import * as keda from "@kubernetes-models/keda/keda.sh/v1alpha1";
import * as prometheusOperator from "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1";
import * as apps from "kubernetes-models/apps/v1";
import * as autoscaling from "kubernetes-models/autoscaling/v2";
import * as batch from "kubernetes-models/batch/v1";
import * as networking from "kubernetes-models/networking.k8s.io/v1";
import * as policy from "kubernetes-models/policy/v1";
import * as core from "kubernetes-models/v1";
import { parse, parseAllDocuments } from "yaml";
import { createTemporaryDataFolder } from "../../deploy/local/servers.js";
import { findOrDownloadHelm } from "../../deploy/local/testing/helm.js";
import type { KubernetesManifest } from "./manifest.ts";
import { createObjectsOfNatsChart } from "./nats-chart.ts";
import { toStatefulSetOfRedisOperator } from "./redis-operator.ts";

const kubernetesFolder = fileURLToPath(new URL("../../deploy/kubernetes/", import.meta.url));

/** A release of the chart. */
export interface ChartRelease {
  namespace: string;
  /** Values files in `deploy/kubernetes/examples`, without extension. */
  examples: string[];
  /** Further values, such as `backup.enabled=true`. */
  values?: string[];
  isUpgrade?: boolean;
}

/** The releases of each installation that the tests render. */
const installations = {
  "one namespace": [{ namespace: "pragma", examples: [], values: ["backup.enabled=true"] }],
  production: [{ namespace: "pragma", examples: ["production", "1000-locations"] }],
  "several namespaces": [
    { namespace: "pragma", examples: ["services"] },
    { namespace: "pragma-data", examples: ["servers"] },
  ],
  "managed servers": [
    { namespace: "pragma", examples: ["managed-servers"], values: ["keda.enabled=false", "sandboxes.enabled=true"] },
  ],
} satisfies Record<string, ChartRelease[]>;

export type Installation = keyof typeof installations;
export const installationNames = Object.keys(installations) as Installation[];

const rendered = new Map<Installation, Promise<KubernetesManifest[]>>();

/** Renders all releases of an installation, with the pod for operators' commands. Each installation is rendered once. */
export async function renderInstallation(name: Installation): Promise<KubernetesManifest[]> {
  const objects =
    rendered.get(name) ??
    Promise.all(
      (installations[name] as ChartRelease[]).map((release) =>
        renderRelease({ ...release, values: [...(release.values ?? []), "ops.enabled=true"] }),
      ),
    ).then((all) => all.flat());
  rendered.set(name, objects);
  return structuredClone(await objects);
}

/** Renders a release with `helm template`. @throws Error with the message of Helm if it rejects the values. */
export async function renderRelease(release: ChartRelease): Promise<KubernetesManifest[]> {
  const upgrade = release.isUpgrade ? ["--is-upgrade"] : [];
  const text = await runHelm("template", "pragma", await copyChart(), ...upgrade, ...listOptions(release));
  return parseManifests(text).flatMap((manifest) =>
    manifest.metadata.name === natsValuesName
      ? createObjectsOfNatsChart(JSON.parse(manifest.data?.values ?? ""), "pragma", release.namespace)
      : manifest,
  );
}

/** Runs `helm lint --strict`. @throws Error with its messages if the chart or the values have errors or warnings. */
export async function lintRelease(release: ChartRelease): Promise<void> {
  await runHelm("lint", "--strict", await copyChart(), ...listOptions(release));
}

const listOptions = ({ namespace, examples, values = [] }: ChartRelease): string[] => [
  `--namespace=${namespace}`,
  ...examples.map((name) => `--values=${join(kubernetesFolder, "examples", `${name}.yaml`)}`),
  ...values.map((value) => `--set=${value}`),
];

async function runHelm(...args: string[]): Promise<string> {
  const { status, stdout, stderr, error } = spawnSync(await findOrDownloadHelm(), args, {
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw error ?? new Error(`${stderr}${stdout}`);
  return stdout;
}

const natsValuesName = "values-of-nats-chart";
let chartCopy: Promise<string> | undefined;

/**
 * Returns a copy of the chart with a chart in the place of the official chart of NATS, which the tests cannot download: it
 * only writes its values to a config map.
 */
function copyChart(): Promise<string> {
  chartCopy ??= (async () => {
    const folder = join(createTemporaryDataFolder("chart"), "pragma");
    await cp(join(kubernetesFolder, "pragma"), folder, {
      recursive: true,
      dereference: true,
      filter: (source) => basename(source) !== "charts",
    });
    const { dependencies } = parse(await readFile(join(folder, "Chart.yaml"), "utf8"));
    const nats = join(folder, "charts", "nats");
    await mkdir(join(nats, "templates"), { recursive: true });
    await writeFile(join(nats, "Chart.yaml"), `apiVersion: v2\nname: nats\nversion: ${dependencies[0].version}\n`);
    const data = "data: { values: {{ toJson .Values | quote }} }";
    const template = `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ${natsValuesName} }\n${data}\n`;
    await writeFile(join(nats, "templates", "values.yaml"), template);
    return folder;
  })();
  return chartCopy;
}

function parseManifests(text: string): KubernetesManifest[] {
  return parseAllDocuments(text, { uniqueKeys: true }).flatMap((document) => {
    if (document.errors.length > 0) throw document.errors[0];
    return (document.toJS() as KubernetesManifest | null) ?? [];
  });
}

/** A pod, limited to the fields that the tests use. */
export interface Pod {
  automountServiceAccountToken?: boolean;
  terminationGracePeriodSeconds?: number;
  securityContext?: Record<string, unknown>;
  containers: Container[];
  initContainers?: Container[];
}

/** A container of a pod, limited to the fields that the tests use. */
export interface Container {
  name: string;
  image: string;
  command?: string[];
  env?: { name: string; value?: string; valueFrom?: { secretKeyRef?: { name: string; key: string } } }[];
  envFrom?: { secretRef?: { name: string } }[];
  ports?: { name: string; containerPort: number }[];
  resources?: { requests?: Record<string, string>; limits?: Record<string, string> };
  securityContext?: Record<string, unknown>;
  startupProbe?: object;
  readinessProbe?: object;
  livenessProbe?: object;
}

/** Returns the pods of deployments, stateful sets and jobs, without those that operators of servers create. */
export function listPods(manifests: KubernetesManifest[]): Pod[] {
  return manifests.flatMap(({ kind, spec }) => {
    if (kind === "Pod") return [spec as unknown as Pod];
    const job = spec?.jobTemplate as { spec: { template: { spec: Pod } } } | undefined;
    const template = (job?.spec.template ?? spec?.template) as { spec: Pod } | undefined;
    // The operator of PostgreSQL adds the other settings to its pods.
    return template && !spec?.pgbouncer ? [template.spec] : [];
  });
}

export function listContainers(manifests: KubernetesManifest[]): Container[] {
  return listPods(manifests).flatMap(({ containers, initContainers = [] }) => [...containers, ...initContainers]);
}

interface ManifestModel {
  validate(): void;
}

/** The packages with the schemas of Kubernetes objects, by API version. */
const modelsByApiVersion: Record<string, object> = {
  v1: core,
  "apps/v1": apps,
  "autoscaling/v2": autoscaling,
  "batch/v1": batch,
  "gateway.networking.k8s.io/v1": gatewayApi,
  "keda.sh/v1alpha1": keda,
  "monitoring.coreos.com/v1": prometheusOperator,
  "networking.k8s.io/v1": networking,
  "policy/v1": policy,
  "postgresql.cnpg.io/v1": cloudNativePg,
};

/** Validates an object. @throws Error if the object does not match the schema of its kind. */
export function requireValidKubernetesManifest(object: KubernetesManifest): void {
  const manifest = toManifestWithSchema(object);
  const kinds = modelsByApiVersion[manifest.apiVersion] as
    | Record<string, (new (manifest: KubernetesManifest) => ManifestModel) | undefined>
    | undefined;
  const model = kinds?.[manifest.kind];
  if (!model) throw new Error(`There is no schema of ${manifest.apiVersion} ${manifest.kind}.`);
  new model(manifest).validate();
}

function toManifestWithSchema(object: KubernetesManifest): KubernetesManifest {
  if (object.kind === "ObjectStore") return toClusterWithBackups(object);
  return object.apiVersion.startsWith("redis.redis.opstreelabs.in/") ? toStatefulSetOfRedisOperator(object) : object;
}

/**
 * Returns a `Cluster` of CloudNativePG that has the settings of an `ObjectStore` of its Barman Cloud plugin, because they
 * have the same schema, and no package contains that of the plugin.
 */
function toClusterWithBackups({ spec, metadata }: KubernetesManifest): KubernetesManifest {
  const { configuration, retentionPolicy } = spec as { configuration: object; retentionPolicy: string };
  const backup = { barmanObjectStore: configuration, retentionPolicy };
  const cluster = { instances: 1, storage: { size: "1Gi" }, backup };
  return { apiVersion: "postgresql.cnpg.io/v1", kind: "Cluster", metadata, spec: cluster };
}
