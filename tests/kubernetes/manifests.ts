import { spawnSync } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as keda from "@kubernetes-models/keda/keda.sh/v1alpha1";
import * as apps from "kubernetes-models/apps/v1";
import * as autoscaling from "kubernetes-models/autoscaling/v2";
import * as batch from "kubernetes-models/batch/v1";
import * as networking from "kubernetes-models/networking.k8s.io/v1";
import * as policy from "kubernetes-models/policy/v1";
import * as core from "kubernetes-models/v1";
import { parseAllDocuments } from "yaml";

/** A Kubernetes object, as far as tests look into it. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string };
  spec?: Record<string, unknown>;
  data?: Record<string, string>;
}

const folder = fileURLToPath(new URL("../../deploy/kubernetes/", import.meta.url));
const builders = [
  { command: "kustomize", args: ["build"] },
  { command: "kubectl", args: ["kustomize"] },
];

/** The program that builds kustomizations on this machine; undefined when there is none. */
export const builder = builders.find(({ command, args }) => spawnSync(command, [...args, "--help"]).status === 0);

/** What a kustomization comes to: `base`, `overlays/production`. */
export function build(kustomization: string): Manifest[] {
  if (!builder) throw new Error("There is neither kustomize nor kubectl on this machine.");
  const { command, args } = builder;
  const { stdout, stderr, status } = spawnSync(command, [...args, join(folder, kustomization)], {
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(stderr);
  return manifestsIn(stdout);
}

/** Every object that a folder's own files hold, as it stands there: before patches. */
export async function written(kustomization: string): Promise<Manifest[]> {
  const files = (await readdir(join(folder, kustomization))).filter(
    (name) => name.endsWith(".yaml") && name !== "kustomization.yaml",
  );
  const texts = await Promise.all(files.map((name) => readFile(join(folder, kustomization, name), "utf8")));
  return texts.flatMap(manifestsIn);
}

function manifestsIn(text: string): Manifest[] {
  return parseAllDocuments(text).map((document) => {
    if (document.errors.length > 0) throw document.errors[0];
    return document.toJS() as Manifest;
  });
}

interface Model {
  validate(): void;
}

/** The schemas of each API that is used. */
const models: Record<string, object> = {
  v1: core,
  "apps/v1": apps,
  "autoscaling/v2": autoscaling,
  "batch/v1": batch,
  "keda.sh/v1alpha1": keda,
  "networking.k8s.io/v1": networking,
  "policy/v1": policy,
};

/** Throws when an object is not as the Kubernetes (or KEDA) schema of its kind has it. */
export function validate(manifest: Manifest): void {
  const kinds = models[manifest.apiVersion] as
    | Record<string, (new (manifest: Manifest) => Model) | undefined>
    | undefined;
  const model = kinds?.[manifest.kind];
  if (!model) throw new Error(`No schema is known of ${manifest.apiVersion} ${manifest.kind}.`);
  new model(manifest).validate();
}
