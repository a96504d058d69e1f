import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";

const demoAccess = z.object({ locationId: z.guid(), apiKey: z.string().min(1) });

/** The demo location and its key, which the API shows only once. */
export type DemoAccess = z.infer<typeof demoAccess>;

/** What the file remembers; null when there is no such file, or when it is broken. */
export async function readDemoFile(file: string): Promise<DemoAccess | null> {
  try {
    return demoAccess.parse(JSON.parse(await readFile(file, "utf8")));
  } catch (error) {
    if (error instanceof z.ZodError || error instanceof SyntaxError || isMissing(error)) return null;
    throw error;
  }
}

/** Remembers the access in a file that only its owner may read. It appears whole or not at all. */
export async function writeDemoFile(file: string, access: DemoAccess): Promise<void> {
  const unfinished = `${file}.unfinished`;
  await mkdir(dirname(file), { recursive: true });
  try {
    await rm(unfinished, { force: true });
    await writeFile(unfinished, `${JSON.stringify(access, undefined, 2)}\n`, { mode: 0o600 });
    await rename(unfinished, file);
  } finally {
    await rm(unfinished, { force: true });
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
