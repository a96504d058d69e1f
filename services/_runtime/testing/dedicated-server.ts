import { createTemporaryDataFolder, type LocalServer, localServerStarters } from "./local-servers.ts";

/** One server of a test's own, to be killed, made to hang, and started again on the same port and data. */
export interface DedicatedServer {
  readonly url: string;
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Stops it in its tracks, so that it takes connections and answers nobody, until it is resumed. */
  suspend(): Promise<void>;
  resume(): Promise<void>;
  stop(): Promise<void>;
}

export async function startDedicatedServer(which: keyof typeof localServerStarters): Promise<DedicatedServer> {
  const dataFolder = `${createTemporaryDataFolder("private")}/${which}`;
  let running: LocalServer = await localServerStarters[which]({ dataFolder });
  return {
    url: running.url,
    kill: () => running.kill(),
    async start() {
      running = await localServerStarters[which]({ dataFolder, port: running.port });
    },
    suspend: async () => void (await running.sendSignal("SIGSTOP")),
    resume: async () => void (await running.sendSignal("SIGCONT")),
    stop: () => running.stop(),
  };
}
