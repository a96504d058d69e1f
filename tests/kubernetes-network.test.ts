import { serviceNames } from "@pragma/contracts/service-names";
import { listNatsUsers } from "@pragma/services/commands/nats-users";
import { describe, expect, it } from "vitest";
import type { KubernetesManifest } from "./kubernetes/manifest.ts";
import { renderInstallation } from "./kubernetes/manifests.ts";
import {
  createNetworkPolicyEvaluator,
  type NamespaceLabels,
  type NetworkEndpoint,
} from "./kubernetes/network-policies.ts";

const httpPorts: Record<string, number> = {
  ...{ gateway: 4000, "till-ingest": 4001, "order-live": 4002, reporting: 4003, catalog: 4004 },
  ...{ accounts: 4005, webhooks: 4006, jobs: 4007, sandboxes: 4008, portal: 3000, console: 3002 },
};
const processes = [...serviceNames, "gateway"];
/** The endpoints outside the installation, by name. The pods are in namespaces of their own. */
const outsidePods: Record<string, { namespace: string; labels?: Record<string, string> }> = {
  dns: { namespace: "kube-system", labels: { "k8s-app": "kube-dns" } },
  "another pod of kube-system": { namespace: "kube-system" },
  prometheus: { namespace: "monitoring" },
  "ingress controller": { namespace: "ingress" },
  "operator of PostgreSQL": { namespace: "cnpg-system" },
  "operator of Redis": { namespace: "redis-operator" },
  stranger: {
    namespace: "other",
    labels: { "app.kubernetes.io/name": "gateway", "app.kubernetes.io/part-of": "pragma" },
  },
};
const outsideHosts: Record<string, string> = {
  "public host": "203.0.113.7",
  "host of a private network": "10.99.0.1",
  "metadata service": "169.254.169.254",
  "managed PostgreSQL": "10.20.0.5",
  "managed Redis": "10.20.1.5",
};
/** An unusual port, on which only webhook endpoints may be reached. */
const unusualPort = 8443;
/** Of the inboxes of sandboxes. */
const inboxPort = 4010;
const allPorts = [
  ...Object.values(httpPorts),
  ...[
    53,
    443,
    6443,
    5432,
    4222,
    6222,
    8222,
    6379,
    26379,
    4090,
    4318,
    7777,
    8000,
    9121,
    9127,
    9187,
    inboxPort,
    unusualPort,
  ],
];

interface Architecture {
  /** Whether only the ingress controller reaches the gateway, the portal and the console. */
  hasIngress: boolean;
  managed?: boolean;
  /** Whether Redis has several nodes, by its operator. */
  replicatedRedis?: boolean;
  hasSandboxes?: boolean;
}

/** Returns the connections that the architecture needs, as `from -> to:port`. Everything else must be denied. */
async function listExpectedConnections(
  { hasIngress, managed = false, replicatedRedis = false, hasSandboxes = false }: Architecture,
  names: string[],
) {
  const natsUsers = (await listNatsUsers("pragma")).map(({ name }) => name);
  // The job that removes sandboxes has the access of the pod for operators' commands.
  const operators = ["ops", "sandbox-removal"];
  const databaseClients = [...serviceNames, "migrate", "backup", ...operators];
  const pairs: [from: string[], to: string[], ports: number[]][] = [
    ...serviceNames.map((name): (typeof pairs)[number] => [["gateway"], [name], [httpPorts[name] ?? 0]]),
    [serviceNames.filter((name) => name !== "accounts"), ["accounts"], [4005]],
    [[...natsUsers, ...operators], ["nats"], [4222]],
    [["nats"], ["nats"], [6222]],
    [["gateway", "jobs"], [managed ? "managed Redis" : replicatedRedis ? "redis-replication" : "redis"], [6379]],
    [["redis-replication", "redis-sentinel", "operator of Redis"], ["redis-replication"], [6379]],
    [["redis-sentinel", "operator of Redis"], ["redis-sentinel"], [26379]],
    [databaseClients, managed ? ["managed PostgreSQL"] : ["postgres", "postgres-pooler"], [5432]],
    [["postgres-pooler"], ["postgres"], [5432]],
    [["postgres", "operator of PostgreSQL"], ["postgres"], [5432, 8000]],
    // The API server of Kubernetes can have any address, so that the port is the only limit.
    [["postgres", "postgres-pooler"], Object.keys(outsideHosts), [443, 6443]],
    [["till-ingest", "reporting", "backup", ...operators], ["public host"], [443]],
    [["webhooks"], ["public host"], allPorts],
    [["prometheus"], processes, [4090]],
    [["prometheus"], ["postgres"], [9187]],
    [["prometheus"], ["postgres-pooler"], [9127]],
    [["prometheus"], ["nats"], [7777]],
    [["prometheus"], ["redis", "redis-replication"], [9121]],
    [processes, ["prometheus"], [4318]],
    [names, ["dns"], [53]],
  ];
  const visitors = hasIngress ? ["ingress controller"] : [...Object.keys(outsidePods), ...Object.keys(outsideHosts)];
  pairs.push([visitors, ["gateway"], [4000]], [visitors, ["portal"], [3000]], [visitors, ["console"], [3002]]);
  if (hasSandboxes) pairs.push([["sandboxes"], ["gateway"], [4000]], [["webhooks"], ["sandboxes"], [inboxPort]]);
  // `postgres` reaches every address on these ports, but other pods do not accept connections from it.
  for (const from of ["postgres", "postgres-pooler"]) pairs.push([[from], Object.keys(outsidePods), [443, 6443]]);
  return pairs.flatMap(([from, to, ports]) =>
    from.flatMap((one) => to.flatMap((other) => ports.map((port) => `${one} -> ${other}:${port}`))),
  );
}

