import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { containerRuntime, endContainer, ignoreMissing, volumeFile } from "./data-folder.mjs";
import { guardUntilReleased, release } from "./guarded.mjs";
import type { CompletePlan, Instance } from "./run-server.ts";
import { keptFile } from "./state-folder.ts";

/** Starts a private server in a container, whose port is published on the loopback interface. */
export async function startContainer(plan: CompletePlan): Promise<Instance> {
  const { logFile, port, env = {}, container = { image: "", dataPath: "", folder: "" } } = plan;
  const { ImageName } = await import("testcontainers");
  const { container: client, image: images } = await containerRuntime();
  const imageName = ImageName.fromString(container.image);
  await images.pull(imageName);
  const name = keptFile(join(container.folder, volumeFile), () => `pragma-${randomUUID()}`);
  await endContainer(name);
  // The guard ends it with this process: testcontainers' reaper would be a container that may command Docker.
  guardUntilReleased({ kind: "container", id: name });
  const end = () => endContainer(name).finally(() => release(name));
  try {
    const created = await client.create({
      name,
      Image: imageName.string,
      Labels: { "pragma.folder": container.folder },
      Entrypoint: [plan.command],
      Cmd: plan.args,
      Env: Object.entries(env).map(([variable, value]) => `${variable}=${value}`),
      StopSignal: plan.stopSignal,
      ExposedPorts: { [`${port}/tcp`]: {} },
      HostConfig: {
        Binds: [`${name}:${container.dataPath}`, `${container.folder}:${container.folder}:ro`],
        PortBindings: { [`${port}/tcp`]: [{ HostIp: "127.0.0.1", HostPort: String(port) }] },
      },
    });
    await client.start(created);
    const logged = pipeline(await client.logs(created), createWriteStream(logFile, { flags: "a", mode: 0o600 }));
    const ended = Promise.all([created.wait(), logged]).then(
      ([{ StatusCode }]) => `exit code ${StatusCode}`,
      (error: Error) => error.message,
    );
    return {
      pid: (await client.inspect(created)).State.Pid,
      ended: ended.finally(end),
      // It may have ended.
      send: (signal) => created.kill({ signal }).catch(ignoreMissing),
    };
  } catch (error) {
    await end();
    throw error;
  }
}
