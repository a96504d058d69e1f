import { sleep } from "@pragma/runtime/concurrency/sleep";
import type { DedicatedServers } from "@pragma/runtime/testing/dedicated-servers";
import type { Random } from "@pragma/simulator/random";
import type { ProductRole, ProductUnderTest } from "../harness/product-under-test.ts";

/** Something that goes wrong and is mended again. */
interface InjectedFault {
  name: string;
  make(): Promise<void>;
}

interface FaultInjectionOptions {
  product: ProductUnderTest;
  servers: DedicatedServers;
  random: Random;
  /** Processes that are killed, once each. */
  roles: readonly ProductRole[];
  /** How long each server is away, in milliseconds. */
  outage: number;
  tell: (what: string) => void;
}

/**
 * Kills each of the processes and starts it again, takes each server away and brings it back, and empties Redis: in an
 * order and at times that only the random stream knows. What happens to processes happens while servers are away.
 */
export async function injectFaults(options: FaultInjectionOptions): Promise<void> {
  const { random, tell, outage } = options;
  async function oneAfterTheOther(troubles: InjectedFault[], times: Random): Promise<void> {
    for (const trouble of times.shuffle(troubles)) {
      await sleep(times.integer(0, 500 + outage / 2));
      tell(trouble.name);
      await trouble.make();
    }
  }
  await Promise.all([
    oneAfterTheOther(serverFaults(options), random.fork("servers")),
    oneAfterTheOther(processFaults(options), random.fork("processes")),
  ]);
}

function processFaults({ product, roles, random, outage }: FaultInjectionOptions): InjectedFault[] {
  return roles.map((role) => {
    const away = random.integer(0, outage);
    return {
      name: `${role} is killed, and started ${away} ms later`,
      async make() {
        await product.process(role).kill();
        await sleep(away);
        await product.process(role).start();
      },
    };
  });
}

function serverFaults({ servers, random, outage }: FaultInjectionOptions): InjectedFault[] {
  const outages = (["nats", "redis", "postgres"] as const).map((which) => {
    const isKilled = random.chance(0.5);
    return {
      name: `${which} is ${isKilled ? "killed" : "stopped"}, and started ${outage} ms later`,
      async make() {
        await (isKilled ? servers[which].kill() : servers[which].stop());
        await sleep(outage);
        await servers.start(which);
      },
    };
  });
  return [...outages, { name: "redis is emptied", make: () => servers.flushRedis() }];
}
