import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { dockerEngine, ignoreMissing, volumeFile } from "./data-folder.mjs";
import { guardUntilReleased, release } from "./guarded.mjs";
import type { Instance, Start } from "./run-server.ts";
import { keptFile } from "./state-folder.ts";

/** Starts a private server in a container, whose port is published on the loopback interface. */
export async function startContainer(plan: Start): Promise<Instance> {
  const { folder, logFile, port, command, args, env = {}, container = { image: "", dataPath: "" } } = plan;
  // Loaded only where containers are used, because it takes half a second.
  const { GenericContainer, StartupCheckStrategy } = await import("testcontainers");
  class LoopbackContainer extends GenericContainer {
    override async beforeContainerCreated() {
      this.hostConfig.PortBindings = { [`${port}/tcp`]: [{ HostIp: "127.0.0.1", HostPort: String(port) }] };
      this.createOpts.StopSignal = plan.stopSignal;
    }
  }
  // Whether it is ready is found out as any other server's.
  class Immediately extends StartupCheckStrategy {
    override checkStartupState = async () => "SUCCESS" as const;
  }
  const id = keptFile(join(folder, volumeFile), () => `pragma-${randomUUID()}`);
  const handle = (await dockerEngine()).getContainer(id);
  await handle.remove({ force: true }).catch(ignoreMissing);
  guardUntilReleased({ kind: "container", id });
  const remove = async () => {
    await handle.remove({ force: true, v: true }).catch(ignoreMissing);
    release(id);
  };
  try {
    await new LoopbackContainer(container.image)
      .withName(id)
      .withLabels({ "pragma.folder": folder })
      .withBindMounts([
        { source: id, target: container.dataPath },
        { source: folder, target: folder, mode: "ro" },
      ])
      .withExposedPorts(port)
      .withEnvironment(env as Record<string, string>)
      .withEntrypoint([command])
      .withCommand(args)
      .withWaitStrategy(new Immediately())
      // The guard ends it with this process, and needs no container that may command Docker.
      .withAutoCleanup(false)
      .withLogConsumer((output) => output.pipe(createWriteStream(logFile, { flags: "a", mode: 0o600 })))
      .start();
    const ended = handle.wait().then(
      ({ StatusCode }: { StatusCode: number }) => `exit code ${StatusCode}`,
      (error: Error) => error.message,
    );
    return {
      pid: (await handle.inspect()).State.Pid,
      ended: ended.finally(remove),
      stop: () => handle.stop({ t: plan.stopTimeoutMs / 1000 }),
      kill: remove,
      hang: () => handle.pause(),
      resume: () => handle.unpause(),
    };
  } catch (error) {
    await remove();
    throw error;
  }
}
