import { cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A copy of the files of the event streams, with which a test simulates a power cut or a restored backup. */
export interface StreamFilesCopy {
  /**
   * Takes the messages of the streams back to the copy, while NATS is stopped. The sequences of consumers stay as they
   * are, because NATS keeps them in other files.
   */
  restoreMessages(): Promise<void>;
  /** Takes the streams and their consumers back to the copy, while NATS is stopped. */
  restoreAll(): Promise<void>;
}

/** Copies the files of the streams of a namespace from the data folder of a NATS server, which may be running. */
export async function copyStreamFiles(dataFolder: string, namespace: string): Promise<StreamFilesCopy> {
  const streams = join(dataFolder, "data/jetstream/$G/streams");
  const copy = await mkdtemp(join(tmpdir(), "pragma-streams-"));
  const names = (await readdir(streams)).filter((name) => name.startsWith(`${namespace}_`));
  for (const name of names) await cp(join(streams, name), join(copy, name), { recursive: true });

  async function restore(path: string): Promise<void> {
    for (const name of names) {
      await rm(join(streams, name, path), { recursive: true, force: true });
      await cp(join(copy, name, path), join(streams, name, path), { recursive: true });
    }
  }
  return { restoreMessages: () => restore("msgs"), restoreAll: () => restore("") };
}
