import { spawnSync } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
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
import { parseAllDocuments } from "yaml";
import { toStatefulSetOfRedisOperator } from "./redis-operator.ts";

/** A Kubernetes object, limited to the fields that the tests use. */
export interface KubernetesManifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string> };
  spec?: Record<string, unknown>;
  data?: Record<string, string>;
}

const kubernetesFolder = fileURLToPath(new URL("../../deploy/kubernetes/", import.meta.url));
const kustomizeCommands = [
  { command: "kustomize", args: ["build"] },
  { command: "kubectl", args: ["kustomize"] },
];

/** The installed command that builds kustomizations; undefined if none is installed. */
export const kustomizeCommand = kustomizeCommands.find(
  ({ command, args }) => spawnSync(command, [...args, "--help"]).status === 0,
);

/** Builds a kustomization, such as `base` or `overlays/production`, and returns its objects with patches applied. */
export function buildKustomizedManifests(kustomization: string): KubernetesManifest[] {
  if (!kustomizeCommand) throw new Error("Neither kustomize nor kubectl is installed on this machine.");
  const { command, args } = kustomizeCommand;
  const { stdout, stderr, status } = spawnSync(command, [...args, join(kubernetesFolder, kustomization)], {
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(stderr);
  return parseManifests(stdout);
}

/** Returns the objects in the files of a kustomization folder, without applying patches. */
export async function readKubernetesManifests(kustomization: string): Promise<KubernetesManifest[]> {
  const files = (await readdir(join(kubernetesFolder, kustomization))).filter(
    (name) => /\.(?:yaml|json)$/.test(name) && name !== "kustomization.yaml",
  );
  const texts = await Promise.all(files.map((name) => readFile(join(kubernetesFolder, kustomization, name), "utf8")));
  return texts.flatMap(parseManifests);
}

function parseManifests(text: string): KubernetesManifest[] {
  return parseAllDocuments(text, { merge: true }).map((document) => {
    if (document.errors.length > 0) throw document.errors[0];
    return document.toJS() as KubernetesManifest;
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
