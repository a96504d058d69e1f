import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";

/** The environment variables of the demo programs. */
export const demoEnvironmentVariablesSchema = z.object({
  /** The base URL of the API. */
  PRAGMA_URL: z.url({ protocol: /^https?$/ }).default("http://127.0.0.1:4000"),
  /** The path of the demo file, which contains the id and the API key of the demo location. */
  PRAGMA_DEMO_FILE: z.string().min(1).default(".pragma/demo.json"),
});

const demoAccessSchema = z.object({
  locationId: z.guid(),
  apiKey: z.string().min(1),
  /** A key that can only read reports and the name of the location. */
  siteApiKey: z.string().min(1),
});

/** The id of the demo location and its API keys, which the API shows only once. */
export type DemoLocationCredentials = z.infer<typeof demoAccessSchema>;

/** Returns the content of the demo file; null if the file does not exist or is invalid. */
export async function readDemoLocationCredentials(file: string): Promise<DemoLocationCredentials | null> {
  try {
    return demoAccessSchema.parse(JSON.parse(await readFile(file, "utf8")));
  } catch (error) {
    if (
      error instanceof z.ZodError ||
      error instanceof SyntaxError ||
      (error as NodeJS.ErrnoException).code === "ENOENT"
    )
      return null;
    throw error;
  }
}

/** Writes the demo file atomically. Only the owner of the file can read it. */
export async function writeDemoLocationCredentials(file: string, access: DemoLocationCredentials): Promise<void> {
  const temporaryFile = `${file}.unfinished`;
  await mkdir(dirname(file), { recursive: true });
  await rm(temporaryFile, { force: true });
  await writeFile(temporaryFile, `${JSON.stringify(access, undefined, 2)}\n`, { mode: 0o600 });
  await rename(temporaryFile, file);
}
