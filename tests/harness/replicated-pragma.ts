import { randomUUID } from "node:crypto";
import { serviceNames } from "@pragma/contracts/service-names";
import { findFreePort } from "../../deploy/local/free-port.js";
import { startTestLoadBalancer, type TestLoadBalancer, type TestLoadBalancerTarget } from "./load-balancer.ts";
import {
  getServiceUrlVariableName,
  type PragmaProcessUnderTest,
  type ProcessName,
  preparePragmaProcessUnderTest,
  serviceAndGatewayNames,
} from "./pragma-process.ts";
import type { PragmaUnderTestAccess } from "./pragma-under-test.ts";

/** An installation with two instances of each role. Each role has a load balancer, which uses only ready instances. */
export interface ReplicatedPragmaUnderTest extends PragmaUnderTestAccess {
  instances: Map<ProcessName, PragmaProcessUnderTest[]>;
  /** Restarts an instance. Resolves when the load balancer uses it again, so that another instance can be stopped. */
  restart(role: ProcessName, instance: number, variables?: Record<string, string>): Promise<void>;
  stop(): Promise<void>;
}

const instancesPerRole = 2;

/** Starts an installation with two instances of the gateway and of each service in `roles`. Default: all services. */
export async function startReplicatedPragmaUnderTest(
  variables: Record<string, string>,
  roles = serviceAndGatewayNames,
): Promise<ReplicatedPragmaUnderTest> {
  const adminKey = `admin-key-of-a-test-${randomUUID()}`;
  const shared = { ...variables, PRAGMA_ADMIN_KEY: adminKey };
  const balancers = new Map<ProcessName, { balancer: TestLoadBalancer; targets: TestLoadBalancerTarget[] }>();
  const instances = new Map<ProcessName, PragmaProcessUnderTest[]>();
  const urls: Record<string, string> = {};

  async function deploy(role: ProcessName): Promise<number> {
    const replicas = await Promise.all(
      Array.from({ length: instancesPerRole }, async () => {
        const port = await findFreePort();
        return { port, process: await preparePragmaProcessUnderTest(role, { ...shared, PORT: String(port) }, urls) };
      }),
    );
    instances.set(
      role,
      replicas.map(({ process }) => process),
    );
    const targets = replicas.map(({ port, process }) => ({
      port,
      // The timeout is long, because an instance on a busy machine can respond slowly. It does not delay the detection
      // of a stopped instance, because a stopped instance refuses connections immediately.
      isReady: async () => (await fetch(`${process.opsUrl}/ready`, { signal: AbortSignal.timeout(10_000) })).ok,
    }));
    const balancer = await startTestLoadBalancer(targets);
    balancers.set(role, { balancer, targets });
    return balancer.port;
  }

  for (const service of serviceNames.filter((name) => roles.includes(name))) {
    urls[getServiceUrlVariableName(service)] = `http://127.0.0.1:${await deploy(service)}`;
  }
  const gatewayPort = await deploy("gateway");
  const all = () => [...instances.values()].flat();
  await Promise.all(all().map((process) => process.start()));
  return {
    url: `http://127.0.0.1:${gatewayPort}`,
    adminKey,
    instances,
    async restart(role, instance, changes) {
      const process = instances.get(role)?.[instance];
      const { balancer, targets } = balancers.get(role) ?? {};
      const target = targets?.[instance];
      if (!process || !balancer || !target) throw new Error(`There is no instance ${instance} of ${role}.`);
      await process.stop();
      await process.start(changes);
      await balancer.waitUntilUsed(target);
    },
    async stop() {
      await Promise.all(all().map((process) => process.stop()));
      for (const { balancer } of balancers.values()) balancer.close();
    },
  };
}
