import { sleep } from "@pragma/runtime/concurrency/sleep";
import type { OwnTestServers } from "@pragma/runtime/testing/dedicated-infrastructure-servers";
import type { SeededRandom } from "@pragma/simulator/random";
import type { PragmaProcessRole } from "../harness/pragma-process.ts";
import type { PragmaUnderTest } from "../harness/pragma-under-test.ts";

/** A fault of a process or a server. `inject` causes the fault, and resolves after the end of the fault. */
interface InjectedFault {
  name: string;
  inject(): Promise<void>;
}

interface FaultInjectionOptions {
  product: PragmaUnderTest;
  servers: OwnTestServers;
  random: SeededRandom;
  /** The roles of the processes to kill. Each process is killed once. */
  roles: readonly PragmaProcessRole[];
  /** Duration of each server outage, in milliseconds. */
  outageMs: number;
  log: (message: string) => void;
}

/**
 * Kills and restarts each process, stops and restarts each server, and deletes all data in Redis. The sequence and the
 * times are random. Faults of processes can overlap with faults of servers.
 */
export async function injectFaults(options: FaultInjectionOptions): Promise<void> {
  const { random, log, outageMs } = options;
  async function injectSequentially(faults: InjectedFault[], delays: SeededRandom): Promise<void> {
    for (const fault of delays.shuffle(faults)) {
      await sleep(delays.integer(0, 500 + outageMs / 2));
      log(fault.name);
      await fault.inject();
    }
  }
  await Promise.all([
    injectSequentially(serverFaults(options), random.fork("servers")),
    injectSequentially(processFaults(options), random.fork("processes")),
  ]);
}

function processFaults({ product, roles, random, outageMs }: FaultInjectionOptions): InjectedFault[] {
  return roles.map((role) => {
    const downtimeMs = random.integer(0, outageMs);
    return {
      name: `${role} is killed, and started ${downtimeMs} ms later`,
      async inject() {
        await product.process(role).kill();
        await sleep(downtimeMs);
        await product.process(role).start();
      },
    };
  });
}

function serverFaults({ servers, random, outageMs }: FaultInjectionOptions): InjectedFault[] {
  const outages = (["nats", "redis", "postgres"] as const).map((server) => {
    const isKilled = random.chance(0.5);
    return {
      name: `${server} is ${isKilled ? "killed" : "stopped"}, and started ${outageMs} ms later`,
      async inject() {
        await (isKilled ? servers[server].kill() : servers[server].stop());
        await sleep(outageMs);
        await servers.start(server);
      },
    };
  });
  return [...outages, { name: "redis is flushed", inject: () => servers.flushRedis() }];
}
