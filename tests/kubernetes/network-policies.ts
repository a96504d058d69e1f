import type { KubernetesManifest } from "./manifest.ts";

type Labels = Record<string, string>;

export interface LabelSelector {
  matchLabels?: Labels;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}

interface NetworkPeer {
  podSelector?: LabelSelector;
  namespaceSelector?: LabelSelector;
  ipBlock?: { cidr: string; except?: string[] };
}

interface NetworkPolicySpec {
  podSelector: LabelSelector;
  policyTypes: ("Ingress" | "Egress")[];
  ingress?: { from?: NetworkPeer[]; ports?: NetworkPort[] }[];
  egress?: { to?: NetworkPeer[]; ports?: NetworkPort[] }[];
}

type Policy = NetworkPolicySpec & { namespace: string };

interface NetworkPort {
  protocol?: string;
  port?: number;
}

/** A pod in a namespace, or a host outside the cluster, which has an address only. */
export interface NetworkEndpoint {
  /** For messages of tests. */
  name: string;
  pod?: { labels: Labels; namespace: string };
  address: string;
}

/** The labels of each namespace, by name. Kubernetes adds `kubernetes.io/metadata.name` to these. */
export type NamespaceLabels = Record<string, Labels>;

/** @throws Error for an operator that the manifests do not use. */
export function isSelectedByLabels(
  { matchLabels = {}, matchExpressions = [] }: LabelSelector,
  labels: Labels,
): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      if (operator !== "In") throw new Error(`The operator ${operator} is not supported.`);
      return values.includes(labels[key] ?? "");
    })
  );
}

function isAddressInBlock(address: string, cidr: string): boolean {
  const [network = "", bits = "32"] = cidr.split("/");
  const toNumber = (text: string) => text.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
  const blockSize = 2 ** (32 - Number(bits));
  return Math.floor(toNumber(address) / blockSize) === Math.floor(toNumber(network) / blockSize);
}

/** Returns a function that decides whether network policies allow a TCP connection from one endpoint to another. */
export function createNetworkPolicyEvaluator(manifests: KubernetesManifest[], namespaces: NamespaceLabels) {
  const policies: Policy[] = manifests
    .filter(({ kind }) => kind === "NetworkPolicy")
    .map(({ spec, metadata }) => ({ namespace: metadata.namespace ?? "", ...(spec as unknown as NetworkPolicySpec) }));

  const isPeer = (peer: NetworkPeer, endpoint: NetworkEndpoint, policyNamespace: string) => {
    if (peer.ipBlock) {
      const { cidr, except = [] } = peer.ipBlock;
      return (
        isAddressInBlock(endpoint.address, cidr) && !except.some((block) => isAddressInBlock(endpoint.address, block))
      );
    }
    if (!endpoint.pod) return false;
    const { labels, namespace } = endpoint.pod;
    const namespaceLabels = { ...namespaces[namespace], "kubernetes.io/metadata.name": namespace };
    const isInNamespace = peer.namespaceSelector
      ? isSelectedByLabels(peer.namespaceSelector, namespaceLabels)
      : namespace === policyNamespace;
    return isInNamespace && isSelectedByLabels(peer.podSelector ?? {}, labels);
  };

  /** The policies that select a pod, which restrict it to what they allow. */
  const selectingByEndpoint = {
    Ingress: new Map<NetworkEndpoint, Policy[]>(),
    Egress: new Map<NetworkEndpoint, Policy[]>(),
  };
  const findSelecting = (direction: "Ingress" | "Egress", endpoint: NetworkEndpoint) => {
    const known = selectingByEndpoint[direction].get(endpoint);
    if (known) return known;
    const { labels = {}, namespace = "" } = endpoint.pod ?? {};
    const selecting = policies.filter(
      (policy) =>
        policy.namespace === namespace &&
        policy.policyTypes.includes(direction) &&
        isSelectedByLabels(policy.podSelector, labels),
    );
    selectingByEndpoint[direction].set(endpoint, selecting);
    return selecting;
  };

  const isAllowedInDirection = (
    direction: "Ingress" | "Egress",
    own: NetworkEndpoint,
    other: NetworkEndpoint,
    port: number,
  ) => {
    const { pod } = own;
    // No policy restricts hosts outside the cluster.
    if (!pod) return true;
    const selecting = findSelecting(direction, own);
    if (selecting.length === 0) return true;
    return selecting.some(({ namespace, ingress = [], egress = [] }) => {
      const rules = direction === "Ingress" ? ingress.map(({ from, ports }) => ({ peers: from, ports })) : [];
      if (direction === "Egress") rules.push(...egress.map(({ to, ports }) => ({ peers: to, ports })));
      return rules.some(
        ({ peers, ports }) =>
          (peers === undefined || peers.some((peer) => isPeer(peer, other, namespace))) &&
          (ports === undefined || ports.some((each) => each.protocol === "TCP" && each.port === port)),
      );
    });
  };

  return (from: NetworkEndpoint, to: NetworkEndpoint, port: number): boolean =>
    isAllowedInDirection("Egress", from, to, port) && isAllowedInDirection("Ingress", to, from, port);
}
