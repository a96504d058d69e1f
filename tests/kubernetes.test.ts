import { serviceNames } from "@pragma/contracts/service-names";
import { listNatsUsers } from "@pragma/services/commands/nats-users";
import { describe, expect, it } from "vitest";
import {
  buildKustomization,
  type KubernetesManifest,
  kustomizeCommand,
  readManifestFiles,
  validateManifest,
} from "./kubernetes/manifests.ts";

const expectedParts = [...serviceNames, "gateway"] as const;
const folders = ["base", "nats", "overlays/production"];

interface Pod {
  automountServiceAccountToken?: boolean;
  terminationGracePeriodSeconds?: number;
  securityContext?: Record<string, unknown>;
  containers: Container[];
  initContainers?: Container[];
}
interface Container {
  image: string;
  env?: { name: string; value?: string }[];
  envFrom?: object[];
  resources?: { requests?: Record<string, string>; limits?: Record<string, string> };
  securityContext?: Record<string, unknown>;
  startupProbe?: object;
  readinessProbe?: object;
  livenessProbe?: object;
}

it.each(folders)("the files of %s are as the schemas of Kubernetes have them", async (folder) => {
  const manifests = await readManifestFiles(folder);
  expect(manifests.length).toBeGreaterThan(0);
  for (const manifest of manifests) validateManifest(manifest);
});

it("tells a wrong manifest from a right one", async () => {
  const [deployment] = (await readManifestFiles("base")).filter(({ kind }) => kind === "Deployment");
  const wrong = { ...deployment, spec: { ...deployment?.spec, replicas: "two" } } as KubernetesManifest;
  expect(() => validateManifest(wrong)).toThrow(/replicas/);
});

it("holds no secret, and refers to them by name", async () => {
  const all = (await Promise.all(folders.map(readManifestFiles))).flat();
  expect(all.filter(({ kind }) => kind === "Secret")).toEqual([]);
  const plain = listContainers(all).flatMap(({ env = [] }) => env.filter(({ value }) => value !== undefined));
  expect([...new Set(plain.map(({ name }) => name))]).toEqual(["SERVICE"]);
});

it("has a deployment, an address, a budget and a policy for every part", async () => {
  const base = await readManifestFiles("base");
  const named = (kind: string) => base.filter((each) => each.kind === kind).map(({ metadata }) => metadata.name);
  for (const kind of ["Deployment", "Service", "PodDisruptionBudget", "NetworkPolicy"])
    expect(named(kind)).toEqual(expect.arrayContaining([...expectedParts]));
  expect([...named("HorizontalPodAutoscaler"), ...named("ScaledObject")].sort()).toEqual([...expectedParts].sort());
});

it("knows every user of NATS", async () => {
  const policies = (await readManifestFiles("base")).filter(({ kind }) => kind === "NetworkPolicy");
  for (const { name } of await listNatsUsers("pragma")) {
    const policy = policies.find(({ metadata }) => metadata.name === name);
    expect(JSON.stringify(policy?.spec?.egress), name).toContain('"nats"');
  }
});

// Patches are applied by kustomize alone: without it, what they come to is not looked at here.
describe.runIf(kustomizeCommand !== undefined)("built by kustomize", () => {
  it.each(["base", "overlays/production"])("%s is as the schemas of Kubernetes have it", (kustomization) => {
    for (const manifest of buildKustomization(kustomization)) validateManifest(manifest);
  });

  it("runs everything without rights, and with limits", () => {
    const manifests = buildKustomization("overlays/production");
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

  it("exchanges pods without a request that finds none", () => {
    const deployments = buildKustomization("overlays/production").filter(({ kind }) => kind === "Deployment");
    expect(deployments).toHaveLength(expectedParts.length + 1);
    for (const deployment of deployments) {
      expect(deployment.spec).toMatchObject({ strategy: { rollingUpdate: { maxUnavailable: 0 } } });
      const [pod] = listPods([deployment]);
      // The delay of the shutdown, what is in flight (30 s), and some.
      expect(pod?.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(10 + 30 + 10);
      expect(pod?.containers[0]).toMatchObject({ readinessProbe: {}, livenessProbe: {} });
    }
  });

  it("leaves nothing open but the gateway and the portal", () => {
    const open = buildKustomization("base")
      .filter(({ kind }) => kind === "NetworkPolicy")
      .filter(({ spec }) => ((spec?.ingress ?? []) as { from?: unknown }[]).some(({ from }) => from === undefined));
    expect(open.map(({ metadata }) => metadata.name).sort()).toEqual(["gateway", "portal"]);
    const production = buildKustomization("overlays/production").filter(({ kind }) => kind === "NetworkPolicy");
    expect(JSON.stringify(production.find(({ metadata }) => metadata.name === "gateway"))).toContain("ingress-nginx");
  });
});

function listPods(manifests: KubernetesManifest[]): Pod[] {
  return manifests.flatMap(({ spec }) => {
    const template = spec?.template as { spec: Pod } | undefined;
    return template ? [template.spec] : [];
  });
}

function listContainers(manifests: KubernetesManifest[]): Container[] {
  return listPods(manifests).flatMap(({ containers, initContainers = [] }) => [...containers, ...initContainers]);
}