/** Returns the pods that the objects of an installation create, by name. */
function listPods(manifests: KubernetesManifest[]): NetworkEndpoint[] {
  return manifests.flatMap(({ kind, metadata, spec }, index) => {
    const { name, namespace = "" } = metadata;
    const address = `10.1.0.${index}`;
    const pod = (labels: Record<string, string>) => [{ name, address, pod: { namespace, labels } }];
    // The labels that the operator adds to its pods.
    if (kind === "Cluster") return pod({ "cnpg.io/cluster": name, "cnpg.io/podRole": "instance" });
    if (kind === "Pooler") return pod({ "cnpg.io/poolerName": name, "cnpg.io/podRole": "pooler" });
    // The operator copies the labels of the object to its pods.
    if (kind === "RedisReplication") return pod(metadata.labels ?? {});
    if (kind === "RedisSentinel")
      return [{ name: `${name}-sentinel`, address, pod: { namespace, labels: metadata.labels ?? {} } }];
    if (kind === "Pod") return pod(metadata.labels ?? {});
    const job = spec?.jobTemplate as { spec?: { template?: unknown } } | undefined;
    const template = (job?.spec?.template ?? spec?.template) as { metadata: { labels: Record<string, string> } };
    return template && kind !== "ScaledObject" ? pod(template.metadata.labels) : [];
  });
}

/** Expects that the policies allow exactly the connections of the architecture, among all pods, hosts and ports. */
async function expectExactConnections(manifests: KubernetesManifest[], architecture: Architecture): Promise<void> {
  const pods = listPods(manifests);
  const names = pods.map(({ name }) => name);
  const redis = architecture.replicatedRedis ? ["redis-replication", "redis-sentinel"] : ["redis"];
  const servers = architecture.managed ? [] : ["postgres", "postgres-pooler", ...redis];
  expect(names).toEqual(expect.arrayContaining([...processes, ...servers, "portal", "console", "migrate", "nats"]));
  // The policies recognize namespaces by the label that Kubernetes itself gives them.
  const namespaces: NamespaceLabels = {};
  const outside: NetworkEndpoint[] = [
    ...Object.entries(outsidePods).map(([name, { namespace, labels = {} }], index) => ({
      ...{ name, address: `10.2.0.${index}` },
      pod: { namespace, labels },
    })),
    ...Object.entries(outsideHosts).map(([name, address]) => ({ name, address })),
  ];
  const isAllowed = createNetworkPolicyEvaluator(manifests, namespaces);
  const allowed: string[] = [];
  for (const from of [...pods, ...outside])
    for (const to of [...pods, ...outside])
      for (const port of new Set(allPorts))
        if ((from.pod ? names.includes(from.name) : false) || names.includes(to.name))
          if (isAllowed(from, to, port)) allowed.push(`${from.name} -> ${to.name}:${port}`);
  const known = new Set([...names, ...outside.map(({ name }) => name)]);
  const expected = (await listExpectedConnections(architecture, names)).filter((connection) => {
    const [from = "", to = ""] = connection.replace(/:\d+$/, "").split(" -> ");
    return known.has(from) && known.has(to);
  });
  expect(allowed.sort()).toEqual([...new Set(expected)].sort());
}

describe("the network policies allow the connections of the architecture, and no others", () => {
  it("in one namespace, with access from everywhere", async () =>
    expectExactConnections(await renderInstallation("one namespace"), { hasIngress: false }));

  it("in production, where only the Gateway reaches the gateway and the sites", async () =>
    expectExactConnections(await renderInstallation("production"), { hasIngress: true }));

  it("in several namespaces, with several nodes of Redis", async () =>
    expectExactConnections(await renderInstallation("several namespaces"), {
      hasIngress: true,
      replicatedRedis: true,
    }));

  it("with the servers of a provider, where only the ingress controller reaches the gateway and the sites", async () =>
    expectExactConnections(await renderInstallation("managed servers"), {
      ...{ hasIngress: true, managed: true, hasSandboxes: true },
    }));

  it("and the test notices a policy that allows more", async () => {
    const manifests = await renderInstallation("one namespace");
    const tooMuch: KubernetesManifest = {
      ...{ apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy" },
      metadata: { name: "too-much", namespace: "pragma" },
      spec: { podSelector: {}, policyTypes: ["Ingress"], ingress: [{ from: [{ podSelector: {} }] }] },
    };
    await expect(expectExactConnections([...manifests, tooMuch], { hasIngress: false })).rejects.toThrow();
  });

  it("and the test notices each policy that is missing", async () => {
    const manifests = await renderInstallation("several namespaces");
    const policies = manifests.filter(({ kind }) => kind === "NetworkPolicy");
    const isDefaultDeny = ({ metadata }: KubernetesManifest) => metadata.name === "default-deny";
    // It also denies the connections of pods that no other policy selects, which are not part of the installation.
    expect(policies.filter(isDefaultDeny).map(({ metadata }) => metadata.namespace)).toEqual(["pragma", "pragma-data"]);
    for (const missing of policies.filter((each) => !isDefaultDeny(each))) {
      const others = manifests.filter((each) => each !== missing);
      const expectation = expectExactConnections(others, { hasIngress: true, replicatedRedis: true });
      await expect(expectation, missing.metadata.name).rejects.toThrow();
    }
  });
});
