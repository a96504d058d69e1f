import { serviceNames } from "@pragma/contracts/service-names";
import { listNatsUsers } from "@pragma/services/commands/nats-users";
import { describe, expect, it } from "vitest";
import {
  buildKustomizedManifests,
  type KubernetesManifest,
  kustomizeCommand,
  readKubernetesManifests,
  requireValidKubernetesManifest,
} from "./kubernetes/manifests.ts";

const expectedRoles = [...serviceNames, "gateway"] as const;
const folders = ["base", "nats", "operations", "overlays/production"];

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

it("the manifests contain no secrets, and refer to them by name", async () => {
  const all = (await Promise.all(folders.map(readKubernetesManifests))).flat();
  expect(all.filter(({ kind }) => kind === "Secret")).toEqual([]);
  const plain = listContainers(all).flatMap(({ env = [] }) => env.filter(({ value }) => value !== undefined));
  expect([...new Set(plain.map(({ name }) => name))]).toEqual(["SERVICE"]);
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

it("the network policies allow NATS for each of its users", async () => {
  const policies = (await readKubernetesManifests("base")).filter(({ kind }) => kind === "NetworkPolicy");
  for (const { name } of await listNatsUsers("pragma")) {
    const policy = policies.find(({ metadata }) => metadata.name === name);
    expect(JSON.stringify(policy?.spec?.egress), name).toContain('"nats"');
  }
});

it("the pod for operators' commands uses only config maps and secrets of the base", async () => {
  const base = await readKubernetesManifests("base");
  const pods = (await readKubernetesManifests("operations")).filter(({ kind }) => kind === "Pod");
  const containers = pods.flatMap(({ spec }) => (spec as unknown as Pod).containers);
  expect(containers).toHaveLength(1);
  const used = listContainers(base).flatMap(({ envFrom = [] }) => envFrom);
  for (const source of containers.flatMap(({ envFrom = [] }) => envFrom)) expect(used).toContainEqual(source);
});

// These tests run only if kustomize or kubectl is installed, because only these can apply patches to the manifests.
describe.runIf(kustomizeCommand !== undefined)("a kustomize build", () => {
  it.each(["base", "overlays/production"])("of %s matches the Kubernetes schemas", (kustomization) => {
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

  it("allows ingress only to the gateway and the portal", () => {
    const open = buildKustomizedManifests("base")
      .filter(({ kind }) => kind === "NetworkPolicy")
      .filter(({ spec }) => ((spec?.ingress ?? []) as { from?: unknown }[]).some(({ from }) => from === undefined));
    expect(open.map(({ metadata }) => metadata.name).sort()).toEqual(["gateway", "portal"]);
    const production = buildKustomizedManifests("overlays/production").filter(({ kind }) => kind === "NetworkPolicy");
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
