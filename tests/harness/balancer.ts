import type { AddressInfo } from "node:net";
import { connect, createServer, type Server, type Socket } from "node:net";

/** Somewhere that connections can be passed on to. */
export interface Target {
  port: number;
  /** Whether it takes connections. */
  isReady(): Promise<boolean>;
}

/** What stands before the instances of a part: gives each new connection to one that is ready, in turns. */
export interface Balancer {
  port: number;
  close(): void;
}

/** How often instances are asked whether they are ready, in milliseconds. */
const probeEvery = 100;

export async function startBalancer(targets: Target[]): Promise<Balancer> {
  let ready = targets;
  let turn = 0;
  const open = new Set<Socket>();
  const probing = setInterval(async () => {
    const states = await Promise.all(targets.map((target) => target.isReady().catch(() => false)));
    ready = targets.filter((_, index) => states[index]);
  }, probeEvery);

  const server: Server = createServer((incoming) => {
    turn += 1;
    const target = ready[turn % Math.max(1, ready.length)];
    if (!target) return incoming.destroy();
    const outgoing = connect({ port: target.port, host: "127.0.0.1", noDelay: true });
    for (const [one, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      open.add(one);
      one.setNoDelay(true);
      one.pipe(other);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        open.delete(one);
        other.destroy();
      });
    }
    return outgoing;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      clearInterval(probing);
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}
