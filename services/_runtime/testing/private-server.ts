import { type LocalServer, starters, temporaryDataFolder } from "./local-servers.ts";

/** One server of a test's own, to be killed, made to hang, and started again on the same port and data. */
export interface PrivateServer {
  readonly url: string;
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Stops it in its tracks, so that it takes connections and answers nobody, until it is resumed. */
  hang(): Promise<void>;
  resume(): Promise<void>;
  stop(): Promise<void>;
}

export async function startPrivateServer(which: keyof typeof starters): Promise<PrivateServer> {
  const dataFolder = `${temporaryDataFolder("private")}/${which}`;
  let running: LocalServer = await starters[which]({ dataFolder });
  return {
    url: running.url,
    kill: () => running.kill(),
    async start() {
      running = await starters[which]({ dataFolder, port: running.port });
    },
    hang: async () => void (await running.send("SIGSTOP")),
    resume: async () => void (await running.send("SIGCONT")),
    stop: () => running.stop(),
  };
}
